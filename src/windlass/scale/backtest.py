"""How good a forecaster would have been: forecasts from every row of a test part, each made from rows before it
alone."""

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

#: Which quantiles are asked for, by default.
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, slots=True)
class Score:
    """How far off forecasts of so many steps ahead were.

    Parameters
    ----------
    steps
        How many rows ahead.
    mse, pmse
        Of columns divided by their largest value among the rows that were learned from.
    mase
        Absolute error over that of the seasonal naive forecast on the rows that were learned from.
    wql
        Weighted quantile loss.
    covered
        The part of rows in which the truth was at most the highest quantile.
    """

    steps: int
    mse: float
    pmse: float
    mase: float
    wql: float
    covered: float


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """Forecasts of so many steps ahead, and what came.

    Parameters
    ----------
    steps
        How many rows ahead.
    truth, mean
        (n, k); NaN in the truth where nothing was measured.
    quantiles
        (q, n, k)
    """

    steps: int
    truth: _Floats
    mean: _Floats
    quantiles: _Floats


@dataclass(frozen=True, slots=True, eq=False)
class Backtest:
    """What came out.

    Parameters
    ----------
    scores, made
        One for each number of steps.
    fit
        Seconds that it took to learn, and to find out how far off it is.
    forecast
        Seconds a forecast, on average.
    """

    scores: tuple[Score, ...]
    made: tuple[Made, ...]
    fit: float
    forecast: float


def backtest(
    forecaster: Forecaster,
    rows: ArrayLike,
    test: int,
    steps: Sequence[int] = (1, 2),
    quantiles: Sequence[float] = QUANTILES,
    season: int = 144,
    told: Callable[[int, int], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Backtest:
    """Learn from all but the last rows, then forecast from each of these, one after the other.

    A forecast from a row sees the rows up to it. Nothing is learned in the test part.

    Parameters
    ----------
    forecaster
        Is fitted here.
    rows
        (t, k), NaN for gaps; gaps are not counted as truth.
    test
        How many of the last rows.
    steps
        How many rows ahead, each scored by itself.
    quantiles
        Which ones to ask for.
    season
        Of the forecast that MASE compares with.
    told
        Called with how many of how many rows are done.
    clock
        Seconds.

    Raises
    ------
    InputError
        The test part leaves too little to learn from, or is shorter than the steps.

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
            f"{test} rows to test with and {min(steps)} to {most} steps, expected 1 to as many as rows"
        )
    if known < 2:
        raise InputError(f"{len(truth)} rows of which {test} are to test with, expected at least 2 more")
    # A gap is filled from the rows before it, so that filling all at once tells no forecaster what comes.
    whole = filled(truth)
    begun = clock()
    forecaster.fit(whole[:known])
    forecaster.forecast(most, quantiles)
    fit = clock() - begun
    spent = 0.0
    means = np.empty((test, most, truth.shape[1]))
    by_quantile = np.empty((test, len(quantiles), most, truth.shape[1]))
    for place in range(test):
        begun = clock()
        means[place] = forecaster.forecast(most)
        spent += clock() - begun
        by_quantile[place] = forecaster.forecast(most, quantiles)
        forecaster.update(whole[known + place : known + place + 1])
        if told is not None:
            told(place + 1, test)
    made = tuple(
        Made(step, truth[known + step - 1 :], means[: test - step + 1, step - 1], _of(by_quantile, step))
        for step in steps
    )
    scores = tuple(_score(each, whole[:known], quantiles, season) for each in made)
    return Backtest(scores, made, fit, spent / test)


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
