"""Verdicts on candidates: each compared with the best baseline, and with the best form of Pronto."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.admit.evaluation import (
    RULE,
    TUNED,
    VERDICTS,
    CandidateRole,
    Judged,
    SignalDifference,
    against_best,
    against_pronto,
    ahead,
    best_pronto,
)
from windlass.report.phrases import listed, quoted


def signed(recall: SignalDifference) -> str:
    """Return a difference of two recalls with its 95 % interval as text.

    >>> signed(SignalDifference(0.15, (-0.26, 0.57)))
    '+0.15 (-0.26 to +0.57)'
    """
    low, high = recall.interval
    return f"{recall.value:+.2f} ({low:+.2f} to {high:+.2f})"


def best_signals(found: Sequence[Judged]) -> list[str]:
    """Return a sentence for each downtime: the candidates with the highest recall, and the recall by chance.

    Candidates without a downtime of their own, such as Pronto as printed, spend as much as they like and are left out.
    """
    sentences = []
    for downtime in dict.fromkeys(
        each.candidate.downtime for each in found if each.candidate.downtime is not None
    ):
        rivals = [each for each in found if each.candidate.downtime == downtime and each.quality.onsets]
        if not rivals:
            continue
        highest = max(each.quality.recall for each in rivals)
        best = [each for each in rivals if each.quality.recall == highest]
        low, high = best[0].intervals.recall
        sentences.append(
            f"At {downtime:.0%} downtime, {listed([quoted(each.candidate.label) for each in best])}"
            f" {'has' if len(best) == 1 else 'have'} the highest recall: {highest:.2f} ({low:.2f} to {high:.2f}),"
            f" compared with {best[0].quality.by_chance:.2f} by chance."
        )
    return sentences


def verdicts_of(found: Sequence[Judged]) -> list[str]:
    """Return a line for each comparison of recall, and the rule for its verdict.

    Each form of Windlass's policy is compared with the best baseline and with the best form of Pronto. The best form
    of Pronto at each downtime, and the one chosen on earlier telemetry, are compared with the best baseline.
    """
    lines = []
    for each in found:
        own = each.candidate
        if own.role is CandidateRole.OWN:
            lines += _line(each, "the best baseline", against_best(each, found))
            lines += _line(each, "the best Pronto", against_pronto(each, found))
        elif own.label == TUNED or each is best_pronto(found, own.downtime):
            lines += _line(each, "the best baseline", against_best(each, found))
    return [*lines, RULE] if lines else []


def _line(each: Judged, kind: str, against: tuple[Judged, SignalDifference] | None) -> list[str]:
    """Return the line of one comparison; none if there is no candidate to compare with."""
    if against is None:
        return []
    best, recall = against
    verdict = VERDICTS[ahead(recall, each.quality.onsets)]
    return [
        f"{each.candidate.label} at {each.candidate.downtime:.0%}: {signed(recall)} of onsets compared with "
        f"{best.candidate.label}, {kind}: {verdict}"
    ]


def fields_of(judged: Judged, found: Sequence[Judged]) -> dict[str, object]:
    """Return the comparisons of a candidate for JSON: with the best baseline, and, unless it is a form of Pronto, with
    the best form of Pronto.
    """
    kinds = [("best_baseline", "over_best", "ahead_of_best", against_best(judged, found))]
    if judged.candidate.role is not CandidateRole.PRONTO:
        kinds.append(("best_pronto", "over_pronto", "ahead_of_pronto", against_pronto(judged, found)))
    row: dict[str, object] = {}
    for name, over, verdict, against in kinds:
        if against is not None:
            best, recall = against
            row |= {name: best.candidate.label, over: recall.value, f"{over}_95": recall.interval}
            row[verdict] = ahead(recall, judged.quality.onsets)
    return row
