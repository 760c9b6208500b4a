"""The change of a metric from the first to the last point of a sweep over one field."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from windlass.results.matching import match_outcomes
from windlass.results.outcome import VariantResult
from windlass.results.tables import Results
from windlass.results.verdict.compare import Comparison, compare
from windlass.results.verdict.judge import Verdict

#: Maximum number of variants whose change is computed: those that lead at the first or the last point.
_MOST = 4


@dataclass(frozen=True, slots=True)
class SweepChange:
    """The change of one variant.

    Parameters
    ----------
    name
        The variant, without the point.
    first, last
        Means at the first and the last point.
    significant
        Whether the change is statistically significant; None if it cannot be tested.
    """

    name: str
    first: float
    last: float
    significant: bool | None


@dataclass(frozen=True, slots=True)
class SweepChanges:
    """The changes of all variants that may win, in one metric.

    Parameters
    ----------
    metric
        The metric.
    first, last
        The two points, such as ``load=0.5`` and ``load=0.9``.
    changes
        One for each variant.
    """

    metric: str
    first: str
    last: str
    changes: tuple[SweepChange, ...]


def sweep_changes(results: Results, verdict: Verdict | None) -> SweepChanges | None:
    """Return how a metric changes over a sweep.

    The same jobs are compared, matched by identifier; if the points have other jobs, the seeds are.

    Parameters
    ----------
    results
        Results of a sweep.
    verdict
        Their verdict.

    Returns
    -------
    SweepChanges or None
        None if no field or several fields are swept, or if no variant has a value at both points.
    """
    if verdict is None or len(verdict.points) < 2:
        return None
    fields = {tuple(at.axis for at in variant.at) for variant in results.variants}
    if len(fields) != 1 or len(next(iter(fields))) != 1:
        return None
    first, last = verdict.points[0], verdict.points[-1]
    ends = [
        {each.own_name: each for each in results.variants if each.point == end.point and not each.recorded}
        for end in (first, last)
    ]
    names = [name for name, each in ends[0].items() if name in ends[1] and not each.bound]
    if len(names) > _MOST:
        leading = first.leading | last.leading
        best = {
            point.names[point.comparison.best] for point in (first, last) if point.comparison.best is not None
        }
        # The best at an end comes first, then others that lead there.
        names = sorted((name for name in names if name in leading), key=lambda name: name not in best)[:_MOST]
    found = [_change(name, ends[0][name], ends[1][name], verdict) for name in names]
    known = tuple(each for each in found if math.isfinite(each.first) and math.isfinite(each.last))
    return SweepChanges(verdict.metric, first.point, last.point, known) if known else None


def _change(name: str, first: VariantResult, last: VariantResult, verdict: Verdict) -> SweepChange:
    means = [
        next(each.mean for each in variant.summaries() if each.metric == verdict.metric)
        for variant in (first, last)
    ]
    comparison = _compared(first, last, verdict)
    significant = None
    if comparison is not None and comparison.best is not None:
        row = 1 - comparison.best
        if comparison.is_judged(row):
            significant = comparison.is_worse(row)
    return SweepChange(name, means[0], means[1], significant)


def _compared(first: VariantResult, last: VariantResult, verdict: Verdict) -> Comparison | None:
    """Compare two points in their common jobs; None if neither their jobs nor their seeds can be paired."""
    pairs = list(zip(first.outcomes, last.outcomes, strict=True))
    matched = [match_outcomes(*each) for each in pairs]
    found = [each for each in matched if each is not None and not each.only_first and not each.only_second]
    rows = first, last
    if len(found) == len(pairs):
        rows = (
            replace(first, outcomes=tuple(each.first for each in found)),
            replace(last, outcomes=tuple(each.second for each in found)),
        )
    elif len(pairs) < 2:
        return None
    return compare(rows, verdict.metric, verdict.better)
