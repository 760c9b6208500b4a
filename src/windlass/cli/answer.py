"""The answer that ``windlass run`` begins with: the verdict, and whether the input as it was cut changes it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from windlass.report.fidelity import fidelity_sentence
from windlass.report.sentence import cut_share, input_sentence, of_point, sentences
from windlass.results import Results
from windlass.results.verdict import PointVerdict, Requirement, Verdict, fidelity, judge
from windlass.results.verdict.paired import Interval

#: Above this share of the work, it is tried whether cutting jobs at their request changes the answer.
_MUCH = 0.01


@dataclass(frozen=True, slots=True)
class Asked:
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


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdict, the same without cutting where that was run, the share of the work that is cut, and all in words."""

    verdict: Verdict | None
    uncut: Verdict | None
    cut: float
    said: tuple[str, ...]


def answer_to(
    results: Results,
    by: str | None,
    requirements: tuple[Requirement, ...],
    uncut: Callable[[], Results | None],
) -> Answer:
    """Judge results, and where much of the work was cut, those without cutting.

    Parameters
    ----------
    results
        Of any world.
    by, requirements
        As :func:`windlass.results.verdict.judge` takes them.
    uncut
        Runs the same without cutting; None where it cannot.

    Raises
    ------
    InputError
        A metric is not there.
    """
    verdict = judge(results, by, requirements)
    cut = cut_share(results)
    said = sentences(verdict)
    without = uncut() if said and cut > _MUCH else None
    other = None if without is None else judge(without, by, requirements)
    beside = (input_sentence(cut, verdict, other), fidelity_sentence(fidelity(results)))
    return Answer(verdict, other, cut, (*said, *filter(None, beside)) if said else said)


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


def _interval(found: Interval | None) -> dict[str, Any] | None:
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
