"""A forecaster that is updated with the history of each view and refitted periodically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windlass.model import InputError
from windlass.model.values import number
from windlass.scale.forecast import Forecaster, make
from windlass.scale.view import ScaleView

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """When to refit a forecaster, and on how much history, s.

    Parameters
    ----------
    seasons
        Periods after which demand repeats.
    retrain
        Time between two fits.
    keep
        Length of the history to fit to; the latest part.

    Raises
    ------
    InputError
        A time is not above 0, or there is no season.
    """

    seasons: tuple[float, ...] = (DAY, 7 * DAY)
    retrain: float = 28 * DAY
    keep: float = 84 * DAY

    def __post_init__(self) -> None:
        if not self.seasons:
            raise InputError("seasons: none given, expected at least one time (s)")
        for name, value in (*(("seasons", each) for each in self.seasons), ("retrain", self.retrain)):
            number(name, value, 0.0, open_below=True)
        number("keep", self.keep, 0.0, open_below=True)


@dataclass(slots=True)
class ForecastInput:
    """Forecasts of the demand that follows a view's history.

    There is no forecast until the history covers the shortest season and has the rows that the forecaster
    needs. The forecaster is fitted again when time goes backwards or the types change.

    Parameters
    ----------
    forecaster
        Name of a forecaster, with ``options``; or an instance, which is refitted.
    schedule
        When to refit.
    options
        Parameters of a forecaster given by name.
    seed
        Seed of forecasters that use random numbers.
    """

    forecaster: str | Forecaster
    schedule: Schedule
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 1
    _made: Forecaster | None = None
    _fitted: bool = False
    _since: float = 0.0
    _last: float = 0.0
    _width: int = 0

    def at(self, view: ScaleView) -> Forecaster | None:
        """Return the forecaster, updated with all rows of the view; None if there is too little history."""
        rows = view.history
        if self._fitted and (view.now < self._last or rows.shape[1] != self._width):
            self._made, self._fitted = None, False
        new = round((view.now - self._last) / view.period) if self._fitted else 0
        due = view.now - self._since >= self.schedule.retrain or new > len(rows)
        if not self._fitted or due:
            self._learn(view)
        elif new > 0 and self._made is not None:
            self._made.update(rows[-new:])
        self._last = view.now
        return self._made if self._fitted else None

    def _learn(self, view: ScaleView) -> None:
        made = self._made or self._make(view.period)
        self._made = made
        shortest = min(self.schedule.seasons) / view.period
        kept = view.history[-max(1, round(self.schedule.keep / view.period)) :]
        if len(kept) < max(made.least, shortest):
            return
        made.fit(kept)
        self._fitted, self._since, self._width = True, view.now, kept.shape[1]

    def _make(self, period: float) -> Forecaster:
        if isinstance(self.forecaster, str):
            return make(self.forecaster, self._rows(period), self.seed, **self.options)
        return self.forecaster

    def _rows(self, period: float) -> Sequence[int]:
        return [max(2, round(season / period)) for season in self.schedule.seasons]


def seed_of(rng: np.random.Generator | None) -> int:
    """Return a seed for forecasters, drawn from the policy's generator."""
    return 1 if rng is None else int(rng.integers(1, 2**31))
