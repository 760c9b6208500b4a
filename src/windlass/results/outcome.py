"""What one variant of a scenario did: its choices, and what came out of it with each seed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.results.summary import Summary, better_of, is_sometimes, summarise

#: Name of the row of a log's recorded schedule. Rows are identified by :attr:`VariantResult.recorded`, not by name.
AS_IT_WAS: Final = "as it was"


@dataclass(frozen=True, slots=True)
class Choice:
    """The policy that makes one decision, such as ``Choice("order", "easy")``, and the parameters given to it.

    >>> Choice("dispatch", "rosella", "probes=8").label
    'rosella(probes=8)'
    """

    decision: str
    policy: str
    parameters: str = ""

    @property
    def label(self) -> str:
        """How tables and plots call it."""
        return f"{self.policy}({self.parameters})" if self.parameters else self.policy


@dataclass(frozen=True, slots=True)
class At:
    """Where a variant is on an axis of a sweep.

    Parameters
    ----------
    axis
        The scenario's field, by dotted name.
    value
        What it has there: a number, a text or a truth value.

    Examples
    --------
    >>> At("cluster.processors", 64).label
    'processors=64'
    """

    axis: str
    value: Any

    @property
    def name(self) -> str:
        """The field without those that it lies in."""
        return self.axis.rpartition(".")[2]

    @property
    def label(self) -> str:
        """How names of variants have it."""
        return f"{self.name}={self.value}"


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Something over time: a step function that the report plots.

    Parameters
    ----------
    name
        What it is, such as ``accuracy``.
    time
        (m + 1,) s, rising: where each value begins, and where the last one ends.
    value
        (m,) from each time to the next.
    percent
        Whether it is a part of a whole, 0 to 1.
    """

    name: str
    time: NDArray[np.float64]
    value: NDArray[np.float64]
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """One variant run once.

    Parameters
    ----------
    seed
        The seed it ran with.
    metrics
        A frozen dataclass of floats, one class a world; the metadata of its fields defines which values are
        better, :data:`LOWER` or :data:`HIGHER`.
    jobs
        A row per job; which columns is the world's affair. A batch world has job, submit_s, start_s, end_s,
        procs, request_s, why.
    processors
        Processors of the cluster.
    notes
        What the user should know of the input, one line each.
    written
        What the jobs themselves wrote, where they did real work: file names and contents.
    series
        What else is to be seen over time.
    cut_share
        Of the work of the jobs as they were given, 0 to 1: what they did not come to do since they were stopped at
        their requested time.
    """

    seed: int
    metrics: Any
    jobs: pl.DataFrame
    processors: int
    notes: tuple[str, ...] = ()
    written: tuple[tuple[str, bytes], ...] = ()
    series: tuple[Series, ...] = ()
    cut_share: float = 0.0


@dataclass(frozen=True, slots=True)
class VariantResult:
    """All outcomes of one variant, by seed.

    Parameters
    ----------
    name
        Such as ``easy`` or ``easy, processors=64``.
    choices
        Which policy made which decision.
    outcomes
        One per seed.
    Values that the scenario sweeps other than policies, such as ``processors=64``. Variants of one point differ in
        What the scenario sweeps besides policies, such as ``processors=64``. Variants of one point differ in
        their policies alone, so that only they are compared.
    at
        The same, axis by axis.
    own
        Of a recorded schedule: whether the variants of its point have the site and the arrivals of the log.
    recorded
        Whether this is the recorded schedule of a log. It takes part in comparisons, and is no policy that could win.
    """

    name: str
    choices: tuple[Choice, ...]
    outcomes: tuple[Outcome, ...]
    point: str = ""
    at: tuple[At, ...] = ()
    own: bool = False
    recorded: bool = False

    @property
    def own_name(self) -> str:
        """The name without the point: its policies.

        >>> VariantResult("easy, load=0.8", (), (), "load=0.8").own_name
        'easy'
        """
        return self.name.removesuffix(f", {self.point}") if self.point else self.name

    def summaries(self) -> tuple[Summary, ...]:
        """Each metric over the seeds, in the order of the metrics' class."""
        return tuple(
            summarise(
                field.name,
                [getattr(outcome.metrics, field.name) for outcome in self.outcomes],
                better_of(field),
                is_sometimes(field),
            )
            for field in fields(self.outcomes[0].metrics)
        )
