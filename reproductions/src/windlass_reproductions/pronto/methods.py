"""Forecasts of the next value: from a machine's own past, or from that of the machines of its cluster.

Values are scaled to 0 to 1 over each machine's window before, and back after. From a cluster, all methods but one
forecast its mean machine, and the support vector machine learns from the windows of all; so the paper says of two of
the four, and it is taken of the others.
"""

from __future__ import annotations

import importlib.util

import numpy as np
from numpy.typing import NDArray

from windlass.admit.forecast import forecast

Floats = NDArray[np.float64]

#: Names of methods as in the paper's tables, and as ours.
METHODS = {"naive": "naive", "ExpSmo": "smoothing", "ARIMA": "arima", "SVM": "svm"}
#: How many values back the support vector machine looks, and from how many rows of a cluster it learns at most.
_LAGS, _ROWS = 5, 1200


def has_svm() -> bool:
    """Whether scikit-learn is there, which the extra ``forecast`` brings."""
    return importlib.util.find_spec("sklearn") is not None


def own(method: str, window: Floats) -> float:
    """The next value of one machine, of (w,) of its own.

    >>> own("naive", np.array([1.0, 4.0]))
    4.0
    """
    low, high = float(window.min()), float(window.max())
    if high == low:
        return high
    return low + (high - low) * forecast(METHODS[method], (window - low) / (high - low))


def cluster(method: str, windows: Floats) -> Floats:
    """(m,) the next value of each machine of a cluster, of (m, w) of all.

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
    """(m,) by a support vector machine that learns from the windows (m, w) of all; few rows, evenly spaced, of many."""
    from sklearn.svm import SVR

    rows = np.lib.stride_tricks.sliding_window_view(unit, _LAGS + 1, axis=1).reshape(-1, _LAGS + 1)
    kept = rows[:: -(-len(rows) // _ROWS)]
    if len(kept) < 2 * _LAGS or np.ptp(kept) == 0.0:
        return unit[:, -1].copy()
    fitted = SVR().fit(kept[:, :-1], kept[:, -1])
    found: Floats = fitted.predict(unit[:, -_LAGS:])
    return found
