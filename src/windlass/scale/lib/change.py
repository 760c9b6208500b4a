"""Online prediction of the growth of the demand until an instance that is launched now is up.

The prediction has two parts. A linear model predicts the expected growth from features, fitted by recursive
least squares with slow forgetting. Its residuals are divided by their usual size at that hour and stored;
their quantile is the quantile of the prediction. So coverage holds in the long run for any distribution, as
with conformal one-step forecasts (Vovk et al., "Algorithmic Learning in a Random World", 2005).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.scale.lib.demand import peak

_Floats = NDArray[np.float64]

#: Forgetting factor a row: e^-1 of the weight remains after a hundred days of ten-minute rows, because a
#: season's jobs change slowly.
_KEEP = 1.0 - 1.0 / 14_400
#: Rate at which the usual size of a residual follows the residuals of its hour.
_FOLLOW = 0.03
#: Number of residuals that quantiles are computed from, and the interval of recomputation, in rows.
_MISSES = 2016
_EVERY = 12
#: Strength of the prior that draws the initial coefficients to 0.
_PRIOR = 1.0
_HOURS = 24
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    row: int
    hour: int
    features: _Floats
    need: _Floats
    expected: _Floats


class Change:
    """Growth of the demand of each of k types within a number of rows, predicted from f features.

    The target is the largest demand of the rows until an instance would be up, less the current demand.

    Parameters
    ----------
    ahead
        (k,) number of rows until then.
    features
        Number of features of each type.

    Examples
    --------
    A demand that rises by one if the feature of the row is 1:

    >>> change = Change(np.array([1]), features=1)
    >>> need = 0.0
    >>> for row in range(400):
    ...     feature = float(row % 3 == 0)
    ...     _ = change.observe(600.0 * row, np.array([need]), np.array([[feature]]))
    ...     need += feature
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
        self._errors = np.full((_MISSES, kinds), np.nan)
        self._cases = 0
        self._row = 0
        self._waits: deque[_Case] = deque()
        self._needs: deque[_Floats] = deque(maxlen=self._longest)
        self._quantiles: tuple[int, _Floats, _Floats] | None = None

    @property
    def cases(self) -> int:
        """Number of cases learned so far."""
        return self._cases

    def observe(self, now: float, need: _Floats, features: _Floats) -> None:
        """Add a row: the current demand (k,) and the features (k, f)."""
        self._needs.append(need)
        self._row += 1
        if self._waits and self._row - self._waits[0].row >= self._longest:
            self._learn(self._waits.popleft())
        expected = (self._line * features).sum(axis=1)
        self._waits.append(_Case(self._row, _hour(now), features, need, expected))

    def quantile(self, now: float, features: _Floats, levels: float | _Floats) -> _Floats:
        """Return (k,) the growth that is not exceeded with probability ``levels`` (one number, or (k,))."""
        expected = (self._line * features).sum(axis=1)
        misses = self._of_misses(np.broadcast_to(levels, expected.shape))
        return np.asarray(expected + self._size(_hour(now)) * misses)

    def _learn(self, case: _Case) -> None:
        # Each type uses its own number of the rows since the case.
        since = np.array(self._needs)
        growth = peak(since, self._ahead) - case.need
        error = growth - case.expected
        scaled = error / self._size(case.hour)
        if self._cases:
            self._errors[self._cases % _MISSES] = scaled
        size = np.abs(error)
        follow = max(_FOLLOW, 1.0 / (self._cases + 1))
        self._overall += follow * (size - self._overall)
        usual = self._usual[case.hour]
        usual += _FOLLOW * (size - usual)
        self._cases += 1
        # Recursive least squares for all types at once.
        features = case.features
        gain = np.matmul(self._spread, features[:, :, None])[:, :, 0]
        gain /= (_KEEP + (gain * features).sum(axis=1))[:, None]
        self._line += gain * (growth - (self._line * features).sum(axis=1))[:, None]
        half = np.matmul(features[:, None, :], self._spread)
        self._spread = (self._spread - gain[:, :, None] * half) / _KEEP
        # Forgetting would let the variance of a feature that is always 0 grow without bound.
        np.clip(self._spread, -1e6, 1e6, out=self._spread)

    def _size(self, hour: int) -> _Floats:
        return np.asarray(0.7 * self._usual[hour] + 0.3 * self._overall + 1e-6)

    def _of_misses(self, levels: _Floats) -> _Floats:
        kept = self._quantiles
        if kept is None or self._cases - kept[0] >= _EVERY or not np.array_equal(kept[1], levels):
            count = min(self._cases - 1, _MISSES)
            if count < 1:
                return np.zeros(len(levels))
            ordered = np.sort(self._errors[1 : count + 1] if self._cases <= _MISSES else self._errors, axis=0)
            ranks = np.clip(np.ceil((count + 1) * levels).astype(np.int64) - 1, 0, len(ordered) - 1)
            kept = (self._cases, np.array(levels), ordered[ranks, np.arange(len(levels))])
            self._quantiles = kept
        return kept[2]


def _hour(now: float) -> int:
    return int(now % _DAY / 3600.0)
