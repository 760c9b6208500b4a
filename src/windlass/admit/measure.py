"""How good a signal is: what it foresees, at what price, and what chance would have foreseen at that price.

A signal that is always up foresees everything. So recall is only told beside downtime, and beside the recall of two
that know nothing and are down as long: steps drawn at random, and the same signal at another time. The first is the
harder one to beat where a signal comes in bursts: what is scattered meets more. A signal that is up only when a spike
has begun foresees nothing, so the step of the onset itself counts only where one asks for it (``least=0``).
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
    """What a signal foresaw of the onsets of spikes.

    Parameters
    ----------
    onsets
        How many there were.
    recall
        Share of them with a raise at least ``least`` and at most ``within`` steps before; NaN where there were none.
    downtime
        Share of all steps at which the signal was up.
    by_chance
        The recall to expect of a signal that is up at random, for as long.
    shifted
        The mean recall of the same signal shifted round in time, over all shifts.
    ahead
        Share of the steps from ``within`` to ``least`` before onsets at which it was up. For a signal that knows
        nothing it is the downtime, in whatever bursts it comes; and short raises here and there, which recall takes
        for a signal that is up throughout, gain nothing. NaN where there were no onsets.
    precision
        Share of the steps at which it was up with an onset as many steps later; NaN where it was never up.
    lead
        Mean steps from the first raise among those to the onset; NaN where none was foreseen.
    left, right
        Onsets with a raise before them, and with one at them or at most ``within`` steps after but none before.
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
    """Where spikes begin: a value of at least the threshold after so many steps below it.

    Parameters
    ----------
    values
        (t,) such as CPU Ready; NaN is below.
    threshold
        The least value of a spike.
    apart
        How many steps below there must be before.

    Examples
    --------
    >>> onsets(np.array([0.0, 2.0, 2.0, 0.0, 2.0]), 1.0).astype(int).tolist()
    [0, 1, 0, 0, 1]
    """
    high = np.asarray(values) >= number("threshold", threshold, -np.inf)
    return high & ~before(high, whole("apart", apart, 1))


def quality(signal: Bools, spikes: Bools, within: int, least: int = 1) -> Quality:
    """How good a signal is at foreseeing onsets.

    Parameters
    ----------
    signal
        (t,) True where it is up.
    spikes
        (t,) True at onsets, as of :func:`onsets`.
    within, least
        How many steps before an onset a raise counts, at most and at least.

    Raises
    ------
    InputError
        Arrays of other lengths, or empty ones.

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
    # Over all shifts round in time, each step that is covered meets each onset once.
    rolled = np.zeros(len(up), np.bool_)
    for step in range(least, within + 1):
        rolled |= np.roll(up, step)
    first = leads(up, spikes & covered, within, least)
    return Quality(
        onsets=count,
        recall=float(covered[spikes].mean()) if count else np.nan,
        downtime=downtime,
        by_chance=1.0 - (1.0 - downtime) ** (within - least + 1),
        shifted=float(rolled.mean()),
        ahead=float(up[soon].mean()) if soon.any() else np.nan,
        precision=float(soon[up].mean()) if up.any() else np.nan,
        lead=float(first.mean()) if len(first) else np.nan,
        left=int((spikes & covered).sum()),
        right=int((spikes & ~covered & after).sum()),
    )


def checked(signal: Bools, spikes: Bools, within: int, least: int) -> tuple[Bools, Bools]:
    """Both, if they are of the same steps; or an InputError."""
    up, found = np.asarray(signal, np.bool_), np.asarray(spikes, np.bool_)
    if whole("within", within, 0) < whole("least", least, 0):
        raise InputError(f"within is {within}, expected at least {least}, the fewest steps that count")
    if up.shape != found.shape or up.ndim != 1 or not len(up):
        raise InputError(f"signal has shape {up.shape} and spikes {found.shape}, expected the same, (t,)")
    return up, found


def before(flags: Bools, most: int, least: int = 1) -> Bools:
    """Where one of the steps from ``most`` to ``least`` before has the flag."""
    counted = np.concatenate([[0], np.cumsum(flags)])
    at = np.arange(len(flags))
    ends = np.maximum(at - least + 1, 0)
    found: Bools = counted[ends] - counted[np.maximum(at - most, 0)] > 0
    return found


def leads(up: Bools, spikes: Bools, within: int, least: int = 1) -> Floats:
    """(k,) steps from the first raise in time to each onset; NaN where it was not foreseen.

    >>> up, spikes = np.zeros(50, bool), np.zeros(50, bool)
    >>> up[[10, 11]], spikes[[13, 40]] = True, True
    >>> leads(up, spikes, within=5).tolist()
    [3.0, nan]
    """
    covered, found = before(up, within, least), []
    for onset in np.flatnonzero(spikes):
        first = max(0, int(onset) - within)
        found.append(onset - first - np.argmax(up[first : onset + 1]) if covered[onset] else np.nan)
    return np.asarray(found, np.float64)
