"""A linear map of the trend and one of the rest (DLinear)."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import whole
from windlass.scale.forecast.linear import Linear

_Floats = NDArray[np.float64]


class DLinear(Linear):
    """A moving average is the trend; trend and rest have weights of their own.

    Source: Zeng et al., "Are Transformers effective for time series forecasting?", AAAI 2023. A moving average is
    linear itself, so all that this adds to one linear map is another penalty. The last value is taken away first, as
    in NLinear.

    Parameters
    ----------
    window, horizon
        Rows that it looks at, and steps that it learns.
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
