"""Step functions, bins and distributions for plots, computed exactly from columns of times."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_DAY = 86400.0
#: Round widths of bins, s.
_WIDTHS = (
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    10800,
    21600,
    43200,
    _DAY,
    2 * _DAY,
    7 * _DAY,
)


@dataclass(frozen=True, slots=True)
class Steps:
    """A step function: ``value[i]`` from ``time[i]`` until the next time, 0 before the first.

    Parameters
    ----------
    time
        (k,) increasing times, s.
    value
        (k,) values; the last one holds from then on.
    """

    time: NDArray[np.float64]
    value: NDArray[np.float64]

    def at(self, when: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value at each of these instants; at a step, the value after it."""
        found = np.searchsorted(self.time, when, side="right") - 1
        return np.where(found >= 0, self.value[found], 0.0) if len(self.time) else np.zeros(len(when))


def steps(begin: NDArray[np.float64], end: NDArray[np.float64], weight: NDArray[np.float64]) -> Steps:
    """Return the sum of the weights of all intervals [begin, end) that contain an instant, as a step function.

    An interval of length 0 contains no instant: a job that starts when it is submitted never waits.

    Parameters
    ----------
    begin, end
        (n,) begin and end of each interval, s; begin ≤ end.
    weight
        (n,) weights, such as processors; sums of whole numbers are exact.

    Examples
    --------
    >>> held = steps(np.array([0.0, 5.0]), np.array([10.0, 10.0]), np.array([4.0, 2.0]))
    >>> held.time.tolist(), held.value.tolist()
    ([0.0, 5.0, 10.0], [4.0, 6.0, 0.0])
    """
    time = np.concatenate((begin, end))
    change = np.concatenate((weight, -weight))
    order = np.argsort(time, kind="stable")
    time, total = time[order], np.cumsum(change[order])
    last_of_instant = np.append(time[1:] != time[:-1], True)[: len(time)]
    return Steps(time[last_of_instant], total[last_of_instant])


@dataclass(frozen=True, slots=True)
class Binned:
    """A step function over bins.

    Parameters
    ----------
    mean
        (k,) mean over the time of each bin.
    peak
        (k,) maximum in each bin, however short.
    """

    mean: NDArray[np.float64]
    peak: NDArray[np.float64]


def binned(function: Steps, edges: NDArray[np.float64]) -> Binned:
    """Return mean and peak of a step function over the bins [edge, next edge).

    Parameters
    ----------
    function
        The step function.
    edges
        (k + 1,) increasing edges, s; k is at least 1.

    Examples
    --------
    >>> bins = binned(Steps(np.array([0.0, 5.0, 6.0]), np.array([1.0, 9.0, 0.0])), np.array([0.0, 10.0]))
    >>> bins.mean.tolist(), bins.peak.tolist()
    ([1.4], [9.0])
    """
    inside = function.time[(function.time > edges[0]) & (function.time < edges[-1])]
    time = np.union1d(inside, edges)
    value = function.at(time[:-1])
    first = np.searchsorted(time, edges[:-1])
    area = np.add.reduceat(value * np.diff(time), first)
    return Binned(area / np.diff(edges), np.maximum.reduceat(value, first))


def bin_width(span: float, most: int) -> float:
    """Return the narrowest round width that covers a span with at most ``most`` bins, s; exact below 0.1 s.

    Examples
    --------
    >>> bin_width(3600, most=60), bin_width(400 * 86400, most=400) / 86400
    (60.0, 1.0)
    """
    least = span / most
    if least > _WIDTHS[-1]:
        return math.ceil(least / _WIDTHS[-1]) * _WIDTHS[-1]
    # Spans of fewer than about 0.1 s per bin need bins below the smallest round width.
    return least if least < _WIDTHS[0] / 10 else float(next(width for width in _WIDTHS if width >= least))


def bin_edges(span: float, width: float) -> NDArray[np.float64]:
    """Return edges from 0 to the span, which must be above 0; the last bin ends with the span."""
    # Without the tolerance, rounding could add a tiny bin n + 1 to a span of exactly n widths.
    whole = max(math.ceil(span / width - 1e-9), 1)
    return np.append(width * np.arange(whole), span)


@dataclass(frozen=True, slots=True)
class Distribution:
    """Points of a cumulative distribution: ``share[i]`` of all values are at most ``value[i]``."""

    value: NDArray[np.float64]
    share: NDArray[np.float64]


def distribution(values: NDArray[np.float64], lowest: float, levels: int) -> Distribution:
    """Return the cumulative distribution from ``lowest`` on, reduced to at most 2 · (``levels`` + 1) points.

    Every point lies on the exact curve, and the steps drawn through the points are off by less than 1 / ``levels``
    everywhere. The first point is ``lowest``, with the share of all values up to it; the last is the maximum.

    Parameters
    ----------
    values
        (n,) finite values; n is at least 1.
    lowest
        Start of the axis.
    levels
        Resolution of the reduction.

    Examples
    --------
    >>> curve = distribution(np.array([0.0, 0.5, 3.0, 3.0]), lowest=1.0, levels=100)
    >>> curve.value.tolist(), curve.share.tolist()
    ([1.0, 3.0], [0.5, 1.0])
    """
    ordered = np.sort(values)
    last = np.append(ordered[1:] != ordered[:-1], True)
    value, upto = ordered[last], np.flatnonzero(last) + 1
    beyond = value > lowest
    value, upto = value[beyond], upto[beyond]
    # Keep the first and the last point of each of ``levels`` equal steps in height.
    level = upto * levels // len(values)
    new = level[1:] != level[:-1]
    shown = (np.append(True, new) | np.append(new, True))[: len(value)]
    below = np.searchsorted(ordered, lowest, side="right")
    return Distribution(
        np.concatenate(([lowest], value[shown])), np.concatenate(([below], upto[shown])) / len(values)
    )
