"""ARIMA: differences of a series as a sum of its last values and its last surprises.

Orders are chosen by Akaike's criterion. Coefficients are fitted by least squares in two steps (Hannan and Rissanen,
1982): a long autoregression says what the surprises were, and a regression on values and surprises has the rest. That
is consistent, and takes a hundredth of the time of maximum likelihood, which a node cannot spend at every step.
"""

from __future__ import annotations

import math

import numpy as np

from windlass.admit.lib.subspace import Floats

#: Orders tried: values, differences, surprises.
_VALUES, _DIFFERENCES, _SURPRISES = range(3), range(2), range(3)
#: Shorter series are not fitted, and the last value stands for the next.
_LEAST = 12


def arima(history: Floats) -> float:
    """The next value, by the orders with the smallest criterion.

    >>> wave = np.sin(0.3 * np.arange(60))
    >>> bool(abs(arima(wave) - np.sin(0.3 * 60)) < 0.05)
    True
    """
    last = float(history[-1])
    if len(history) < _LEAST or np.ptp(history) == 0.0:
        return last
    best, found = math.inf, last
    for differences in _DIFFERENCES:
        series = np.diff(history, differences)
        middle = series.mean() if differences == 0 else 0.0
        centred = series - middle
        surprises = _surprises(centred)
        for values in _VALUES:
            for past in _SURPRISES:
                criterion, step = _fitted(centred, surprises, values, past)
                if criterion < best:
                    best, found = criterion, middle + step + (last if differences else 0.0)
    # A forecast far outside of all that was seen is of a fit gone wrong.
    room = float(np.ptp(history))
    return float(np.clip(found, history.min() - room, history.max() + room))


def _lagged(series: Floats, lags: int, first: int) -> Floats:
    """Rows of the last ``lags`` values before each place from ``first`` on, and before the next one, newest first."""
    rows = [series[first - lag : len(series) - lag + 1] for lag in range(1, lags + 1)]
    return np.stack(rows, axis=1) if rows else np.zeros((len(series) - first + 1, 0))


def _surprises(series: Floats) -> Floats:
    """What a long autoregression did not foresee; 0 where it had too little to go by."""
    lags = min(8, len(series) // 4)
    rows = _lagged(series, lags, lags)
    found = np.linalg.lstsq(rows[:-1], series[lags:], rcond=None)[0]
    return np.concatenate([np.zeros(lags), series[lags:] - rows[:-1] @ found])


def _fitted(series: Floats, surprises: Floats, values: int, past: int) -> tuple[float, float]:
    """Akaike's criterion of these orders over the same places for all, and the next value."""
    first = max(*_VALUES, *_SURPRISES)
    rows = np.concatenate([_lagged(series, values, first), _lagged(surprises, past, first)], axis=1)
    target = series[first:]
    found = np.linalg.lstsq(rows[:-1], target, rcond=None)[0]
    left = float(((target - rows[:-1] @ found) ** 2).mean())
    return len(target) * math.log(max(left, 1e-300)) + 2.0 * (values + past + 1), float(rows[-1] @ found)
