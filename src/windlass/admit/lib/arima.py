"""ARIMA: differences of a series as a linear function of its last values and its last innovations.

Orders are chosen by Akaike's criterion. Coefficients are fitted by least squares in two steps (Hannan and Rissanen,
1982): a long autoregression estimates the innovations, and a regression on values and innovations gives the rest. It
is consistent and takes a hundredth of the time of maximum likelihood, which is too slow for a node at every step.
"""

from __future__ import annotations

import math

import numpy as np

from windlass.admit.lib.subspace import Floats

#: Orders tried: values, differences, innovations.
_VALUES, _DIFFERENCES, _SURPRISES = range(3), range(2), range(3)
#: Shortest series that is fitted; for a shorter one the forecast is the last value.
_LEAST = 12


def arima(history: Floats) -> float:
    """Return the next value, with the orders that minimise the criterion.

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
    # A forecast far outside the range of the history comes from a failed fit.
    room = float(np.ptp(history))
    return float(np.clip(found, history.min() - room, history.max() + room))


def _lagged(series: Floats, lags: int, first: int) -> Floats:
    """Return ``lags`` preceding values, newest first, for each position from ``first`` on and for the next one."""
    rows = [series[first - lag : len(series) - lag + 1] for lag in range(1, lags + 1)]
    return np.stack(rows, axis=1) if rows else np.zeros((len(series) - first + 1, 0))


def _surprises(series: Floats) -> Floats:
    """Return the residuals of a long autoregression; 0 where too few values precede."""
    lags = min(8, len(series) // 4)
    rows = _lagged(series, lags, lags)
    found = np.linalg.lstsq(rows[:-1], series[lags:], rcond=None)[0]
    return np.concatenate([np.zeros(lags), series[lags:] - rows[:-1] @ found])


def _fitted(series: Floats, surprises: Floats, values: int, past: int) -> tuple[float, float]:
    """Return Akaike's criterion of these orders, over the same positions for all orders, and the next value."""
    first = max(*_VALUES, *_SURPRISES)
    rows = np.concatenate([_lagged(series, values, first), _lagged(surprises, past, first)], axis=1)
    target = series[first:]
    found = np.linalg.lstsq(rows[:-1], target, rcond=None)[0]
    left = float(((target - rows[:-1] @ found) ** 2).mean())
    return len(target) * math.log(max(left, 1e-300)) + 2.0 * (values + past + 1), float(rows[-1] @ found)
