"""The smallest size of a sweep that keeps a metric within today's: "How many nodes do I need?"."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from windlass.results.matching import job_column
from windlass.results.outcome import At, Outcome, VariantResult
from windlass.results.tables import Results
from windlass.results.verdict.measures import Measure, jobs_of, measure_of, statistic
from windlass.results.verdict.paired import ConfidenceInterval
from windlass.results.verdict.repeated import repeat

#: A size keeps today's value of a metric if it is not significantly worse, and at most this share worse in the mean.
#: The second bound matters for short logs, in which even large differences are not significant.
TOLERANCE: Final = 0.05
#: Last parts of the names of fields that count a cluster's size.
SIZES: Final = frozenset({"processors", "nodes", "workers", "cores", "gpus"})


@dataclass(frozen=True, slots=True)
class SizeVerdict:
    """One size of the cluster, compared with today in the jobs that fit it.

    Parameters
    ----------
    size
        The value of the swept field.
    mean
        The metric's mean over the seeds.
    today
        Today's mean over the same jobs.
    difference
        Paired confidence interval of the difference from today, positive if the size is worse; None if it cannot be
        computed, and for the size that today's value comes from.
    keeps
        Whether the size keeps today's value, see :func:`capacity`.
    refused, refused_work
        Jobs that fit the largest size of the sweep but not this one, and their share of the work, 0 to 1.
    over
        The paired observations: ``seeds``, ``blocks``, or ``nothing`` if significance cannot be tested.
    """

    size: float
    mean: float
    today: float
    difference: ConfidenceInterval | None
    keeps: bool
    refused: int = 0
    refused_work: float = 0.0
    over: str = "nothing"


@dataclass(frozen=True, slots=True)
class CapacityAnswer:
    """The sizes of a sweep under one policy, and the smallest that suffices.

    Parameters
    ----------
    axis
        Dotted name of the swept field.
    metric, better
        The metric, and whether higher (1) or lower (−1) values are better.
    policy
        Name of the variant without the point.
    point
        Values on the other axes of the sweep, such as ``load=x1.2``; empty without other axes.
    recorded
        True if today's values are those of the recorded schedule; False if they are those of the largest size.
    tolerance
        The tolerance that was applied.
    sizes
        The sizes in increasing order; at least two.
    """

    axis: str
    metric: str
    better: int
    policy: str
    point: str
    recorded: bool
    tolerance: float
    sizes: tuple[SizeVerdict, ...]

    @property
    def smallest(self) -> SizeVerdict | None:
        """The smallest size such that it and all larger sizes keep today's value; None if the largest does not.

        >>> sizes = tuple(SizeVerdict(size, 0.0, 0.0, None, size != 80) for size in (60, 80, 100))
        >>> answer = CapacityAnswer("cluster.processors", "mean_wait_s", -1, "easy", "", True, TOLERANCE, sizes)
        >>> answer.smallest.size, [each.size for each in answer.exceptions]
        (100, [60])
        """
        found = None
        for each in reversed(self.sizes):
            if not each.keeps:
                break
            found = each
        return found

    @property
    def exceptions(self) -> tuple[SizeVerdict, ...]:
        """Sizes that keep today's value although a larger one does not."""
        least = math.inf if self.smallest is None else self.smallest.size
        return tuple(each for each in self.sizes if each.keeps and each.size < least)


def capacity(
    results: Results, metric: str, better: int, tolerance: float = TOLERANCE
) -> tuple[CapacityAnswer, ...]:
    """Return an answer per combination of other swept values and policy, the policy that needs least first.

    *Today* is the recorded schedule of the log; without one, it is the largest size of the sweep under the same policy.
    A size *keeps* today's value if it is not significantly worse (paired 95 % confidence interval), and if its mean is
    at most ``tolerance`` worse. Both are computed over the jobs that fit the size.

    Parameters
    ----------
    results
        Results of any world.
    metric, better
        A metric that can be computed from a subset of the jobs (:func:`~windlass.results.verdict.measures.measure_of`),
        and its direction.
    tolerance
        Maximum share by which a mean may be worse than today's, at least 0.

    Returns
    -------
    tuple of CapacityAnswer
        Empty if no field of :data:`SIZES` has at least two numeric values, or if sizes have different jobs, as with
        jobs that are generated for each size.
    """
    measure = measure_of(metric)
    axis = _axis(results)
    if measure is None or axis is None or not better:
        return ()
    recorded = {variant.point: variant for variant in results.variants if variant.recorded}
    lines: dict[tuple[str, tuple[At, ...]], list[tuple[float, VariantResult]]] = {}
    for variant in results.variants:
        size = _size(variant, axis)
        if size is not None and not variant.recorded:
            others = tuple(at for at in variant.at if at.axis != axis)
            lines.setdefault((variant.own_name, others), []).append((size, variant))
    found = []
    for (policy, others), line in lines.items():
        line.sort(key=lambda each: each[0])
        today = [recorded.get(variant.point) for _, variant in line]
        sizes = _sizes(line, today, metric, measure, better, tolerance)
        if len(sizes) > 1:
            point = ", ".join(at.label for at in others)
            by_log = all(each is not None for each in today)
            found.append(CapacityAnswer(axis, metric, better, policy, point, by_log, tolerance, sizes))
    points = list(dict.fromkeys(each.point for each in found))
    return tuple(sorted(found, key=lambda each: (points.index(each.point), *_need(each))))


