"""A variant of a scenario: its policies, and its outcome with each seed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.model.calendar import Calendar
from windlass.results.site_map import SiteMap
from windlass.results.summary import Summary, better_of, is_sometimes, summarise, trade_of

#: Name of the row of a log's recorded schedule. Rows are identified by :attr:`VariantResult.recorded`, not by name.
RECORDED: Final = "recorded"


@dataclass(frozen=True, slots=True)
class Choice:
    """The policy that makes one decision, such as ``Choice("order", "easy")``, and the parameters given to it.

    ``stands_in``: whether the variant leaves the decision out, and this policy stands in for it. ``bound``: whether the
    policy knows what none can know in reality, such as the future.

    >>> Choice("dispatch", "rosella", "probes=8").label
    'rosella(probes=8)'
    """

    decision: str
    policy: str
    parameters: str = ""
    stands_in: bool = False
    bound: bool = False

    @property
    def label(self) -> str:
        """The name in tables and plots."""
        return f"{self.policy}({self.parameters})" if self.parameters else self.policy


@dataclass(frozen=True, slots=True)
class At:
    """A variant's value on one axis of a sweep.

    Parameters
    ----------
    axis
        Dotted name of the swept field of the scenario.
    value
        The variant's value of the field: a number, a string or a boolean.

    Examples
    --------
    >>> At("cluster.processors", 64).label
    'processors=64'
    """

    axis: str
    value: Any

    @property
    def name(self) -> str:
        """The last part of the dotted name."""
        return self.axis.rpartition(".")[2]

    @property
    def label(self) -> str:
        """The label in names of variants."""
        return f"{self.name}={self.value}"


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A time series as a step function, which the report plots.

    Parameters
    ----------
    name
        Name of the quantity, such as ``accuracy``.
    time
        (m + 1,) increasing times, s: the start of each value, and the end of the last one.
    value
        (m,) values; each holds from its time to the next.
    percent
        True if values are shares, 0 to 1, which the report shows in percent.
    site
        The site whose cores the series counts; empty for other quantities. The report stacks the loads of a site.
    load
        The load that uses these cores; empty for the cores that there are.
    """

    name: str
    time: NDArray[np.float64]
    value: NDArray[np.float64]
    percent: bool = False
    site: str = ""
    load: str = ""


#: The site of series that count instances in place of cores.
INSTANCES = "instances"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one variant with one seed.

    Parameters
    ----------
    seed
        The seed of the run.
    metrics
        A frozen dataclass of floats, one class per world. The metadata of a field defines whether lower or higher
        values are better, :data:`LOWER` or :data:`HIGHER`.
    jobs
        One row per job; the world defines the columns. The batch world has job, submit_s, start_s, end_s, procs,
        request_s, why.
    processors
        Processors of the cluster.
    notes
        Remarks on the input for the user, one line each.
    written
        Names and contents of the files that the jobs wrote, if they did real work.
    series
        Further quantities over time.
    cut_share
        Share of the input jobs' work that did not run because jobs were stopped at their requested time, 0 to 1.
    site_map
        Sites and what moved between them, which the report draws; None if the world has no sites.
    calendar
        The date of time 0 and the zone of the log that was replayed; None if they are unknown.
    """

    seed: int
    metrics: Any
    jobs: pl.DataFrame
    processors: int
    notes: tuple[str, ...] = ()
    written: tuple[tuple[str, bytes], ...] = ()
    series: tuple[Series, ...] = ()
    cut_share: float = 0.0
    site_map: SiteMap | None = None
    calendar: Calendar | None = None


@dataclass(frozen=True, slots=True)
class VariantResult:
    """All outcomes of one variant, by seed.

    Parameters
    ----------
    name
        Name of the variant, such as ``easy`` or ``easy, processors=64``.
    choices
        The policy of each decision.
    outcomes
        One per seed.
    point
        Swept values other than policies, such as ``processors=64``. Variants of one point differ only in their
        policies; only they are compared with each other.
    at
        The same values, one entry per axis.
    own
        For a recorded schedule: True if the variants of its point have the site and the arrivals of the log.
    recorded
        True for the recorded schedule of a log. It is compared with the variants, but cannot win.
    bound
        True if a policy knows what none can know in reality, such as the future. It is compared with the others, but
        cannot win.
    """

    name: str
    choices: tuple[Choice, ...]
    outcomes: tuple[Outcome, ...]
    point: str = ""
    at: tuple[At, ...] = ()
    own: bool = False
    recorded: bool = False
    bound: bool = False

    @property
    def own_name(self) -> str:
        """The name without the point, which leaves the policies.

        >>> VariantResult("easy, load=0.8", (), (), "load=0.8").own_name
        'easy'
        """
        return self.name.removesuffix(f", {self.point}") if self.point else self.name

    def summaries(self) -> tuple[Summary, ...]:
        """Return the summary of each metric over the seeds, in the order of the metrics' class."""
        return tuple(
            summarise(
                field.name,
                [getattr(outcome.metrics, field.name) for outcome in self.outcomes],
                better_of(field),
                is_sometimes(field),
                trade_of(field),
            )
            for field in fields(self.outcomes[0].metrics)
        )
