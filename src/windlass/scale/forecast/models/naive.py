"""The naive forecast."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.scale.forecast.model import ForecastModel

_Floats = NDArray[np.float64]


class Naive(ForecastModel):
    """Repeats the last row.

    Examples
    --------
    >>> Naive().fit([[1.0], [4.0]]).forecast(2).ravel().tolist()
    [4.0, 4.0]
    """

    name: ClassVar[str] = "naive"

    def _begin(self, rows: _Floats) -> None:
        self._last = rows[-1]

    def _advance(self, rows: _Floats) -> None:
        self._last = rows[-1]

    def _expect(self, steps: int) -> _Floats:
        return np.repeat(self._last[None, :], steps, axis=0)
