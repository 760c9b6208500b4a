"""NLinear: a linear map of the last rows, relative to the last value."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.scale.forecast.linear import Linear

_Floats = NDArray[np.float64]


class NLinear(Linear):
    """A linear map of the last rows, with the last value subtracted first and added back to the forecast.

    Source: Zeng et al., "Are Transformers effective for time series forecasting?", AAAI 2023. The weights
    come from ridge regression in closed form, not from gradient descent.

    Parameters
    ----------
    window, horizon
        Number of input rows, and of steps forecast at once.

    Examples
    --------
    >>> rows = np.tile([[0.0], [4.0], [2.0]], (20, 1))
    >>> NLinear(window=6, horizon=2).fit(rows).forecast(3).round(2).ravel().tolist()
    [0.0, 4.0, 2.0]
    """

    name: ClassVar[str] = "nlinear"

    def _features(self, windows: _Floats) -> _Floats:
        return windows
