"""The verdict over several metrics: those that each load of a world is judged by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

from windlass.results import Results, is_headline
from windlass.results.verdict.judge import PointVerdict, Verdict, judge
from windlass.results.verdict.require import Requirement

#: Relative difference from the best mean from which on a difference that is not significant is stated.
_LARGE = 0.25


@dataclass(frozen=True, slots=True)
class VariantStanding:
    """One variant in all headline metrics of one point of a sweep.

    Parameters
    ----------
    name
        The variant, without the point.
    leads
        Metrics in which it is the best, or in which a test finds it not significantly worse than the best.
    behind
        Metrics in which it is significantly worse.
    unsure
        Metrics of ``leads`` in which its mean is more than a quarter worse than the best.
    """

    name: str
    leads: tuple[str, ...]
    behind: tuple[str, ...]
    unsure: tuple[str, ...] = ()


def headlines(results: Results, requirements: Sequence[Requirement] = ()) -> tuple[Verdict, ...]:
    """Return a verdict for each headline metric that applies; empty if the world has fewer than two of them.

    Parameters
    ----------
    results
        Results of any world.
    requirements
        A variant that violates one cannot win.
    """
    if len(results.variants) < 2:
        return ()
    summaries = [summary for variant in results.variants for summary in variant.summaries()]
    known = {summary.metric for summary in summaries if not math.isnan(summary.mean)}
    metrics = fields(results.variants[0].outcomes[0].metrics)
    names = [each.name for each in metrics if is_headline(each) and each.name in known]
    if len(names) < 2:
        return ()
    found = [judge(results, name, requirements) for name in names]
    return tuple(each for each in found if each is not None)


def standings(found: Sequence[Verdict], point: int = 0) -> tuple[VariantStanding, ...]:
    """Return the standing of each variant that may win at one point, the one that leads most often first.

    A metric without a value for a variant, or in which one run does not suffice for a test, counts neither way.

    Parameters
    ----------
    found
        From :func:`headlines`.
    point
        Number of the point.
    """
    first = found[0].points[point]
    rows = [row for row in range(len(first.names)) if row not in first.out | first.unable]
    made = []
    for row in rows:
        leads, behind, unsure = [], [], []
        for verdict in found:
            at = verdict.points[point]
            if row in _leading(at):
                leads.append(verdict.metric)
                if _is_large(at, row):
                    unsure.append(verdict.metric)
            elif at.comparison.is_worse(row):
                behind.append(verdict.metric)
        made.append(VariantStanding(first.names[row], tuple(leads), tuple(behind), tuple(unsure)))
    return tuple(sorted(made, key=lambda each: (-len(each.leads), len(each.behind), len(each.unsure))))


def _is_large(point: PointVerdict, row: int) -> bool:
    """Return whether the mean of a variant differs from the best one by more than a quarter of it."""
    found = point.comparison
    if found.best is None or row == found.best:
        return False
    best = found.means[found.best]
    return abs(found.means[row] - best) > _LARGE * abs(best)


def _leading(point: PointVerdict) -> frozenset[int]:
    """Return the best, variants with the same mean, and those that a test finds not significantly worse."""
    found, best = point.comparison, point.comparison.best
    if best is None:
        return frozenset()
    tied = [row for row in point.tied if found.is_judged(row) or found.equals_best(row)]
    return frozenset((best, *tied))
