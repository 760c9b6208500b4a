"""By how much will what is needed have grown when an instance that is launched now is ready? Learned as it goes.

The growth is told in two parts. A straight line says what is expected, from what is seen now: least squares that
forget the past slowly. What it misses is divided by how much it usually misses at that hour, and the misses of the
last time are kept: their quantile is the quantile of what may come. So it holds in the long run whatever the
distribution is, as with conformal forecasts of one step (Vovk et al., "Algorithmic Learning in a Random World", 2005).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.scale.lib.demand import peak

_Floats = NDArray[np.float64]

#: What is known of a row after a hundred days of ten-minute rows has e^-1 of its weight left: a season's jobs change
#: slowly.
_KEEP = 1.0 - 1.0 / 14_400
#: How fast the usual size of a miss follows the misses of its hour.
_FOLLOW = 0.03
#: Misses that quantiles are told from, and how often.
_MISSES = 2016
_EVERY = 12
#: How strongly the line is drawn to 0 at first.
_PRIOR = 1.0
_HOURS = 24
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    row: int
    hour: int
    seen: _Floats
    need: _Floats
    expected: _Floats


class Change:
    """The growth of the need of each of k types within some rows, by f numbers that are seen.

    What is learned from is the largest need of the rows until an instance would be ready, less the need now.

    Parameters
    ----------
    ahead
        (k,) how many rows until then.
    features
        How many numbers are seen of each type.

    Examples
    --------
    A need that rises by one whenever something is seen:

    >>> change = Change(np.array([1]), features=1)
    >>> need = 0.0
    >>> for row in range(400):
    ...     seen = float(row % 3 == 0)
    ...     _ = change.tell(600.0 * row, np.array([need]), np.array([[seen]]))
    ...     need += seen
    >>> change.quantile(0.0, np.array([[1.0]]), 0.5).round(1).tolist()
    [1.0]
    """

    def __init__(self, ahead: NDArray[np.int64], features: int) -> None:
        kinds = len(ahead)
        self._ahead = ahead
        self._longest = int(ahead.max())
        self._line = np.zeros((kinds, features))
        self._spread = np.repeat((np.eye(features) / _PRIOR)[None], kinds, axis=0)
        self._usual = np.zeros((_HOURS, kinds))
        self._overall = np.zeros(kinds)
        self._misses = np.full((_MISSES, kinds), np.nan)
        self._told = 0
        self._row = 0
        self._waits: deque[_Case] = deque()
        self._needs: deque[_Floats] = deque(maxlen=self._longest)
        self._quantiles: tuple[int, _Floats, _Floats] | None = None

    @property
    def told(self) -> int:
        """How many cases it has learned from."""
        return self._told

    def tell(self, now: float, need: _Floats, seen: _Floats) -> None:
        """What is needed now (k,) and what is seen (k, f): one call a row."""
        self._needs.append(need)
        self._row += 1
        if self._waits and self._row - self._waits[0].row >= self._longest:
            self._learn(self._waits.popleft())
        expected = (self._line * seen).sum(axis=1)
        self._waits.append(_Case(self._row, _hour(now), seen, need, expected))

    def quantile(self, now: float, seen: _Floats, levels: float | _Floats) -> _Floats:
        """(k,) by how much the need grows at most, with the chance ``levels`` (one, or (k,))."""
        expected = (self._line * seen).sum(axis=1)
        misses = self._of_misses(np.broadcast_to(levels, expected.shape))
        return np.asarray(expected + self._size(_hour(now)) * misses)

    def _learn(self, case: _Case) -> None:
        # The rows since the case, each type's own number of them.
        since = np.array(self._needs)
        grown = peak(since, self._ahead) - case.need
        miss = grown - case.expected
        scaled = miss / self._size(case.hour)
        if self._told:
            self._misses[self._told % _MISSES] = scaled
        size = np.abs(miss)
        follow = max(_FOLLOW, 1.0 / (self._told + 1))
        self._overall += follow * (size - self._overall)
        usual = self._usual[case.hour]
        usual += _FOLLOW * (size - usual)
        self._told += 1
        # Recursive least squares, for all types at once.
        seen = case.seen
        gain = np.matmul(self._spread, seen[:, :, None])[:, :, 0]
        gain /= (_KEEP + (gain * seen).sum(axis=1))[:, None]
        self._line += gain * (grown - (self._line * seen).sum(axis=1))[:, None]
        half = np.matmul(seen[:, None, :], self._spread)
        self._spread = (self._spread - gain[:, :, None] * half) / _KEEP
        # What is never seen keeps its doubt; without a bound, forgetting would let it grow for ever.
        np.clip(self._spread, -1e6, 1e6, out=self._spread)

    def _size(self, hour: int) -> _Floats:
        return np.asarray(0.7 * self._usual[hour] + 0.3 * self._overall + 1e-6)

    def _of_misses(self, levels: _Floats) -> _Floats:
        kept = self._quantiles
        if kept is None or self._told - kept[0] >= _EVERY or not np.array_equal(kept[1], levels):
            count = min(self._told - 1, _MISSES)
            if count < 1:
                return np.zeros(len(levels))
            ordered = np.sort(self._misses[1 : count + 1] if self._told <= _MISSES else self._misses, axis=0)
            ranks = np.clip(np.ceil((count + 1) * levels).astype(np.int64) - 1, 0, len(ordered) - 1)
            kept = (self._told, np.array(levels), ordered[ranks, np.arange(len(levels))])
            self._quantiles = kept
        return kept[2]


def _hour(now: float) -> int:
    return int(now % _DAY / 3600.0)
