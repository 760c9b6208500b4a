"""The change of a metric from the first to the last point of a sweep over one field, in words."""

from __future__ import annotations

import math

from windlass.report.phrases import label, listed, measured, quoted
from windlass.report.units import PERCENT, Unit, number, percentage, sentence_unit
from windlass.results.verdict.judge import PointVerdict, Verdict

#: Maximum number of variants whose change is reported.
_NAMED = 4


def change_over_sweep(verdict: Verdict) -> str:
    """Return how a metric changes over a sweep, for each variant that may win; empty for a sweep over several fields.

    Parameters
    ----------
    verdict
        From :func:`windlass.results.verdict.judge`.

    Examples
    --------
    >>> from windlass.results.verdict.compare import Comparison
    >>> points = [
    ...     PointVerdict(f"load={load}", ("easy",), Comparison("mean_wait_s", (mean,), 0, (None,), "nothing"))
    ...     for load, mean in ((0.5, 600.0), (0.9, 900.0))
    ... ]
    >>> change_over_sweep(Verdict("mean_wait_s", -1, tuple(points)))
    'From load=0.5 to load=0.9, the mean wait changes from 10 to 15 min under easy (+50 %).'
    """
    if len(verdict.points) < 2 or not _one_field(verdict):
        return ""
    first, last = verdict.points[0], verdict.points[-1]
    pairs = {name: (_mean(first, name), _mean(last, name)) for name in first.names if name in last.names}
    able = {first.names[row] for row in range(len(first.names)) if row not in first.unable}
    known = [
        (name, *means) for name, means in pairs.items() if name in able and all(map(math.isfinite, means))
    ]
    if len(known) > _NAMED:
        leading = first.leading | last.leading
        known = [each for each in known if each[0] in leading][:_NAMED]
    if not known:
        return ""
    changes = [_change(verdict.metric, *each) for each in known]
    return f"From {first.point} to {last.point}, the {label(verdict.metric)} changes {listed(changes)}."


def _one_field(verdict: Verdict) -> bool:
    fields = {point.point.partition("=")[0] for point in verdict.points}
    return len(fields) == 1 and "" not in fields and not any(", " in point.point for point in verdict.points)


def _mean(point: PointVerdict, name: str) -> float:
    return point.comparison.means[point.names.index(name)]


def _change(metric: str, name: str, first: float, last: float) -> str:
    unit = sentence_unit(metric, [first, last])
    values = f"from {number(first * unit.factor)} to {measured(last, unit)}"
    return f"{values} under {quoted(name)}{_part(first, last, unit)}"


def _part(first: float, last: float, unit: Unit) -> str:
    if unit is PERCENT or not first or first == last or abs(last - first) >= 10 * abs(first):
        return ""
    return f" ({'+' if last > first else '−'}{percentage(abs(last - first) / abs(first))})"
