"""Confidence intervals of recall with their nominal coverage, even for a few dozen onsets.

Onsets come in episodes, and a signal that predicts one onset of an episode tends to predict the next. A bootstrap over
blocks of time covers 78 % instead of 95 % (30 onsets, a recall of 0.95), and has width 0 if every onset was predicted.
Shares therefore have Wilson's interval for an effective number of onsets: their number divided by the design effect,
the ratio of the variance between clusters to that of independent onsets. Clusters are episodes of onsets and blocks of
time; the wider interval is used. The recall expected by chance and that of the shifted signal are known exactly for a
given signal, and are subtracted. Two signals are compared onset by onset (Agresti and Min 2005).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.subspace import Floats
from windlass.admit.measure import Bools, before, checked
from windlass.model import InputError
from windlass.model.statistics import student_quantile
from windlass.model.values import whole

Integers = NDArray[np.int64]
Pair = tuple[float, float]

_UNKNOWN = (np.nan, np.nan)


@dataclass(frozen=True, slots=True)
class Intervals:
    """95 % intervals of recall, of its excess over the shifted signal and over chance, and of the lift.

    The lift is ``ahead`` divided by the downtime, 1 for an uninformed signal. ``by_shift`` is the share of cyclic
    shifts at which the signal would have had at least its recall.
    """

    recall: Pair
    over_shifted: Pair
    over_chance: Pair
    lift: Pair
    by_shift: float


def share(hits: Floats, counts: Floats, clusters: Sequence[Integers]) -> Pair:
    """Return the 95 % interval of a share: Wilson's, for the effective number of cases.

    Parameters
    ----------
    hits, counts
        (k,) per case; the share is the sum of hits divided by the sum of counts.
    clusters
        (k,) cluster of each case, for one or more clusterings, the finest first; clusters are independent.

    Examples
    --------
    >>> every = np.ones(10)
    >>> [round(each, 2) for each in share(every, every, [np.arange(10)])]
    [0.66, 1.0]
    >>> [round(each, 2) for each in share(every, every, [np.arange(10) // 5])]
    [0.01, 1.0]
    """
    total = float(counts.sum())
    if total <= 0.0:
        return _UNKNOWN
    found = float(hits.sum()) / total
    # The wider interval: clusters that are too small miss correlation. A share of 0 or 1 varies between no clusters.
    ways = clusters if 0.0 < found < 1.0 else clusters[:1]
    pairs = [_wilson(found, *_worth(hits, counts, each, found)) for each in ways]
    return min(low for low, _ in pairs), max(high for _, high in pairs)


def _worth(hits: Floats, counts: Floats, clusters: Integers, found: float) -> Pair:
    """Return the effective number of independent cases, and the quantile of Student's t for these clusters."""
    total = float(counts.sum())
    _, of = np.unique(clusters[counts > 0], return_inverse=True)
    groups = int(of.max()) + 1
    quantile = student_quantile(max(groups - 1, 1))
    if groups < 2:
        return 1.0, quantile
    if not 0.0 < found < 1.0:
        return float(groups), quantile
    off = np.bincount(of, hits[counts > 0]) - found * np.bincount(of, counts[counts > 0])
    variance = _variance(off, total)
    effect = max(1.0, variance / (found * (1.0 - found) / total))
    return total / effect, quantile


def _variance(off: Floats, total: float) -> float:
    """Return the variance of a mean of ``total`` cases, from the sums of deviations in each cluster."""
    groups = len(off)
    return groups / max(groups - 1, 1) * float((off**2).sum()) / total**2


def _wilson(found: float, worth: float, quantile: float) -> Pair:
    part = quantile**2 / worth
    middle = (found + part / 2.0) / (1.0 + part)
    half = quantile / (1.0 + part) * math.sqrt(found * (1.0 - found) / worth + part / (4.0 * worth))
    return max(0.0, middle - half), min(1.0, middle + half)


def episodes(spikes: Bools, within: int) -> Integers:
    """Return (k,) the episode of each onset: one raise may predict onsets nearer than twice ``within``.

    >>> spikes = np.zeros(100, bool)
    >>> spikes[[10, 25, 80]] = True
    >>> episodes(spikes, 10).tolist()
    [0, 0, 1]
    """
    apart = np.diff(np.flatnonzero(spikes), prepend=-np.inf) > 2 * within
    return np.asarray(np.cumsum(apart) - 1, np.int64)


def intervals(signal: Bools, spikes: Bools, within: int, least: int = 1, blocks: int = 20) -> Intervals:
    """Return confidence intervals of :func:`~windlass.admit.measure.quality`.

    Parameters
    ----------
    signal, spikes, within, least
        See :func:`~windlass.admit.measure.quality`.
    blocks
        Number of blocks of time.

    Examples
    --------
    >>> spikes, up = np.zeros(2000, bool), np.zeros(2000, bool)
    >>> spikes[5::40], up[4::40] = True, True
    >>> found = intervals(up, spikes, 2)
    >>> tuple(round(each, 2) for each in found.recall), found.by_shift
    ((0.93, 1.0), 0.05)
    """
    up, spikes = checked(signal, spikes, within, least)
    if not spikes.any():
        return Intervals(_UNKNOWN, _UNKNOWN, _UNKNOWN, _UNKNOWN, np.nan)
    block = np.arange(len(up)) * whole("blocks", blocks, 2) // len(up)
    covered, down = before(up, within, least), float(up.mean())
    episode = episodes(spikes, within)
    low, high = share(covered[spikes].astype(np.float64), np.ones(len(episode)), [episode, block[spikes]])
    cover, chance = float(covered.mean()), 1.0 - (1.0 - down) ** (within - least + 1)
    soon = np.flatnonzero(before(spikes[::-1], within, least)[::-1])
    following = episode[np.searchsorted(np.flatnonzero(spikes), soon + least)]
    ahead = share(up[soon].astype(np.float64), np.ones(len(soon)), [following, block[soon]])
    return Intervals(
        (low, high),
        (low - cover, high - cover),
        (low - chance, high - chance),
        (ahead[0] / down, ahead[1] / down) if down else _UNKNOWN,
        by_shift(covered, spikes),
    )


def by_shift(covered: Bools, spikes: Bools) -> float:
    """Return the share of cyclic shifts, 0 included, at which at least as many onsets would have been predicted.

    It is the probability of such a recall for a signal with the same bursts that is uninformed about onsets.

    >>> by_shift(np.array([False, True, False, False]), np.array([False, True, False, False]))
    0.25
    >>> by_shift(np.zeros(4, bool), np.array([False, True, False, False]))
    1.0
    """
    if not spikes.any():
        return np.nan
    at = np.flatnonzero(spikes)
    found = np.zeros(len(covered), np.int64)
    for each in at:
        found += np.roll(covered[::-1], each + 1)
    # The shift of 0 is one of them.
    return float((found >= int(covered[at].sum())).mean())


@dataclass(frozen=True, slots=True)
class SignalDifference:
    """The difference in recall of two signals on the same onsets, with its 95 % interval."""

    value: float
    interval: Pair


def difference(first: Bools, second: Bools, clusters: Sequence[Integers]) -> SignalDifference:
    """Return by how much the recall of one signal exceeds that of another, compared onset by onset.

    Parameters
    ----------
    first, second
        (k,) whether each signal predicted an onset.
    clusters
        See :func:`share`.

    Raises
    ------
    InputError
        Lengths differ, or there are no onsets.

    Examples
    --------
    >>> every, none, alone = np.ones(40, bool), np.zeros(40, bool), [np.arange(40)]
    >>> [[round(end, 2) for end in difference(every, each, alone).interval] for each in (none, every)]
    [[0.92, 1.0], [-0.05, 0.05]]
    """
    if first.shape != second.shape or not len(first):
        raise InputError(
            f"the signals cover {len(first)} and {len(second)} onsets, expected the same number, at least 1"
        )
    change = first.astype(np.float64) - second
    count, value = len(change), float(change.mean())
    gained, lost = int((change > 0).sum()) + 0.5, int((change < 0).sum()) + 0.5
    alone = (gained + lost - (gained - lost) ** 2 / (count + 2)) / (count + 2) ** 2
    half = 0.0
    for each in clusters:
        _, of = np.unique(each, return_inverse=True)
        groups = int(of.max()) + 1
        quantile = student_quantile(max(groups - 1, 1))
        off = np.bincount(of, change - value)
        between = _variance(np.asarray(off, np.float64), count)
        half = max(half, quantile * math.sqrt(max(alone, between)))
    return SignalDifference(value, (max(-1.0, value - half), min(1.0, value + half)))
