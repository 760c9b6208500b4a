"""Who is ahead of whom: beside the best baseline, and beside Pronto."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.admit.evaluation import (
    RULE,
    SAID,
    TUNED,
    CandidateRole,
    Judged,
    SignalDifference,
    against_best,
    against_pronto,
    ahead,
    best_pronto,
)


def signed(beside: SignalDifference) -> str:
    """A difference of two recalls with its interval.

    >>> signed(SignalDifference(0.15, (-0.26, 0.57)))
    '+0.15 (-0.26 to +0.57)'
    """
    low, high = beside.interval
    return f"{beside.value:+.2f} ({low:+.2f} to {high:+.2f})"


def verdicts_of(found: Sequence[Judged]) -> list[str]:
    """Lines that say whether ours foresees more than the best baseline and than Pronto, and whether Pronto does.

    Of Pronto, it is the best form at each downtime, and the one that was chosen on what came before.
    """
    lines = []
    for each in found:
        own = each.candidate
        if own.role is CandidateRole.OWN:
            lines += _said(each, "the best baseline", against_best(each, found))
            lines += _said(each, "the best Pronto", against_pronto(each, found))
        elif own.label == TUNED or each is best_pronto(found, own.downtime):
            lines += _said(each, "the best baseline", against_best(each, found))
    return [*lines, RULE] if lines else []


def _said(each: Judged, kind: str, against: tuple[Judged, SignalDifference] | None) -> list[str]:
    if against is None:
        return []
    best, beside = against
    verdict = SAID[ahead(beside, each.quality.onsets)]
    return [
        f"{each.candidate.label} at {each.candidate.downtime:.0%}: {signed(beside)} of onsets beside "
        f"{best.candidate.label}, {kind}: {verdict}"
    ]


def fields_of(judged: Judged, found: Sequence[Judged]) -> dict[str, object]:
    """The same of one candidate for JSON: of all but Pronto's forms, also beside the best of those."""
    kinds = [("best_baseline", "over_best", "ahead_of_best", against_best(judged, found))]
    if judged.candidate.role is not CandidateRole.PRONTO:
        kinds.append(("best_pronto", "over_pronto", "ahead_of_pronto", against_pronto(judged, found)))
    row: dict[str, object] = {}
    for name, over, verdict, against in kinds:
        if against is not None:
            best, beside = against
            row |= {name: best.candidate.label, over: beside.value, f"{over}_95": beside.interval}
            row[verdict] = ahead(beside, judged.quality.onsets)
    return row
