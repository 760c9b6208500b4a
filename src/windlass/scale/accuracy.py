"""How far off forecasts were: MSE, PMSE, MASE, weighted quantile loss, and how often the truth was below a quantile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError

_Floats = NDArray[np.float64]


def mse(truth: _Floats, forecast: _Floats) -> float:
    """The mean squared error; NaN in the truth is left out.

    >>> mse(np.array([1.0, 3.0]), np.array([2.0, 3.0]))
    0.5
    """
    return float(np.nanmean((_same(truth, forecast)) ** 2))


def pmse(truth: _Floats, forecast: _Floats) -> float:
    """The part of the mean squared error that comes from forecasts above the truth: what too many instances cost.

    It is a mean over all rows, so that it is never above :func:`mse`. The paper's Table 4 has it above three times,
    as a mean over those rows alone would be.

    >>> pmse(np.array([1.0, 3.0]), np.array([2.0, 1.0]))
    0.5
    """
    off = _same(truth, forecast)
    return float(np.nanmean(np.where(np.isnan(off), np.nan, np.maximum(off, 0.0) ** 2)))


def mase(truth: _Floats, forecast: _Floats, train: _Floats, season: int = 1) -> float:
    """The mean absolute error, over that of the seasonal naive forecast on the rows that were learned from.

    Source: Hyndman and Koehler, "Another look at measures of forecast accuracy", 2006.

    Parameters
    ----------
    truth, forecast
        (n, k)
    train
        (t, k) the rows that were learned from.
    season
        Rows of a season; 1 for the naive forecast.

    Returns
    -------
    The mean over columns; those that never change by themselves say nothing and are left out. NaN if all are.

    Raises
    ------
    InputError
        There are no two rows a season apart.

    Examples
    --------
    >>> mase(np.array([[5.0]]), np.array([[3.0]]), np.array([[0.0], [4.0], [0.0]]))
    0.5
    """
    if len(train) <= season:
        raise InputError(f"{len(train)} rows were learned from, expected more than a season of {season}")
    own = np.nanmean(np.abs(train[season:] - train[:-season]), axis=0)
    off = np.nanmean(np.abs(_same(truth, forecast)), axis=0)
    return float(np.mean(off[own > 0] / own[own > 0])) if (own > 0).any() else float("nan")


def weighted_quantile_loss(truth: _Floats, forecast: _Floats, quantiles: Sequence[float]) -> float:
    """Twice the pinball loss, over the sum of the truth, averaged over quantiles.

    Parameters
    ----------
    truth
        (n, k)
    forecast
        (q, n, k) by quantile.
    quantiles
        (q,)

    Returns
    -------
    NaN where the truth is always 0.

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
    """The part of rows in which the truth was at most the forecast of a quantile.

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
