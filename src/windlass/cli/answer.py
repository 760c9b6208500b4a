"""What the options of ``windlass run`` ask of the answer, and the answer as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from windlass.experiment.answer import Answer
from windlass.report.sentence import of_point
from windlass.results.verdict import PointVerdict, Verdict
from windlass.results.verdict.paired import ConfidenceInterval


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """What the options of ``windlass run`` say of the answer and of how the metrics are printed.

    Parameters
    ----------
    by
        Which metric matters; None for the world's first.
    require
        What cannot be given up, as :func:`windlass.results.verdict.parse_requirements` reads it.
    check
        Whether to run without cutting, too, where much is cut.
    csv, wide
        Print metrics as CSV, or in one table whatever the width.
    """

    by: str | None = None
    require: str | None = None
    check: bool = True
    csv: bool = False
    wide: bool = False


def verdict_tree(answer: Answer) -> dict[str, Any] | None:
    """The verdict as plain values for JSON: the sentences, and a list of points with winner, intervals and costs."""
    if answer.verdict is None:
        return None
    verdict = answer.verdict
    return {
        "sentence": answer.said[0] if answer.said else None,
        "more": list(answer.said[1:]),
        "by": verdict.metric,
        "better": "higher" if verdict.better > 0 else "lower",
        "points": [_point(verdict, point) for point in verdict.points],
        "cut_share": answer.cut,
        "without_cutting": (
            None if answer.uncut is None else [_point(answer.uncut, point) for point in answer.uncut.points]
        ),
    }


def _point(verdict: Verdict, point: PointVerdict) -> dict[str, Any]:
    found = point.comparison
    return {
        "point": point.point,
        "sentence": of_point(verdict, point),
        "winner": None if point.winner is None else point.names[point.winner],
        "best": None if found.best is None else point.names[found.best],
        "not_told_from_best": [point.names[row] for row in point.tied],
        "paired_over": found.over,
        "worse_than_best_by": [
            {"variant": name, "mean": _number(mean), "interval": _interval(interval)}
            for name, mean, interval in zip(point.names, found.means, found.against, strict=True)
        ],
        "costs": [
            {
                "metric": cost.comparison.metric,
                "best": None if cost.comparison.best is None else point.names[cost.comparison.best],
                "means": [_number(mean) for mean in cost.comparison.means],
                "beyond_chance": cost.tested,
            }
            for cost in point.costs
        ],
        "ruled_out": [
            {
                "variant": point.names[each.row],
                "requirement": each.requirement.text,
                "value": _number(each.value),
                "bound": _number(each.bound),
            }
            for each in point.broken
        ],
    }


def _interval(found: ConfidenceInterval | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
        "pairs": found.count,
        "neighbours_alike": found.alike,
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
