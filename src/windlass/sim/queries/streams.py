"""What becomes of each query's frames: a fluid that comes at the pace of the stream and leaves at the query's.

All is in seconds of stream, so that a frame rate matters to nobody here. What waits is always the last so many seconds
of the stream, as the oldest is lost first. So the age of what is worked on *is* what waits, and whether it is late is
read from that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
#: Seconds of stream that are none: what rounding leaves of a queue that has emptied.
_NONE = 1e-9


class Streams:
    """The streams of n queries.

    Parameters
    ----------
    queries
        How many.
    buffer
        So many seconds of each can wait.
    deadline
        What is older when it is worked on is late, s.

    Attributes
    ----------
    there, works
        (n,) bool, whether a query is there, and whether its components work.
    accuracy, rate
        (n,) of what it does now; its pace over that of the stream.
    waiting
        (n,) how much of it waits.
    came, served, late, lost, silent
        (n,) so far: of the stream; of it with results, of these too late, without results; and for how long the query
        was there and its components did not work.
    accurate
        (n,) so far, its accuracy over time: that of each result, and 0 of what was lost.

    Examples
    --------
    >>> streams = Streams(1, buffer=2.0, deadline=0.5)
    >>> streams.there[0] = streams.works[0] = True
    >>> streams.rate[0], streams.accuracy[0] = 0.5, 0.8
    >>> streams.go(10.0)
    >>> [float(each[0]) for each in (streams.waiting, streams.served, streams.late, streams.lost, streams.accurate)]
    [2.0, 5.0, 4.5, 3.0, 4.0]
    """

    def __init__(self, queries: int, buffer: float, deadline: float) -> None:
        self._buffer, self._deadline = buffer, deadline
        self.there, self.works = np.zeros((2, queries), np.bool_)
        self.accuracy, self.rate, self.waiting = np.zeros((3, queries))
        self.came, self.served, self.late, self.lost, self.silent, self.accurate = np.zeros((6, queries))

    def go(self, seconds: float) -> None:
        """So much time passes in which no rate changes."""
        if seconds <= 0.0:
            return
        silent = self.there & ~self.works
        self.came[self.there] += seconds
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
        """Accuracy a second of all results that come now, summed over queries."""
        return float((self.accuracy * self.rate)[self.works].sum())

    def caught_up_in(self) -> float:
        """Seconds until the next queue empties, as things are; infinity for never."""
        faster = self.works & (self.waiting > 0.0) & (self.rate > 1.0)
        return float((self.waiting[faster] / (self.rate[faster] - 1.0)).min(initial=np.inf))

    def stop(self, row: int) -> None:
        """A query's components stop; what waits for them is lost."""
        self.works[row] = False
        self.lost[row] += self.waiting[row]
        self.waiting[row] = self.rate[row] = 0.0

    def _late(self, before: _Floats, growth: _Floats, seconds: float) -> _Floats:
        """For how long of these seconds more waits than may, where what waits grows so fast."""
        if self._buffer <= self._deadline:
            return np.zeros(len(before))
        over = before - self._deadline
        crossing = np.clip(-over / np.where(growth == 0.0, 1.0, growth), 0.0, seconds)
        steady = np.where(over > 0.0, seconds, 0.0)
        return np.where(growth > 0.0, seconds - crossing, np.where(growth < 0.0, crossing, steady))
