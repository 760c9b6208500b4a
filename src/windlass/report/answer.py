"""The answer in words: over all headline metrics, or about one metric."""

from __future__ import annotations

from windlass.report.headlines import headline_sentences
from windlass.report.sentence import point_sentence, sentences
from windlass.results.verdict import Judgement


def answer_sentences(found: Judgement) -> tuple[str, ...]:
    """Return the answer, then the sentences that qualify it; empty if there is nothing to compare.

    Parameters
    ----------
    found
        From :func:`windlass.results.verdict.judgement`.

    Examples
    --------
    >>> answer_sentences(Judgement(None))
    ()
    """
    words = headline_sentences(found.headlines) or sentences(found.verdict)
    if not words or found.traded is None or len(found.traded.points) > 1:
        return words
    # A question about cost is also one about the wait that it pays for, and one about jobs also one about tasks.
    return (f"{words[0]} {point_sentence(found.traded, found.traded.points[0])}", *words[1:])
