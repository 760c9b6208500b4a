"""What came out of a scenario: metrics and tables per variant and seed, saved as Parquet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit

#: What a folder of results has: ``series`` and ``written`` where there are some.
FILES: Final = frozenset({"jobs.parquet", "metrics.parquet", "series.parquet", "scenario.yaml", "written"})
#: What the row of a log's own waits is called; it takes part in comparisons, and is no policy that could win.
AS_IT_WAS: Final = "as it was"
_BETTER = "better"
#: Metadata of a metric's field, ``mean_wait_s: float = field(metadata=LOWER)``: the lower, or the higher, the better.
#: Tables set the best value in bold; a metric whose field says neither has no best.
LOWER: Final[Mapping[str, int]] = MappingProxyType({_BETTER: -1})
HIGHER: Final[Mapping[str, int]] = MappingProxyType({_BETTER: 1})
_SOMETIMES = "sometimes"
#: Metadata of a metric that does not apply to every run, and is NaN then: tables leave it out where it applies to none.
SOMETIMES: Final[Mapping[str, int]] = MappingProxyType({_SOMETIMES: 1})


def better_of(metric: Field[Any]) -> int:
    """Of a field of metrics: 1 where higher is better, −1 where lower is, and 0 where neither is."""
    return int(metric.metadata.get(_BETTER, 0))


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
        A frozen dataclass of floats, one class a world; the metadata of its fields says which values are
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
    point
        What the scenario sweeps besides policies, such as ``processors=64``. Variants of one point differ in their
        policies alone, so that only they are compared.
    at
        The same, axis by axis.
    own
        Of a log as it was: whether the variants of its point have the site and the arrivals of the log.
    """

    name: str
    choices: tuple[Choice, ...]
    outcomes: tuple[Outcome, ...]
    point: str = ""
    at: tuple[At, ...] = ()
    own: bool = False

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
                bool(field.metadata.get(_SOMETIMES, 0)),
            )
            for field in fields(self.outcomes[0].metrics)
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """A metric over seeds: its mean and the half width of the 95% confidence interval (NaN for one seed).

    ``better`` is 1 where a higher mean is better, −1 where a lower one is, and 0 where neither is. ``sometimes`` says
    that the metric does not apply to every run.
    """

    metric: str
    mean: float
    half_width: float
    better: int = 0
    sometimes: bool = False


def summarise(metric: str, values: Sequence[float], better: int = 0, sometimes: bool = False) -> Summary:
    """Mean and Student's 95% half width.

    >>> summary = summarise("wait", [1.0, 2.0, 3.0])
    >>> summary.mean, round(summary.half_width, 6)
    (2.0, 2.484138)
    """
    count = len(values)
    spread = (
        float(stdtrit(count - 1, 0.975) * np.std(values, ddof=1) / math.sqrt(count))
        if count > 1
        else math.nan
    )
    return Summary(metric, float(np.mean(values)), spread, better, sometimes)


@dataclass(frozen=True, slots=True)
class Results:
    """All that came out of a scenario.

    Parameters
    ----------
    scenario
        The scenario's name.
    as_run
        The scenario with every default filled in, as YAML text.
    variants
        In the order of the scenario.
    """

    scenario: str
    as_run: str
    variants: tuple[VariantResult, ...]

    def notes(self) -> tuple[str, ...]:
        """The distinct notes of all outcomes, in order of first appearance."""
        return tuple(
            dict.fromkeys(
                note for variant in self.variants for outcome in variant.outcomes for note in outcome.notes
            )
        )

    def jobs(self) -> pl.DataFrame:
        """One table of all jobs, with the columns variant and seed ahead."""
        return pl.concat(
            outcome.jobs.select(
                pl.lit(variant.name).alias("variant"), pl.lit(outcome.seed, pl.Int64).alias("seed"), pl.all()
            )
            for variant in self.variants
            for outcome in variant.outcomes
        )

    def metrics(self) -> pl.DataFrame:
        """One row per variant and seed."""
        return pl.DataFrame(
            [
                {"variant": variant.name, "seed": outcome.seed}
                | {field.name: getattr(outcome.metrics, field.name) for field in fields(outcome.metrics)}
                for variant in self.variants
                for outcome in variant.outcomes
            ]
        )

    def series(self) -> pl.DataFrame:
        """One table of all that is over time: variant, seed, series, begin_s, end_s, value."""
        found = [
            pl.DataFrame(
                {
                    "series": [each.name] * len(each.value),
                    "begin_s": each.time[:-1],
                    "end_s": each.time[1:],
                    "value": each.value.astype(np.float64),
                }
            ).select(
                pl.lit(variant.name).alias("variant"), pl.lit(outcome.seed, pl.Int64).alias("seed"), pl.all()
            )
            for variant in self.variants
            for outcome in variant.outcomes
            for each in outcome.series
        ]
        return pl.concat(found) if found else pl.DataFrame()

    def save(self, folder: Path) -> None:
        """Write :data:`FILES` into a folder, which is made; the same results give the same bytes.

        Where outcomes have series, ``series.parquet`` has them. :func:`windlass.saving.claimed` makes sure that a
        folder has all of them, or is as it was.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.jobs().write_parquet(folder / "jobs.parquet")
        self.metrics().write_parquet(folder / "metrics.parquet")
        if len(series := self.series()):
            series.write_parquet(folder / "series.parquet")
        (folder / "scenario.yaml").write_text(self.as_run, encoding="utf-8")
        for number, variant in enumerate(self.variants, start=1):
            for outcome in variant.outcomes:
                for name, content in outcome.written:
                    file = folder / "written" / f"variant-{number}-seed-{outcome.seed}" / name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(content)
