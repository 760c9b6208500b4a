"""The quality of a rejection signal: recall of spikes, downtime, and the recall expected by chance.

A signal that is always up predicts everything, so recall is reported with downtime and with the recall of two
uninformed signals of the same downtime: steps drawn at random, and the same signal shifted in time. The first is
harder to beat for a signal that comes in bursts, because scattered steps cover more onsets. A signal that rises only
when a spike has begun predicts nothing, so the step of the onset itself counts only on request (``least=0``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.subspace import Floats
from windlass.model import InputError
from windlass.model.values import number, whole

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a signal predicted the onsets of spikes.

    Parameters
    ----------
    onsets
        Number of onsets.
    recall
        Share of onsets with a raise at least ``least`` and at most ``within`` steps before; NaN without onsets.
    downtime
        Share of all steps at which the signal was up.
    by_chance
        Expected recall of a signal that is up at random with the same downtime.
    shifted
        Mean recall of the same signal shifted cyclically in time, over all shifts.
    ahead
        Share of the steps from ``within`` to ``least`` before onsets at which the signal was up. For an uninformed
        signal it equals the downtime, whatever its bursts, and short scattered raises, which increase recall, do not
        increase it. NaN without onsets.
    precision
        Share of the steps at which the signal was up that precede an onset by ``least`` to ``within`` steps; NaN if it
        was never up.
    lead
        Mean steps from the first of those raises to the onset; NaN if no onset was predicted.
    left, right
        Number of onsets with a raise before them, and with one only at them or at most ``within`` steps after.
    """

    onsets: int
    recall: float
    downtime: float
    by_chance: float
    shifted: float
    ahead: float
    precision: float
    lead: float
    left: int
    right: int


def onsets(values: Floats, threshold: float, apart: int = 1) -> Bools:
    """Return where spikes begin: a value of at least the threshold after ``apart`` steps below it.

    Parameters
    ----------
    values
        (t,) a series such as CPU Ready; NaN counts as below.
    threshold
        The smallest value of a spike.
    apart
        Number of steps below the threshold required before an onset.

    Examples
    --------
    >>> onsets(np.array([0.0, 2.0, 2.0, 0.0, 2.0]), 1.0).astype(int).tolist()
    [0, 1, 0, 0, 1]
    """
    high = np.asarray(values) >= number("threshold", threshold, -np.inf)
    return high & ~before(high, whole("apart", apart, 1))


def quality(signal: Bools, spikes: Bools, within: int, least: int = 1) -> Quality:
    """Return how well a signal predicts onsets.

    Parameters
    ----------
    signal
        (t,) True where the signal is up.
    spikes
        (t,) True at onsets (:func:`onsets`).
    within, least
        Greatest and smallest number of steps before an onset at which a raise counts.

    Raises
    ------
    InputError
        Lengths differ, or the arrays are empty.

    Examples
    --------
    >>> up, spikes = np.zeros(100, bool), np.zeros(100, bool)
    >>> up[[10, 50]], spikes[[12, 80]] = True, True
    >>> found = quality(up, spikes, within=5)
    >>> found.recall, found.downtime, found.shifted, found.precision, found.lead
    (0.5, 0.02, 0.1, 0.5, 2.0)
    """
    up, spikes = checked(signal, spikes, within, least)
    covered = before(up, within, least)
    soon = before(spikes[::-1], within, least)[::-1]
    after = up | before(up[::-1], within)[::-1]
    count, downtime = int(spikes.sum()), float(up.mean())
    first = leads(up, spikes & covered, within, least)
    return Quality(
        onsets=count,
        recall=float(covered[spikes].mean()) if count else np.nan,
        downtime=downtime,
        by_chance=1.0 - (1.0 - downtime) ** (within - least + 1),
        # Over all cyclic shifts, each covered step meets each onset once.
        shifted=float(_cyclically_before(up, within, least).mean()),
        ahead=float(up[soon].mean()) if soon.any() else np.nan,
        precision=float(soon[up].mean()) if up.any() else np.nan,
        lead=float(first.mean()) if len(first) else np.nan,
        left=int((spikes & covered).sum()),
        right=int((spikes & ~covered & after).sum()),
    )


def checked(signal: Bools, spikes: Bools, within: int, least: int) -> tuple[Bools, Bools]:
    """Return both as boolean arrays after checking that they cover the same steps; raise InputError otherwise."""
    up, found = np.asarray(signal, np.bool_), np.asarray(spikes, np.bool_)
    if whole("within", within, 0) < whole("least", least, 0):
        raise InputError(f"within is {within}, expected at least {least}, the fewest steps that count")
    if up.shape != found.shape or up.ndim != 1 or not len(up):
        raise InputError(f"signal has shape {up.shape} and spikes {found.shape}, expected the same, (t,)")
    return up, found


def before(flags: Bools, most: int, least: int = 1) -> Bools:
    """Return where one of the steps from ``most`` to ``least`` before has the flag."""
    counted = np.concatenate([[0], np.cumsum(flags)])
    at, count = np.arange(len(flags)), len(flags)
    ends = np.maximum(at - min(least, count + 1) + 1, 0)
    found: Bools = counted[ends] - counted[np.maximum(at - min(most, count), 0)] > 0
    return found


def _cyclically_before(flags: Bools, most: int, least: int) -> Bools:
    """Return where one of the steps from ``most`` to ``least`` before has the flag, if the last precedes the first."""
    count, length = len(flags), most - least + 1
    if length >= count:
        return np.full(count, bool(flags.any()))
    counted = np.concatenate([[0], np.cumsum(np.tile(np.roll(flags, least % count), 2))])
    ends = np.arange(count, 2 * count) + 1
    found: Bools = counted[ends] - counted[ends - length] > 0
    return found


def leads(up: Bools, spikes: Bools, within: int, least: int = 1) -> Floats:
    """Return (k,) steps from the first raise to each onset; NaN for an onset that was not predicted.

    >>> up, spikes = np.zeros(50, bool), np.zeros(50, bool)
    >>> up[[10, 11]], spikes[[13, 40]] = True, True
    >>> leads(up, spikes, within=5).tolist()
    [3.0, nan]
    """
    at = np.flatnonzero(spikes)
    covered, raised = before(up, within, least)[at], np.flatnonzero(up)
    first = raised[np.searchsorted(raised, at[covered] - min(within, len(up)))]
    found = np.full(len(at), np.nan)
    found[covered] = at[covered] - first
    return found
