"""The answer in words: over all headline metrics, or about one metric."""

from __future__ import annotations

from windlass.report.headlines import headline_sentences
from windlass.report.sentence import sentences
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
    return headline_sentences(found.headlines) or sentences(found.verdict)
