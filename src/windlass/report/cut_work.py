"""The sentence on the work that is cut because jobs are stopped at their requested time."""

from __future__ import annotations

from windlass.report.phrases import label
from windlass.report.sentence import leaders, point_sentence
from windlass.report.units import percentage
from windlass.results import Results
from windlass.results.verdict.judge import PointVerdict, Verdict


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
    '0.4 % of the work is cut because jobs are stopped at their requested time.'
    """
    if cut <= 0:
        return ""
    effect = f"{percentage(cut)} of the work is cut because jobs are stopped at their requested time"
    if verdict is None or uncut is None:
        return f"{effect}."
    first, second = ([point.leading for point in each.points] for each in (verdict, uncut))
    if first == second and not _changed(verdict, uncut):
        return f"{effect}; without cutting, the answer is the same: {_all_leaders(uncut)}."
    changed = not all(one & other for one, other in zip(first, second, strict=True))
    how = "WITHOUT CUTTING, THE ANSWER CHANGES:" if changed else "without cutting, the answer is"
    answers = f"{_all_leaders(uncut)}, not {_all_leaders(verdict)}"
    if _all_leaders(uncut) == _all_leaders(verdict):
        how, answers = "without cutting,", _order(verdict, uncut)
    # The sentence on one point would read as one on all.
    only = f" {point_sentence(uncut, uncut.points[0])}" if len(uncut.points) == 1 else ""
    return f"{effect}; {how} {answers}.{only}"


def change_sentence(verdict: Verdict | None, uncut: Verdict | None) -> str:
    """Return which variants lead without stopping jobs; empty if that changes none of them.

    Parameters
    ----------
    verdict, uncut
        Verdicts with and without stopping jobs at their requested time; None if there is none.

    Examples
    --------
    >>> change_sentence(None, None)
    ''
    """
    if verdict is None or uncut is None:
        return ""
    changed = [each.leading for each in verdict.points] != [each.leading for each in uncut.points]
    if not changed and not _changed(verdict, uncut):
        return ""
    if _all_leaders(uncut) == _all_leaders(verdict):
        lead = _order(verdict, uncut)
    else:
        lead = f"{_all_leaders(uncut)} may lead in {label(verdict.metric)}, not {_all_leaders(verdict)}"
    return f"If jobs are not stopped at their requested time, {lead}."


def _changed(verdict: Verdict, uncut: Verdict) -> bool:
    """Return whether other variants are best, or are named as those that may be."""
    pairs = list(zip(verdict.points, uncut.points, strict=True))
    return any(
        leaders(one) != leaders(other) or not _best_names(one) & _best_names(other) for one, other in pairs
    )


def _order(verdict: Verdict, uncut: Verdict) -> str:
    order = "lowest" if verdict.better < 0 else "highest"
    best, other = (" / ".join(_best(each) for each in found.points) for found in (uncut, verdict))
    return f"{best} has the {order} {label(verdict.metric)}, not {other}"


def _best(point: PointVerdict) -> str:
    best = point.comparison.best
    return "none" if best is None else point.names[best]


def _best_names(point: PointVerdict) -> set[str]:
    """Return the best and the variants with the same mean."""
    return {_best(point), *(point.names[row] for row in point.equal)}


def _all_leaders(verdict: Verdict) -> str:
    return " / ".join(leaders(point) for point in verdict.points)


def cut_share(results: Results) -> float:
    """Return the largest share of the work that was cut in any run."""
    return max(
        (outcome.cut_share for variant in results.variants for outcome in variant.outcomes), default=0.0
    )
