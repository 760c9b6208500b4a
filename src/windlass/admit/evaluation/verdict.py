"""Comparison of two signals: ahead, not ahead, or undecided."""

from __future__ import annotations

from windlass.admit.evaluation.certainty import SignalDifference

#: Smallest number of onsets for a conclusion.
FEWEST = 20
#: Smallest relevant lead, a share of onsets: one in twenty.
TOLERANCE = 0.05
#: The rule in words.
RULE = (
    f"Ahead: all of the 95 % interval is above 0. Not ahead: all of it is below {TOLERANCE:g}, one onset in "
    f"{1 / TOLERANCE:.0f}. From {FEWEST} onsets on; otherwise undecided."
)
#: The word for each result of :func:`ahead`.
VERDICTS = {True: "ahead", False: "not ahead", None: "undecided"}


def ahead(recall: SignalDifference, onsets: int) -> bool | None:
    """Return whether a signal predicts more of the same onsets than another does.

    Parameters
    ----------
    recall
        The difference in recall, from :func:`~windlass.admit.evaluation.certainty.difference`.
    onsets
        Number of onsets that it is based on.

    Returns
    -------
    bool or None
        True if the whole interval is above 0; False if it is below :data:`TOLERANCE`, so that any lead is negligible;
        None otherwise, or with fewer onsets than :data:`FEWEST`.

    Examples
    --------
    >>> pairs = ((0.01, 0.3), (-0.3, 0.04), (-0.3, -0.1), (-0.1, 0.2))
    >>> [ahead(SignalDifference(0.0, pair), 40) for pair in pairs]
    [True, False, False, None]
    >>> ahead(SignalDifference(0.2, (0.1, 0.3)), 19)
    """
    if onsets < FEWEST:
        return None
    low, high = recall.interval
    if low > 0.0:
        return True
    return False if high < TOLERANCE else None
