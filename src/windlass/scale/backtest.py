"""Backtests of forecasters: one forecast from each row of a test set, made from the rows before it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError
from windlass.scale.accuracy import coverage, mase, mse, pmse, weighted_quantile_loss
from windlass.scale.forecast.protocol import Forecaster
from windlass.scale.forecast.rows import filled
from windlass.scale.forecast.scaling import ColumnScaling

_Floats = NDArray[np.float64]

#: Default quantiles.
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, slots=True)
class Score:
    """Errors of forecasts a fixed number of steps ahead.

    Parameters
    ----------
    steps
        Number of rows ahead.
    mse, pmse
        Errors of columns divided by their largest value in the training rows; see :mod:`windlass.scale.accuracy`.
    mase
        Absolute error divided by that of the seasonal naive forecast on the training rows.
    wql
        Weighted quantile loss.
    covered
        Fraction of rows in which the truth was at most the highest quantile.
    """

    steps: int
    mse: float
    pmse: float
    mase: float
    wql: float
    covered: float


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """Forecasts a fixed number of steps ahead, and the truth.

    Parameters
    ----------
    steps
        Number of rows ahead.
    truth, mean
        (n, k) measured values, NaN for gaps, and forecast means.
    quantiles
        (q, n, k) forecast quantiles.
    """

    steps: int
    truth: _Floats
    mean: _Floats
    quantiles: _Floats


@dataclass(frozen=True, slots=True, eq=False)
class Backtest:
    """The result of a backtest.

    Parameters
    ----------
    scores, made
        One entry for each number of steps.
    fit
        Time to fit the forecaster and its quantiles, s.
    forecast
        Mean time of a forecast, s.
    squared
        For each number of steps, (n,) squared errors of the rows, of which :attr:`Score.mse` is the mean; NaN for gaps.
    """

    scores: tuple[Score, ...]
    made: tuple[Made, ...]
    fit: float
    forecast: float
    squared: tuple[_Floats, ...] = ()


def backtest(
    forecaster: Forecaster,
    rows: ArrayLike,
    test: int,
    steps: Sequence[int] = (1, 2),
    quantiles: Sequence[float] = QUANTILES,
    season: int = 144,
    notify: Callable[[int, int], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Backtest:
    """Fit a forecaster to all but the last rows, then forecast from each of these in turn.

    A forecast from a row uses the rows up to it. The forecaster is not refitted on the test rows.

    Parameters
    ----------
    forecaster
        Fitted by this function.
    rows
        (t, k), NaN for gaps; gaps are not counted as truth.
    test
        Number of test rows, at the end.
    steps
        Numbers of rows ahead; each is scored separately.
    quantiles
        Quantiles to forecast.
    season
        Season of the naive forecast that MASE compares with, rows.
    notify
        Progress callback, called with the number of finished test rows and the total.
    clock
        Returns the time, s.

    Raises
    ------
    InputError
        Too few training rows remain, or there are fewer test rows than steps.

    Examples
    --------
    >>> from windlass.scale.forecast import make
    >>> rows = np.tile([[1.0], [2.0]], (20, 1))
    >>> [score.mse for score in backtest(make("naive"), rows, test=10, season=1).scores]
    [0.25, 0.0]
    """
    truth = np.array(rows, dtype=np.float64)
    if truth.ndim == 1:
        truth = truth[:, None]
    known, most = len(truth) - test, max(steps)
    if min(steps) < 1 or test < most:
        raise InputError(
            f"{test} test rows and {min(steps)} to {most} steps, expected steps from 1 to the number of test rows"
        )
    if known < 2:
        raise InputError(f"{len(truth)} rows of which {test} are test rows, expected at least 2 more")
    # Gaps are filled only from earlier rows, so filling all rows at once leaks no future values.
    whole = filled(truth)
    for step in steps:
        if not np.isfinite(truth[known + step - 1 :]).any():
            raise InputError(
                f"test: no value is measured {step} or more rows after the {known:,} rows of history"
            )
    start = clock()
    forecaster.fit(whole[:known])
    forecaster.forecast(most, quantiles)
    fit = clock() - start
    spent = 0.0
    means = np.empty((test, most, truth.shape[1]))
    by_quantile = np.empty((test, len(quantiles), most, truth.shape[1]))
    for place in range(test):
        start = clock()
        means[place] = forecaster.forecast(most)
        spent += clock() - start
        by_quantile[place] = forecaster.forecast(most, quantiles)
        forecaster.update(whole[known + place : known + place + 1])
        if notify is not None:
            notify(place + 1, test)
    made = tuple(
        Made(step, truth[known + step - 1 :], means[: test - step + 1, step - 1], _of(by_quantile, step))
        for step in steps
    )
    scores = tuple(_score(each, whole[:known], quantiles, season) for each in made)
    scale = ColumnScaling.of(whole[:known])
    return Backtest(scores, made, fit, spent / test, tuple(_squared(each, scale) for each in made))


def _squared(made: Made, scale: ColumnScaling) -> _Floats:
    """Return (n,) the squared scaled error of each row, weighted so that their mean is that of all measured values."""
    off = (scale.down(made.truth) - scale.down(made.mean)) ** 2
    measured = np.isfinite(off)
    count = measured.sum(axis=1)
    total = np.where(measured, off, 0.0).sum(axis=1)
    return np.where(count > 0, total * ((count > 0).sum() / max(int(count.sum()), 1)), np.nan)


def _of(by_quantile: _Floats, step: int) -> _Floats:
    count = len(by_quantile) - step + 1
    return np.ascontiguousarray(by_quantile[:count, :, step - 1].swapaxes(0, 1))


def _score(made: Made, train: _Floats, quantiles: Sequence[float], season: int) -> Score:
    most = ColumnScaling.of(train)
    truth, mean = most.down(made.truth), most.down(made.mean)
    return Score(
        made.steps,
        mse(truth, mean),
        pmse(truth, mean),
        mase(made.truth, made.mean, train, min(season, len(train) - 1)),
        weighted_quantile_loss(made.truth, made.quantiles, quantiles),
        coverage(made.truth, made.quantiles[int(np.argmax(quantiles))]),
    )
