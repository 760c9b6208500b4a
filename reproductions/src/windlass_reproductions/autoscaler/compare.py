"""Errors of forecasters on a series, one row ahead and as many rows ahead as a launch takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.policy.registry import capability
from windlass.scale.accuracy import mse, pmse
from windlass.scale.backtest import Made, backtest
from windlass.scale.forecast import Forecaster
from windlass.scale.forecast.scaling import ColumnScaling
from windlass_reproductions.autoscaler.data import Case
from windlass_reproductions.autoscaler.models import Setting
from windlass_reproductions.reproduction import Notify

_Floats = NDArray[np.float64]

STATIC = "static"
#: A backtest requires at least one quantile; the result is not used.
_QUANTILES = (0.5,)


@runtime_checkable
class Attending(Protocol):
    """A forecaster that reports its attention."""

    def attention(self) -> _Floats:
        """Return (w,) the attention that each row of a window gets, newest first; called once, after a backtest."""
        ...


class MeanForecaster:
    """A wrapper that returns a forecaster's mean in place of each quantile.

    Some forecasters need more time to estimate quantiles than to learn.

    Parameters
    ----------
    forecaster
        Wrapped forecaster.

    Examples
    --------
    >>> from windlass.scale.forecast import make
    >>> MeanForecaster(make("naive")).fit([[3.0], [5.0]]).forecast(1, [0.1, 0.9]).ravel().tolist()
    [5.0, 5.0]
    """

    def __init__(self, forecaster: Forecaster) -> None:
        self._forecaster = forecaster

    @property
    def least(self) -> int:
        """Smallest number of rows that the forecaster can learn from."""
        return self._forecaster.least

    def fit(self, series: ArrayLike) -> Self:
        """Fit the forecaster."""
        self._forecaster.fit(series)
        return self

    def forecast(self, steps: int, quantiles: Sequence[float] | None = None) -> _Floats:
        """Return the mean (steps, k), or with ``quantiles`` the same mean for each, (q, steps, k)."""
        mean = self._forecaster.forecast(steps)
        return mean if quantiles is None else np.repeat(mean[None], len(quantiles), axis=0)

    def update(self, new_rows: ArrayLike) -> None:
        """Pass new rows to the forecaster."""
        self._forecaster.update(new_rows)


@dataclass(frozen=True, slots=True)
class Error:
    """Errors of forecasts a fixed number of rows ahead; columns are scaled by their maximum in the training rows.

    Parameters
    ----------
    mse, pmse
        Mean squared error, and the part of it that comes from forecasts above the truth.
    above
        Mean squared error over only the values that were forecast too high; NaN if there is none.
    """

    mse: float
    pmse: float
    above: float


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Results of a forecaster on a series.

    Parameters
    ----------
    name
        Name of the forecaster.
    errors
        Errors at each of the case's numbers of rows ahead.
    truth, forecast
        (n, k) true values and forecasts one row ahead.
    fit
        Seconds of fitting; NaN for the static allocation.
    settings
        Description of the settings that differ from the defaults.
    attention
        (w,) attention, newest first; (0,) if the forecaster has none.
    """

    name: str
    errors: tuple[Error, ...]
    truth: _Floats
    forecast: _Floats
    fit: float
    settings: str = ""
    attention: _Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class ForecastComparison:
    """Results of all forecasters on a series; ``left_out`` has those not run, with the missing package of each."""

    case: Case
    found: tuple[Found, ...]
    left_out: tuple[tuple[str, str], ...]

    def mse(self, step: int) -> dict[str, float]:
        """Return the MSE of each forecaster at a number of rows ahead, given as index into the case's ``steps``."""
        return {each.name: each.errors[step].mse for each in self.found}

    def of(self, name: str) -> Found | None:
        """Return the results of a forecaster; None if it was not run."""
        return next((each for each in self.found if each.name == name), None)


def compare(case: Case, settings: Sequence[Setting], notify: Notify) -> ForecastComparison:
    """Run all forecasters whose packages are installed, and the static allocation; report the share done."""
    ready = [setting for setting in settings if not setting.missing()]
    left_out = tuple((setting.name, setting.missing()) for setting in settings if setting.missing())
    found = []
    for place, setting in enumerate(ready):
        notify(f"{case.name}: {setting.name}", place / len(ready))
        found.append(_one(case, setting))
    return ForecastComparison(case, (*found, static(case)), left_out)


def static(case: Case) -> Found:
    """Return the results of the paper's static allocation: always the maximum of the training rows."""
    known = len(case.rows) - case.test
    most = case.rows[:known].max(axis=0)
    truth = case.rows[known:]
    made = [
        Made(step, truth[step - 1 :], np.tile(most, (case.test - step + 1, 1)), np.empty(0))
        for step in case.steps
    ]
    errors = tuple(error_of(each, case.rows[:known]) for each in made)
    return Found(STATIC, errors, made[0].truth, made[0].mean, float("nan"))


def error_of(made: Made, learned: _Floats) -> Error:
    """Return the errors of forecasts, scaled by the training rows.

    >>> made = Made(1, np.array([[1.0], [4.0]]), np.array([[3.0], [2.0]]), np.empty(0))
    >>> error_of(made, np.array([[2.0]]))
    Error(mse=1.0, pmse=0.5, above=1.0)
    """
    scale = ColumnScaling.of(learned)
    truth, mean = scale.down(made.truth), scale.down(made.mean)
    over = mean > truth
    above = float(((mean - truth)[over] ** 2).mean()) if over.any() else float("nan")
    return Error(mse(truth, mean), pmse(truth, mean), above)


def _one(case: Case, setting: Setting) -> Found:
    forecaster = setting.make(case.seasons)
    result = backtest(
        MeanForecaster(forecaster), case.rows, case.test, case.steps, _QUANTILES, season=min(case.seasons)
    )
    learned = case.rows[: len(case.rows) - case.test]
    attending = capability(forecaster, Attending)
    return Found(
        setting.name,
        tuple(error_of(each, learned) for each in result.made),
        result.made[0].truth,
        result.made[0].mean,
        result.fit,
        setting.describe(),
        np.empty(0) if attending is None else attending.attention(),
    )
