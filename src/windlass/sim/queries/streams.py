"""The streams of queries as fluids: frames arrive at the stream's pace and are processed at the query's pace.

Amounts are seconds of stream, independent of frame rates. The oldest frames are lost first, so a buffer holds the last
seconds of the stream. The age of the frame that is processed therefore equals the length of the buffer, which decides
whether the frame is late.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, inlined

_Floats = NDArray[np.float64]
#: Length of a buffer, s, below which the rest is a rounding error.
_NONE = 1e-9


@inlined
def late_for(before, growth, seconds, buffer, deadline):
    """Return the time for which a buffer is longer than the deadline, s, given its growth per second."""
    if buffer <= deadline:
        return 0.0
    over = before - deadline
    if growth == 0.0:
        return seconds if over > 0.0 else 0.0
    crossing = min(max(-over / growth, 0.0), seconds)
    return seconds - crossing if growth > 0.0 else crossing


def _advance(
    seconds,
    buffer,
    deadline,
    present,
    works,
    accuracy,
    rate,
    waiting,
    arrived,
    served,
    late,
    lost,
    silent,
    accurate,
):
    """Advance all streams by a time, s."""
    for row in range(len(present)):
        if present[row]:
            arrived[row] += seconds
            if not works[row]:
                lost[row] += seconds
                silent[row] += seconds
        if not works[row]:
            continue
        before, growth = waiting[row], 1.0 - rate[row]
        after = before + growth * seconds
        dropped = max(after - buffer, 0.0)
        after = 0.0 if after < _NONE else after - dropped
        done = before + seconds - dropped - after
        waiting[row] = after
        lost[row] += dropped
        served[row] += done
        accurate[row] += accuracy[row] * done
        late[row] += min(rate[row] * late_for(before, growth, seconds, buffer, deadline), done)


ADVANCE = Kernel(
    _advance,
    types.void(*(types.float64,) * 3, *(types.boolean[::1],) * 2, *(types.float64[::1],) * 9),
    allocates=False,
)


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
        # In the order of the compiled function's parameters.
        self._arrays = (
            *(self.present, self.works, self.accuracy, self.rate, self.waiting),
            *(self.arrived, self.served, self.late, self.lost, self.silent, self.accurate),
        )

    def advance(self, seconds: float) -> None:
        """Advance by a time in which no rate changes, s."""
        if seconds <= 0.0:
            return
        ADVANCE.ready()(seconds, self._buffer, self._deadline, *self._arrays)

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
