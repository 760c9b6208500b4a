"""DLinear: separate linear maps of the trend and of the remainder."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import whole
from windlass.scale.forecast.linear import Linear

_Floats = NDArray[np.float64]


class DLinear(Linear):
    """Splits a window into a moving average (the trend) and the remainder, with separate weights.

    Source: Zeng et al., "Are Transformers effective for time series forecasting?", AAAI 2023. A moving
    average is itself linear, so compared with one linear map only the penalty differs. The last value is
    subtracted first, as in NLinear.

    Parameters
    ----------
    window, horizon
        Number of input rows, and of steps forecast at once.
    average
        Rows of the moving average, 25 in the source.

    Examples
    --------
    >>> rows = np.tile([[0.0], [4.0], [2.0]], (20, 1))
    >>> DLinear(window=6, horizon=2, average=3).fit(rows).forecast(3).round(2).ravel().tolist()
    [0.0, 4.0, 2.0]
    """

    name: ClassVar[str] = "dlinear"

    def __init__(self, window: int = 288, horizon: int = 6, average: int = 25) -> None:
        super().__init__(window, horizon)
        self._average = whole("average", average, 1)

    def _features(self, windows: _Floats) -> _Floats:
        before = (self._average - 1) // 2
        padded = np.pad(windows, ((0, 0), (before, self._average - 1 - before)), mode="edge")
        sums = np.cumsum(np.pad(padded, ((0, 0), (1, 0))), axis=1)
        trend = (sums[:, self._average :] - sums[:, : -self._average]) / self._average
        return np.concatenate([trend, windows - trend], axis=1)
