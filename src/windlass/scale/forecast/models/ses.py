"""Simple exponential smoothing."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from windlass.model.values import number
from windlass.scale.forecast.model import ForecastModel

_Floats = NDArray[np.float64]


class Ses(ForecastModel):
    """A level that moves towards each row by a fixed share; the forecast is constant.

    Parameters
    ----------
    alpha
        This share; 0.5 in the paper.

    Examples
    --------
    >>> Ses(alpha=0.5).fit([[0.0], [8.0], [4.0]]).forecast(1).tolist()
    [[4.0]]
    """

    name: ClassVar[str] = "ses"

    def __init__(self, alpha: float = 0.5) -> None:
        self._alpha = number("alpha", alpha, 0.0, 1.0, open_below=True)

    def _begin(self, rows: _Floats) -> None:
        self._level = rows[0]
        self._advance(rows[1:])

    def _advance(self, rows: _Floats) -> None:
        keep = 1.0 - self._alpha
        if len(rows) == 1:
            self._level = keep * self._level + self._alpha * rows[0]
        elif len(rows):
            start = (keep * self._level)[None, :]
            self._level = lfilter([self._alpha], [1.0, -keep], rows, axis=0, zi=start)[0][-1]

    def _expect(self, steps: int) -> _Floats:
        return np.repeat(self._level[None, :], steps, axis=0)
