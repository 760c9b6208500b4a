"""The four forecasters of section 3 of the Pronto paper.

Each takes the values so far, oldest first, and returns the next one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from windlass.admit.lib.arima import arima
from windlass.admit.lib.subspace import Floats
from windlass.model import InputError

#: Number of past values in the features of the support vector machine.
_LAGS = 5


def naive(history: Floats) -> float:
    """Return the last value.

    >>> naive(np.array([1.0, 3.0]))
    3.0
    """
    return float(history[-1])


def smoothing(history: Floats, weight: float = 0.2) -> float:
    """Return the exponentially smoothed value: a fifth of each new value plus four fifths of the previous estimate.

    >>> round(smoothing(np.array([0.0, 0.0, 1.0])), 3)
    0.2
    """
    level = float(history[0])
    for value in history[1:]:
        level += weight * (float(value) - level)
    return level


def svm(history: Floats) -> float:
    """Return the forecast of support vector regression on the last five values, fitted to the scaled history.

    Raises
    ------
    InputError
        scikit-learn is not installed, which the extra ``forecast`` brings.
    """
    try:
        from sklearn.svm import SVR
    except ImportError as error:
        raise InputError("forecaster 'svm' needs scikit-learn: install windlass[forecast]") from error
    low, high = float(history.min()), float(history.max())
    if len(history) < 2 * _LAGS or high == low:
        return naive(history)
    unit = (history - low) / (high - low)
    rows = np.lib.stride_tricks.sliding_window_view(unit, _LAGS)
    fitted = SVR().fit(rows[:-1], unit[_LAGS:])
    return low + (high - low) * float(fitted.predict(rows[-1:])[0])


Forecaster = Callable[[Floats], float]
FORECASTERS: dict[str, Forecaster] = {"naive": naive, "smoothing": smoothing, "arima": arima, "svm": svm}


def checked_forecaster(name: str) -> Forecaster:
    """Return the forecaster with a name.

    >>> checked_forecaster("naive") is naive
    True
    """
    if name not in FORECASTERS:
        raise InputError(f"forecaster is {name!r}, expected one of {', '.join(FORECASTERS)}")
    return FORECASTERS[name]
