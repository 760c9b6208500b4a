"""The verdict in words: one sentence with the answer, and sentences that qualify it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from windlass.report.units import counted, number, time_unit, unit_for, without_unit
from windlass.results import Results
from windlass.results.verdict.compare import Comparison
from windlass.results.verdict.judge import BrokenRequirement, Cost, PointVerdict, Verdict
from windlass.results.verdict.measures import NARROW, WIDE
from windlass.results.verdict.paired import ConfidenceInterval

#: Maximum number of costs in the sentence; the table and JSON have all.
_COSTS = 3
#: Maximum number of equivalent variants that are named; above it, only their count is given.
_NAMED = 4


def sentences(verdict: Verdict | None) -> tuple[str, ...]:
    """Return the answer, then the sentences that qualify it; empty if there is nothing to compare.

    Parameters
    ----------
    verdict
        From :func:`windlass.results.verdict.judge`.

    Returns
    -------
    tuple of str
        The first is the answer: for one point, the winner; for a sweep, the number of points at which each variant is
        best, followed by the sentences of each point.

    Examples
    --------
    >>> from windlass.results import VariantResult
    >>> from windlass.results.verdict.judge import PointVerdict
    >>> found = ConfidenceInterval(300.0, 120.0, 480.0, 20)
    >>> comparison = Comparison("mean_wait_s", (900.0, 600.0), 1, (found, None), "blocks")
    >>> sentences(Verdict("mean_wait_s", -1, (PointVerdict("", ("a", "b"), comparison),)))[0]
    'b has the lowest mean wait: 10 min, 5.000 min (33 %) less than a; 95 % confidence interval 2.000 to 8.000 min, \
n = 20 blocks.'
    """
    if verdict is None or all(len(point.names) < 2 for point in verdict.points):
        return ()
    answers = [point_sentence(verdict, point) for point in verdict.points]
    if len(answers) == 1:
        return (answers[0], *_qualifications(verdict, verdict.points[0]))
    by_point = [
        line if not point.point else f"{point.point}: {line}"
        for point, answer in zip(verdict.points, answers, strict=True)
        for line in (answer, *_qualifications(verdict, point))
    ]
    return (_over_points(verdict), *by_point)


def _over_points(verdict: Verdict) -> str:
    """Return the number of points of a sweep at which each variant is best, with ties."""
    won = Counter(_leading(point) for point in verdict.points)
    names = {_leading(point): _leaders(point) for point in reversed(verdict.points)}
    parts = ", ".join(f"{names[leading]} at {count}" for leading, count in won.most_common())
    ties = "" if all(verdict.winners()) else " (where several are named, none is significantly better)"
    which = f"{_most(verdict.better)} {label(verdict.metric)}"
    return f"{which[0].upper()}{which[1:]} at {counted(len(verdict.points), 'point')}: {parts}{ties}."


def point_sentence(verdict: Verdict, point: PointVerdict) -> str:
    """Return the answer at one point, such as ``easy has the lowest mean wait: …``."""
    point = _quoted(point)
    comparison, names, metric = point.comparison, point.names, label(verdict.metric)
    best = comparison.best
    if best is None:
        return (
            "No variant meets all requirements." if point.broken else f"No variant has a {metric} to compare."
        )
    ahead = f"{names[best]} has the {_most(verdict.better)} {metric}"
    if point.compared < 2:
        return f"{names[best]}: {metric} {in_words(verdict.metric, comparison.means[best])}."
    rivals = [
        row
        for row, mean in enumerate(comparison.means)
        if row != best and row not in point.out and mean == mean and row not in point.recorded
    ]
    if not rivals:
        value = in_words(verdict.metric, comparison.means[best])
        others = "that meet all requirements" if point.broken else "that have one"
        return f"{ahead} of the variants {others}: {value}."
    equal = [row for row in rivals if comparison.means[row] == comparison.means[best]]
    first, *same = sorted([best, *equal])
    several = listed([names[first], *(names[row] for row in same)])
    alike = several if len(same) <= _NAMED else f"{names[first]} and {len(same)} others"
    if len(equal) == len(rivals):
        return f"{alike} have the same {metric}: {in_words(verdict.metric, comparison.means[best])}."
    if equal:
        ahead = f"{alike} have the {_most(verdict.better)} {metric}"
    apart = [row for row in rivals if row not in equal]
    runner = max(apart, key=lambda row: verdict.better * comparison.means[row])
    tied = [row for row in point.tied if row not in equal]
    if not tied:
        return f"{ahead}: {_led(verdict, comparison, best, runner, names)}."
    if any(comparison.against[row] is None for row in tied):
        gap = _gap(verdict, comparison, best, runner, names)
        return f"{ahead}: {gap}; one run cannot show whether the difference is statistically significant."
    return _tie(verdict, point, best, tied, equal)


def _tie(verdict: Verdict, point: PointVerdict, best: int, tied: list[int], equal: list[int]) -> str:
    """Compare the best with the closest variant that is not significantly worse, then name the other variants."""
    comparison, names = point.comparison, point.names
    close = max(tied, key=lambda row: verdict.better * comparison.means[row])
    first, second = sorted([best, close])
    found = comparison.against[close]
    assert found is not None  # unknown intervals were handled by the caller
    values = [in_words(verdict.metric, comparison.means[row]) for row in (first, second)]
    shown = f"both {values[0]}" if values[0] == values[1] else listed(values)
    parts = [
        f"{names[first]} and {names[second]} do not differ significantly in {label(verdict.metric)}: {shown}",
        f"95 % confidence interval of the difference {_interval(verdict.metric, found)}, {_pairs(found, comparison)}",
    ]
    if equal:
        which = listed([names[row] for row in equal]) if len(equal) <= _NAMED else f"{len(equal)} others"
        parts.append(f"{which} {'equals' if len(equal) == 1 else 'equal'} {names[best]}")
    others = [
        f"{names[row]} ({in_words(verdict.metric, comparison.means[row])})" for row in tied if row != close
    ]
    if others:
        which = listed(others) if len(others) <= _NAMED else f"{len(others)} others"
        parts.append(
            f"nor {'does' if len(others) == 1 else 'do'} {which} differ significantly from {names[best]}"
        )
    worse = [
        name
        for row, name in enumerate(names)
        if comparison.is_worse(row) and row not in point.out and row not in point.recorded
    ]
    if worse:
        which = listed(worse) if len(worse) <= _NAMED else f"the other {len(worse)}"
        parts.append(f"{which} {'is' if len(worse) == 1 else 'are'} significantly worse than {names[best]}")
    return f"{'; '.join(parts)}."


def _led(verdict: Verdict, comparison: Comparison, best: int, runner: int, names: tuple[str, ...]) -> str:
    found = comparison.against[runner]
    assert found is not None  # it differs significantly from the best
    gap = _gap(verdict, comparison, best, runner, names)
    return f"{gap}; 95 % confidence interval {_interval(verdict.metric, found)}, {_pairs(found, comparison)}"


def _gap(verdict: Verdict, comparison: Comparison, best: int, other: int, names: tuple[str, ...]) -> str:
    value, reference = comparison.means[best], comparison.means[other]
    gap = abs(reference - value)
    part = f" ({100 * gap / abs(reference):.2g} %)" if reference and gap < 10 * abs(reference) else ""
    more = "more" if verdict.better > 0 else "less"
    return (
        f"{in_words(verdict.metric, value)}, {in_words(verdict.metric, gap)}{part} {more} than {names[other]}"
    )


def _qualifications(verdict: Verdict, point: PointVerdict) -> list[str]:
    """Return the sentences on the recorded schedule, the costs of the best, and violated requirements."""
    point = _quoted(point)
    lines = []
    for row in sorted(point.recorded):
        found = point.comparison.against[row]
        if found is not None and point.comparison.best is not None:
            lines.append(
                f"Compared with the recorded schedule, {point.names[point.comparison.best]} is "
                f"{_side(found, verdict.metric)}."
            )
    if point.costs and point.comparison.best is not None and point.compared > 1:
        shown = "; ".join(_cost(cost, point) for cost in point.costs[:_COSTS])
        more = len(point.costs) - _COSTS
        rest = f"; and {counted(more, 'other metric')}" if more > 0 else ""
        lines.append(f"Costs of {point.names[point.comparison.best]}: {shown}{rest}.")
    if point.broken:
        lines.append(f"Ruled out: {'; '.join(_ruled_out(each, point.names) for each in point.broken)}.")
    return lines


def _side(difference: ConfidenceInterval, metric: str) -> str:
    """Return by how much the best variant is better or worse than the recorded schedule."""
    if difference.mean == 0.0:
        return "equally good"
    side = "better" if difference.mean > 0.0 else "worse"
    significance = "" if difference.excludes_zero else ", which is not statistically significant"
    return f"{side} by {in_words(metric, abs(difference.mean))}{significance}"


def _cost(cost: Cost, point: PointVerdict) -> str:
    comparison, best = cost.comparison, point.comparison.best
    # A cost compares the best variant with another one, so both exist.
    assert best is not None
    assert comparison.best is not None
    own = in_words(comparison.metric, comparison.means[best])
    other = in_words(comparison.metric, comparison.means[comparison.best])
    untested = "" if cost.tested else " (in these runs; significance not shown)"
    return f"{label(comparison.metric)} {own}, compared with {other} for {point.names[comparison.best]}{untested}"


def _ruled_out(broken: BrokenRequirement, names: tuple[str, ...]) -> str:
    value, bound = in_words(broken.metric, broken.value), in_words(broken.metric, broken.bound)
    text = broken.requirement.text
    return f"{names[broken.row]}, whose {label(broken.metric)} of {value} violates {text} (bound: {bound})"


def label(metric: str) -> str:
    """Return the name of a metric in words.

    >>> label("mean_bounded_slowdown"), label("max_wait_s"), label("users_jain")
    ('mean bounded slowdown', 'longest wait', "Jain's index over users")
    """
    if metric in (NARROW, WIDE):
        return f"mean wait of {'wide' if metric == WIDE else 'narrow'} jobs"
    if metric == "max_wait_s":
        return "longest wait"
    if metric.endswith("_jain"):
        return f"Jain's index over {metric.removesuffix('_jain')}"
    if metric == "starved":
        return "number of starved jobs"
    return without_unit(metric)


def quoted(name: str) -> str:
    """Put a name that contains a comma in quotes, so that lists of names are unambiguous."""
    return f"'{name}'" if "," in name else name


def _quoted(point: PointVerdict) -> PointVerdict:
    return replace(point, names=tuple(map(quoted, point.names)))


def _most(better: int) -> str:
    return "highest" if better > 0 else "lowest"


def in_words(metric: str, value: float) -> str:
    """Return a metric's value with its unit.

    >>> in_words("mean_wait_s", 90.0)
    '1.500 min'
    """
    unit = time_unit([value]) if metric.endswith("_s") else unit_for(metric, [value])
    return f"{number(value * unit.factor)} {unit.symbol}".strip()


def _interval(metric: str, found: ConfidenceInterval) -> str:
    larger = max(abs(found.low), abs(found.high))
    unit = time_unit([larger]) if metric.endswith("_s") else unit_for(metric, [larger])
    low, high = (number(bound * unit.factor) for bound in (found.low, found.high))
    return f"{low} to {high} {unit.symbol}".strip()


def _pairs(found: ConfidenceInterval, comparison: Comparison) -> str:
    if comparison.over == "seeds":
        return f"n = {counted(found.count, 'seed')}"
    correlated = (
        " (neighbouring blocks are correlated: the true interval may be wider)" if found.correlated else ""
    )
    return f"n = {found.count} blocks{correlated}"


def listed(names: list[str]) -> str:
    """Return names joined by commas and ``and``.

    >>> listed(["fcfs", "sjf", "easy"])
    'fcfs, sjf and easy'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def input_sentence(cut: float, verdict: Verdict | None, uncut: Verdict | None) -> str:
    """Return the effect of stopping jobs at their requested time; empty if no work is cut.

    Parameters
    ----------
    cut
        Share of the work that does not run because jobs are stopped, 0 to 1.
    verdict, uncut
        Verdicts with and without stopping jobs; None if the run without it was omitted.

    Examples
    --------
    >>> input_sentence(0.004, None, None)
    '0.40 % of the work is cut because jobs are stopped at their requested time.'
    """
    if cut <= 0:
        return ""
    percent = f"{100 * cut:.2g} %" if cut >= 0.01 else f"{100 * cut:.2f} %"
    effect = f"{percent} of the work is cut because jobs are stopped at their requested time"
    if verdict is None or uncut is None:
        return f"{effect}."
    first, second = ([_leading(point) for point in each.points] for each in (verdict, uncut))
    if first == second:
        return f"{effect}; without cutting, the answer is the same: {_all_leaders(uncut)}."
    changed = not all(one & other for one, other in zip(first, second, strict=True))
    how = "WITHOUT CUTTING, THE ANSWER CHANGES:" if changed else "without cutting, the answer is"
    answers = f"{_all_leaders(uncut)}, not {_all_leaders(verdict)}"
    return f"{effect}; {how} {answers}. {point_sentence(uncut, uncut.points[0])}"


def _all_leaders(verdict: Verdict) -> str:
    return " / ".join(_leaders(point) for point in verdict.points)


def _leading(point: PointVerdict) -> frozenset[str]:
    """Return the best and the variants that do not differ significantly from it."""
    best = point.comparison.best
    return frozenset() if best is None else frozenset(point.names[row] for row in (best, *point.tied))


def _leaders(point: PointVerdict) -> str:
    leading, best = _leading(point), point.comparison.best
    if best is not None and len(leading) > _NAMED:
        return f"{point.names[best]} or one of {len(leading) - 1} others"
    return " or ".join(name for name in point.names if name in leading) or "none"


def cut_share(results: Results) -> float:
    """Return the largest share of the work that was cut in any run."""
    return max(
        (outcome.cut_share for variant in results.variants for outcome in variant.outcomes), default=0.0
    )
