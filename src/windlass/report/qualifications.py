"""Sentences that qualify a verdict: the recorded schedule, the costs of the best, and violated requirements."""

from __future__ import annotations

import math
from collections import Counter

from windlass.report.phrases import difference, in_words, label, listed, with_quoted_names
from windlass.report.units import counted, sentence_unit
from windlass.results.verdict.compare import Comparison
from windlass.results.verdict.judge import BrokenRequirement, Cost, PointVerdict, Verdict

#: Maximum number of costs in the sentence; the table and JSON have all.
_COSTS = 3


def qualifications(verdict: Verdict, point: PointVerdict) -> list[str]:
    """Return the sentences on the costs of the best, and on violated requirements.

    Parameters
    ----------
    verdict
        From :func:`windlass.results.verdict.judge`.
    point
        One of its points.
    """
    point = with_quoted_names(point)
    best = point.comparison.best
    lines = []
    if point.costs and best is not None and point.compared > 1:
        shown = "; ".join(_cost(cost, point) for cost in point.costs[:_COSTS])
        more = len(point.costs) - _COSTS
        rest = f"; and {counted(more, 'other metric')}" if more > 0 else ""
        lines.append(f"Costs of {point.names[best]}: {shown}{rest}.")
    if point.broken:
        lines.append(f"Ruled out: {'; '.join(_ruled_out(each, point.names) for each in point.broken)}.")
    return lines


def closest(point: PointVerdict) -> str:
    """Return the variant that violates the fewest requirements; if several do, the variants that meet each one.

    Parameters
    ----------
    point
        A point at which every variant violates a requirement.
    """
    counts = Counter(each.row for each in point.broken)
    requirements = len({each.requirement for each in point.broken})
    least = [row for row, count in counts.items() if count == min(counts.values())]
    if len(least) == 1:
        return f"; {point.names[least[0]]} violates the fewest, {counts[least[0]]} of {requirements}"
    if requirements > 1:
        texts = dict.fromkeys(each.requirement.text for each in point.broken)
        return f"; {'; '.join(f'{text} is met by {_meeting(point, text)}' for text in texts)}"
    # Under one requirement, the variant with the value closest to the bound is the closest.
    valued = [each for each in point.broken if not math.isnan(each.value - each.bound)]
    if not valued:
        return f", because their {label(point.broken[0].metric)}, or its bound, is unknown"
    near = min(valued, key=lambda each: abs(each.value - each.bound))
    value, bound = in_words(near.metric, near.value, near.bound)
    return (
        f"; {point.names[near.row]} is the closest, with a {label(near.metric)} of {value} (bound: {bound})"
    )


def _meeting(point: PointVerdict, text: str) -> str:
    """Return the variants that meet a requirement."""
    broken = {each.row for each in point.broken if each.requirement.text == text}
    names = [
        point.names[row] for row in range(len(point.names)) if row not in broken and row not in point.unable
    ]
    return listed(names) if names else "none"


def compared_with_recorded(verdict: Verdict, point: PointVerdict) -> tuple[str, ...]:
    """Return the sentence on the recorded schedule; empty without one.

    Parameters
    ----------
    verdict
        From :func:`windlass.results.verdict.judge`.
    point
        One of its points.
    """
    point = with_quoted_names(point)
    comparison, best = point.comparison, point.comparison.best
    lines = []
    for row in sorted(point.baseline):
        if best is not None and comparison.means[row] == comparison.means[row]:  # not NaN
            side = "equally good" if comparison.equals_best(row) else _side(verdict, comparison, row)
            lines.append(f"Compared with the recorded schedule, {point.names[best]} is {side}.")
    return tuple(lines)


def _side(verdict: Verdict, comparison: Comparison, row: int) -> str:
    """Return by how much the best variant is better or worse than the recorded schedule."""
    assert comparison.best is not None  # it is compared with the recorded schedule
    lead = verdict.better * (comparison.means[comparison.best] - comparison.means[row])
    unclear = "which is not statistically significant"
    if not comparison.is_judged(row):
        unclear = "and one run cannot show whether this is statistically significant"
    significance = "" if comparison.direction(row) else f", {unclear}"
    side = "better" if lead > 0 else "worse"
    unit = sentence_unit(verdict.metric, [lead])
    # The part of the recorded value is left out: the value itself is not in the sentence.
    return f"{side} by {difference(abs(lead), 0.0, unit)}{significance}"


def _cost(cost: Cost, point: PointVerdict) -> str:
    comparison, best = cost.comparison, point.comparison.best
    # A cost compares the best variant with another one, so both exist.
    assert best is not None
    assert comparison.best is not None
    own, other = in_words(comparison.metric, comparison.means[best], comparison.means[comparison.best])
    untested = "" if cost.tested else " (in these runs; significance not shown)"
    return f"{label(comparison.metric)} {own}, compared with {other} for {point.names[comparison.best]}{untested}"


def _ruled_out(broken: BrokenRequirement, names: tuple[str, ...]) -> str:
    value, bound = in_words(broken.metric, broken.value, broken.bound)
    text = broken.requirement.text
    return f"{names[broken.row]}, whose {label(broken.metric)} of {value} violates {text} (bound: {bound})"
