"""Forecasters on a series: how far off each was, one row ahead and as many as a launch takes."""

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
#: Nobody looks at it: a backtest asks for one.
_QUANTILES = (0.5,)


@runtime_checkable
class Attending(Protocol):
    """A forecaster with attention."""

    def attention(self) -> _Floats:
        """Return (w,) how much of it each row of a window gets, newest first; called once, after a backtest."""
        ...


class Expected:
    """A forecaster that is asked for what it expects alone: quantiles are that, too.

    To find out how far off it is takes some forecasters longer than to learn.

    Parameters
    ----------
    made
        The forecaster.

    Examples
    --------
    >>> from windlass.scale.forecast import make
    >>> Expected(make("naive")).fit([[3.0], [5.0]]).forecast(1, [0.1, 0.9]).ravel().tolist()
    [5.0, 5.0]
    """

    def __init__(self, made: Forecaster) -> None:
        self._made = made

    @property
    def least(self) -> int:
        """As the forecaster's."""
        return self._made.least

    def fit(self, series: ArrayLike) -> Self:
        """As the forecaster's."""
        self._made.fit(series)
        return self

    def forecast(self, steps: int, quantiles: Sequence[float] | None = None) -> _Floats:
        """(steps, k), or (q, steps, k) with the same for each quantile."""
        mean = self._made.forecast(steps)
        return mean if quantiles is None else np.repeat(mean[None], len(quantiles), axis=0)

    def update(self, new_rows: ArrayLike) -> None:
        """As the forecaster's."""
        self._made.update(new_rows)


@dataclass(frozen=True, slots=True)
class Error:
    """How far off forecasts of so many rows ahead were; columns are scaled by their largest value to learn from.

    Parameters
    ----------
    mse, pmse
        PMSE is the part of the MSE that comes from forecasts above the truth.
    above
        The mean over those rows alone in which the forecast was above the truth; NaN where none was.
    """

    mse: float
    pmse: float
    above: float


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A forecaster on a series.

    Parameters
    ----------
    name
        Of the forecaster.
    errors
        By how many rows ahead, as the case has it.
    truth, forecast
        (n, k) of one row ahead.
    fit
        Seconds that it took to learn, NaN where there is nothing to.
    said
        Its settings where they are not the defaults.
    attention
        (w,) newest first, or (0,).
    """

    name: str
    errors: tuple[Error, ...]
    truth: _Floats
    forecast: _Floats
    fit: float
    said: str = ""
    attention: _Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """All forecasters on a series; ``left_out`` has those that were not run, and the package that each lacks."""

    case: Case
    found: tuple[Found, ...]
    left_out: tuple[tuple[str, str], ...]

    def mse(self, step: int) -> dict[str, float]:
        """By name, at one of the case's numbers of rows ahead, by its place."""
        return {each.name: each.errors[step].mse for each in self.found}

    def of(self, name: str) -> Found | None:
        """Of a forecaster, if it was run."""
        return next((each for each in self.found if each.name == name), None)


def compare(case: Case, settings: Sequence[Setting], notify: Notify) -> Compared:
    """Run all that can be run, and the static allocation; told the share of them that is done."""
    ready = [setting for setting in settings if not setting.missing()]
    left_out = tuple((setting.name, setting.missing()) for setting in settings if setting.missing())
    found = []
    for place, setting in enumerate(ready):
        notify(f"{case.name}: {setting.name}", place / len(ready))
        found.append(_one(case, setting))
    return Compared(case, (*found, static(case)), left_out)


def static(case: Case) -> Found:
    """As many as were ever needed in the rows to learn from, at all times: the paper's static allocation."""
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
    """How far off, scaled by what was learned from.

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
        Expected(forecaster), case.rows, case.test, case.steps, _QUANTILES, season=min(case.seasons)
    )
    learned = case.rows[: len(case.rows) - case.test]
    attending = capability(forecaster, Attending)
    return Found(
        setting.name,
        tuple(error_of(each, learned) for each in result.made),
        result.made[0].truth,
        result.made[0].mean,
        result.fit,
        setting.said(),
        np.empty(0) if attending is None else attending.attention(),
    )