def _need(answer: CapacityAnswer) -> tuple[float, float]:
    """Return a key that sorts the policy that needs the smallest size first; of equals, the one with the best mean."""
    largest, least = answer.sizes[-1], answer.smallest
    # Policies with a today of their own are comparable only at the largest size.
    size = math.inf if least is None else least.size if answer.recorded else 0.0
    at = largest if least is None or not answer.recorded else least
    return size, -answer.better * at.mean


def _axis(results: Results) -> str | None:
    values: dict[str, set[float]] = {}
    for variant in results.variants:
        for at in variant.at:
            if at.name in SIZES and _is_size(at.value):
                values.setdefault(at.axis, set()).add(at.value)
    return next((axis for axis, several in values.items() if len(several) > 1), None)


def _size(variant: VariantResult, axis: str) -> float | None:
    value = next((at.value for at in variant.at if at.axis == axis), None)
    return value if _is_size(value) else None


def _is_size(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sizes(
    line: Sequence[tuple[float, VariantResult]],
    recorded: Sequence[VariantResult | None],
    metric: str,
    measure: Measure,
    better: int,
    tolerance: float,
) -> tuple[SizeVerdict, ...]:
    largest = line[-1][1]
    found = []
    for (size, variant), logged in zip(line, recorded, strict=True):
        # Only the jobs that a smaller site omits may differ from those of the largest one.
        common = _common(largest, variant, metric, measure)
        if common is None:
            return ()
        today = common if logged is None or None in recorded else logged
        refused, work = _refused(largest, variant)
        if variant is largest and today is common:
            mean = _mean(variant, metric)
            found.append(SizeVerdict(size, mean, mean, None, True, refused, work))
            continue
        pair = repeat((variant, today), metric)
        mean, before = (float(each) for each in pair.means)
        evidence = pair.evidence(*((1, 0) if better > 0 else (0, 1)))
        worse = -better * (mean - before)
        keeps = worse <= tolerance * abs(before) and (evidence is None or evidence.direction <= 0)
        difference = None if evidence is None else evidence.interval
        found.append(SizeVerdict(size, mean, before, difference, keeps, refused, work, pair.over))
    return tuple(found)


def _mean(variant: VariantResult, metric: str) -> float:
    return sum(float(getattr(each.metrics, metric)) for each in variant.outcomes) / len(variant.outcomes)


def _jobs(outcome: Outcome) -> pl.DataFrame:
    table = outcome.jobs
    return table.filter(pl.col("kind") == "job") if "kind" in table.columns else table


def _common(
    largest: VariantResult, variant: VariantResult, metric: str, measure: Measure
) -> VariantResult | None:
    """Return the largest size's results in the jobs of a variant; None if the variant has other jobs."""
    if len(largest.outcomes) != len(variant.outcomes):
        return None
    outcomes = []
    for of_largest, own in zip(largest.outcomes, variant.outcomes, strict=True):
        whole, part = _jobs(of_largest), _jobs(own)
        if not {"job", "submit_s"} <= set(whole.columns) & set(part.columns):
            return None
        key = job_column(whole, part)
        kept = whole.join(part.select(key), on=key, how="semi", maintain_order="left")
        if not kept["submit_s"].equals(part["submit_s"]):
            return None
        if len(kept) == len(whole):
            outcomes.append(of_largest)
            continue
        jobs = jobs_of(kept, measure, of_largest.processors)
        if jobs is None:
            return None
        metrics = dataclasses.replace(of_largest.metrics, **{metric: statistic(measure, jobs.value)})
        outcomes.append(dataclasses.replace(of_largest, jobs=kept, metrics=metrics))
    return dataclasses.replace(largest, outcomes=tuple(outcomes))


def _refused(largest: VariantResult, variant: VariantResult) -> tuple[int, float]:
    """Return the number of jobs of the largest size that a variant omits, and their share of the work."""
    whole, part = _jobs(largest.outcomes[0]), _jobs(variant.outcomes[0])
    refused = len(whole) - len(part)
    if not refused or not {"procs", "start_s", "end_s"} <= set(whole.columns):
        return refused, 0.0
    key = job_column(whole, part)
    work = whole.select(key, work=pl.col("procs") * (pl.col("end_s") - pl.col("start_s")))
    lost = float(work.join(part.select(key), on=key, how="anti")["work"].sum())
    total = float(work["work"].sum())
    return refused, lost / total if total > 0 else 0.0
