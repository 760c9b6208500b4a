"""Whether a signal is ahead of another: yes, no, or nobody can tell."""

from __future__ import annotations

from windlass.admit.evaluation.certainty import SignalDifference

#: Of fewer onsets nothing is concluded.
FEWEST = 20
#: A lead of a smaller share of onsets is none: one in twenty.
TOLERANCE = 0.05
#: The same in words.
RULE = (
    f"Ahead: all of the 95 % interval is above 0. Not ahead: all of it is below {TOLERANCE:g}, one onset in "
    f"{1 / TOLERANCE:.0f}. From {FEWEST} onsets on; else it cannot be told."
)
SAID = {True: "ahead", False: "not ahead", None: "cannot be told"}


def ahead(beside: SignalDifference, onsets: int) -> bool | None:
    """Whether a signal foresees more of the same onsets than another does.

    Parameters
    ----------
    beside
        What it foresees more, as of :func:`~windlass.admit.evaluation.certainty.difference`.
    onsets
        How many onsets that is of.

    Returns
    -------
    bool or None
        True where all of the interval is above 0; False where all of it is below :data:`TOLERANCE`, so that at best
        the lead is next to nothing; None where neither is so, or there are fewer onsets than :data:`FEWEST`.

    Examples
    --------
    >>> pairs = ((0.01, 0.3), (-0.3, 0.04), (-0.3, -0.1), (-0.1, 0.2))
    >>> [ahead(SignalDifference(0.0, pair), 40) for pair in pairs]
    [True, False, False, None]
    >>> ahead(SignalDifference(0.2, (0.1, 0.3)), 19)
    """
    if onsets < FEWEST:
        return None
    low, high = beside.interval
    if low > 0.0:
        return True
    return False if high < TOLERANCE else None
