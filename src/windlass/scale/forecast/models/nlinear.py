"""A linear map of the last rows, with the last value taken away and added again (NLinear)."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.scale.forecast.linear import Linear

_Floats = NDArray[np.float64]


class NLinear(Linear):
    """Source: Zeng et al., "Are Transformers effective for time series forecasting?", AAAI 2023.

    Weights are those of least squares with a penalty, found in closed form and not by gradient descent.

    Parameters
    ----------
    window, horizon
        Rows that it looks at, and steps that it learns.

    Examples
    --------
    >>> rows = np.tile([[0.0], [4.0], [2.0]], (20, 1))
    >>> NLinear(window=6, horizon=2).fit(rows).forecast(3).round(2).ravel().tolist()
    [0.0, 4.0, 2.0]
    """

    name: ClassVar[str] = "nlinear"

    def _features(self, windows: _Floats) -> _Floats:
        return windows
