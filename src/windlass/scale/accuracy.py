"""Measures of forecast error: MSE, PMSE, MASE, weighted quantile loss and coverage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError

_Floats = NDArray[np.float64]


def mse(truth: _Floats, forecast: _Floats) -> float:
    """Return the mean squared error, ignoring NaN in the truth.

    >>> mse(np.array([1.0, 3.0]), np.array([2.0, 3.0]))
    0.5
    """
    return float(np.nanmean((_same(truth, forecast)) ** 2))


def pmse(truth: _Floats, forecast: _Floats) -> float:
    """Return the part of the mean squared error due to forecasts above the truth: the cost of overprovisioning.

    The mean is over all rows, so it never exceeds :func:`mse`. In the paper's Table 4 it does three times, as
    a mean over only those rows would.

    >>> pmse(np.array([1.0, 3.0]), np.array([2.0, 1.0]))
    0.5
    """
    off = _same(truth, forecast)
    return float(np.nanmean(np.where(np.isnan(off), np.nan, np.maximum(off, 0.0) ** 2)))


def mase(truth: _Floats, forecast: _Floats, train: _Floats, season: int = 1) -> float:
    """Return the mean absolute scaled error: divided by the error of the seasonal naive forecast on the training rows.

    Source: Hyndman and Koehler, "Another look at measures of forecast accuracy", 2006.

    Parameters
    ----------
    truth, forecast
        (n, k)
    train
        (t, k) the training rows.
    season
        Rows of a season; 1 for the naive forecast.

    Returns
    -------
    The mean over columns; columns that never change in the training rows are left out. NaN if all are.

    Raises
    ------
    InputError
        No two training rows are a season apart.

    Examples
    --------
    >>> mase(np.array([[5.0]]), np.array([[3.0]]), np.array([[0.0], [4.0], [0.0]]))
    0.5
    """
    if len(train) <= season:
        raise InputError(f"{len(train)} training rows, expected more than a season of {season}")
    own = np.nanmean(np.abs(train[season:] - train[:-season]), axis=0)
    off = np.nanmean(np.abs(_same(truth, forecast)), axis=0)
    return float(np.mean(off[own > 0] / own[own > 0])) if (own > 0).any() else float("nan")


def weighted_quantile_loss(truth: _Floats, forecast: _Floats, quantiles: Sequence[float]) -> float:
    """Return twice the pinball loss divided by the sum of the truth, averaged over quantiles.

    Parameters
    ----------
    truth
        (n, k)
    forecast
        (q, n, k) by quantile.
    quantiles
        (q,) from 0 to 1.

    Returns
    -------
    NaN if the truth is always 0.

    Examples
    --------
    >>> weighted_quantile_loss(np.array([[10.0]]), np.array([[[8.0]], [[14.0]]]), [0.5, 0.9])
    0.14
    """
    total = float(np.nansum(truth))
    if total == 0:
        return float("nan")
    losses = []
    for place, quantile in enumerate(quantiles):
        off = -_same(truth, forecast[place])
        losses.append(2 * float(np.nansum(np.maximum(quantile * off, (quantile - 1) * off))) / total)
    return float(np.mean(losses))


def coverage(truth: _Floats, forecast: _Floats) -> float:
    """Return the share of rows in which the truth is at most the forecast quantile.

    >>> coverage(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    0.5
    """
    off = _same(truth, forecast)
    return float(np.mean((off >= 0)[~np.isnan(off)]))


def _same(truth: _Floats, forecast: _Floats) -> _Floats:
    if truth.shape != forecast.shape:
        raise InputError(
            f"the truth has shape {truth.shape}, the forecast {forecast.shape}, expected the same"
        )
    return forecast - truth
