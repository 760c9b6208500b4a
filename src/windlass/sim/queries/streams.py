"""The streams of queries as fluids: frames arrive at the stream's pace and are processed at the query's pace.

Amounts are seconds of stream, independent of frame rates. The oldest frames are lost first, so a buffer holds the last
seconds of the stream. The age of the frame that is processed therefore equals the length of the buffer, which decides
whether the frame is late.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
#: Length of a buffer, s, below which the rest is a rounding error.
_NONE = 1e-9


class Streams:
    """The streams of n queries.

    Parameters
    ----------
    queries
        Number of queries.
    buffer
        Longest buffer of each stream, s.
    deadline
        Age of a frame, s, above which its result is late.

    Attributes
    ----------
    present, works
        (n,) bool, whether a query is present, and whether its components run.
    accuracy, rate
        (n,) accuracy of the current configuration, and the query's pace relative to the stream's.
    waiting
        (n,) length of the buffer.
    arrived, served, late, lost, silent
        (n,) totals so far: the stream that arrived, the part with results, the part of it with late results, and the
        part without results; and the time for which the query was present and its components did not run.
    accurate
        (n,) integral of accuracy so far: the accuracy of each result, and 0 for lost frames.

    Examples
    --------
    >>> streams = Streams(1, buffer=2.0, deadline=0.5)
    >>> streams.present[0] = streams.works[0] = True
    >>> streams.rate[0], streams.accuracy[0] = 0.5, 0.8
    >>> streams.advance(10.0)
    >>> [float(each[0]) for each in (streams.waiting, streams.served, streams.late, streams.lost, streams.accurate)]
    [2.0, 5.0, 4.5, 3.0, 4.0]
    """

    def __init__(self, queries: int, buffer: float, deadline: float) -> None:
        self._buffer, self._deadline = buffer, deadline
        self.present, self.works = np.zeros((2, queries), np.bool_)
        self.accuracy, self.rate, self.waiting = np.zeros((3, queries))
        self.arrived, self.served, self.late, self.lost, self.silent, self.accurate = np.zeros((6, queries))

    def advance(self, seconds: float) -> None:
        """Advance by a time in which no rate changes, s."""
        if seconds <= 0.0:
            return
        silent = self.present & ~self.works
        self.arrived[self.present] += seconds
        self.lost[silent] += seconds
        self.silent[silent] += seconds
        works = np.flatnonzero(self.works)
        before, rate = self.waiting[works], self.rate[works]
        after = before + (1.0 - rate) * seconds
        lost = np.maximum(after - self._buffer, 0.0)
        after = np.where(after < _NONE, 0.0, after - lost)
        served = before + seconds - lost - after
        self.waiting[works] = after
        self.lost[works] += lost
        self.served[works] += served
        self.accurate[works] += self.accuracy[works] * served
        self.late[works] += np.minimum(rate * self._late(before, 1.0 - rate, seconds), served)

    def results(self) -> float:
        """Return the current accuracy per second, summed over queries."""
        return float((self.accuracy * self.rate)[self.works].sum())

    def caught_up_in(self) -> float:
        """Return the time until the next buffer is empty at the current rates, s; infinity for never."""
        faster = self.works & (self.waiting > 0.0) & (self.rate > 1.0)
        return float((self.waiting[faster] / (self.rate[faster] - 1.0)).min(initial=np.inf))

    def stop(self, row: int) -> None:
        """Stop a query's components; its buffer is lost."""
        self.works[row] = False
        self.lost[row] += self.waiting[row]
        self.waiting[row] = self.rate[row] = 0.0

    def _late(self, before: _Floats, growth: _Floats, seconds: float) -> _Floats:
        """Return the time for which each buffer is longer than the deadline, s, given its growth per second."""
        if self._buffer <= self._deadline:
            return np.zeros(len(before))
        over = before - self._deadline
        crossing = np.clip(-over / np.where(growth == 0.0, 1.0, growth), 0.0, seconds)
        steady = np.where(over > 0.0, seconds, 0.0)
        return np.where(growth > 0.0, seconds - crossing, np.where(growth < 0.0, crossing, steady))
