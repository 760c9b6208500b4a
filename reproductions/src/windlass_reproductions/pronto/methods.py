"""Forecasts of the next value, from a machine's own past or from that of all machines of its cluster.

Values are scaled to 0 to 1 over each machine's window, and forecasts are scaled back. For a cluster, the support vector
machine learns from the windows of all machines, and the other methods forecast the mean of the machines. The paper
states this for two of the four methods; it is assumed for the others.
"""

from __future__ import annotations

import importlib.util

import numpy as np
from numpy.typing import NDArray

from windlass.admit.forecast import forecast

Floats = NDArray[np.float64]

#: Windlass's names of the methods in the paper's tables.
METHODS = {"naive": "naive", "ExpSmo": "smoothing", "ARIMA": "arima", "SVM": "svm"}
#: Number of past values that the support vector machine uses, and maximum number of rows that it learns from.
_LAGS, _ROWS = 5, 1200


def has_svm() -> bool:
    """Return whether scikit-learn, of the extra ``forecast``, is installed."""
    return importlib.util.find_spec("sklearn") is not None


def own(method: str, window: Floats) -> float:
    """Forecast the next value of one machine from its own window (w,).

    >>> own("naive", np.array([1.0, 4.0]))
    4.0
    """
    low, high = float(window.min()), float(window.max())
    if high == low:
        return high
    return low + (high - low) * forecast(METHODS[method], (window - low) / (high - low))


def cluster(method: str, windows: Floats) -> Floats:
    """Forecast (m,) the next value of each machine of a cluster from all windows (m, w).

    >>> cluster("naive", np.array([[0.0, 4.0, 2.0], [10.0, 30.0, 20.0]])).tolist()
    [2.0, 20.0]
    """
    low, high = windows.min(axis=1), windows.max(axis=1)
    span = np.where(high > low, high - low, 1.0)
    unit = (windows - low[:, None]) / span[:, None]
    if method == "SVM":
        return np.asarray(low + span * pooled(unit))
    return np.asarray(low + span * forecast(METHODS[method], unit.mean(axis=0)))


def pooled(unit: Floats) -> Floats:
    """Forecast (m,) next values with one support vector machine for all windows (m, w).

    It learns from at most ``_ROWS`` evenly spaced rows.
    """
    from sklearn.svm import SVR

    rows = np.lib.stride_tricks.sliding_window_view(unit, _LAGS + 1, axis=1).reshape(-1, _LAGS + 1)
    kept = rows[:: -(-len(rows) // _ROWS)]
    if len(kept) < 2 * _LAGS or np.ptp(kept) == 0.0:
        return unit[:, -1].copy()
    fitted = SVR().fit(kept[:, :-1], kept[:, -1])
    found: Floats = fitted.predict(unit[:, -_LAGS:])
    return found
