"""Jobs with a daily and a weekly cycle: more by day than by night, and fewer at weekends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.values import number
from windlass.model.vectors import VectorJobs

_DAY = 86_400.0
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Shape:
    """A resource request, GPUs, cores and bytes, and its weight among all shapes."""

    gpus: float = 0.0
    cores: float = 1.0
    memory: float = 0.0
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Season:
    """Arrivals and run times of jobs.

    Parameters
    ----------
    days
        Number of days, the first a Monday.
    per_hour
        Jobs per hour, on average over a week.
    daily
        Relative amplitude of the daily cycle, which is highest at 15:00 and lowest at 03:00.
    weekend
        Arrivals on Saturdays and Sundays relative to other days.
    batch
        Mean number of jobs submitted together (a geometric distribution).
    run
        Median run time, s.
    spread
        Standard deviation of the logarithm of the run time.

    Raises
    ------
    InputError
        A number is out of bounds.
    """

    days: float = 28.0
    per_hour: float = 30.0
    daily: float = 0.8
    weekend: float = 0.4
    batch: float = 1.0
    run: float = 1800.0
    spread: float = 1.0

    def __post_init__(self) -> None:
        for name in ("days", "per_hour", "run"):
            number(name, getattr(self, name), 0.0, open_below=True)
        number("daily", self.daily, 0.0, 1.0)
        number("weekend", self.weekend, 0.0, 1.0)
        number("batch", self.batch, 1.0)
        number("spread", self.spread, 0.0)

    def intensity(self, time: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rate in jobs per hour at each time, s from the first midnight.

        >>> Season(per_hour=10.0, daily=0.5, weekend=1.0).intensity(np.array([15.0, 3.0]) * 3600).tolist()
        [15.0, 5.0]
        """
        day = 1.0 + self.daily * np.cos(2.0 * np.pi * (time / _DAY - 15.0 / 24.0))
        weekend = np.where((time // _DAY).astype(np.int64) % 7 >= 5, self.weekend, 1.0)
        return np.asarray(self.per_hour * day * weekend * 7.0 / (5.0 + 2.0 * self.weekend))


def seasonal(season: Season, shapes: Sequence[Shape], rng: np.random.Generator) -> VectorJobs:
    """Generate jobs: a Poisson process whose rate follows the season.

    Parameters
    ----------
    season
        Arrivals and run times.
    shapes
        The resource requests.
    rng
        The random generator.

    Raises
    ------
    InputError
        There is no shape, a weight is negative, or no job is drawn.

    Examples
    --------
    >>> jobs = seasonal(Season(days=7.0, per_hour=60.0), [Shape(cores=2.0)], np.random.default_rng(1))
    >>> 9_500 < len(jobs) < 10_500
    True
    """
    weights = np.array([number("weight", shape.weight, 0.0) for shape in shapes])
    if not weights.any():
        raise InputError("shapes: expected at least one with a weight above 0")
    submit = _times(season, rng)
    count = len(submit)
    if not count:
        raise InputError(f"no job is drawn in {season.days:g} days at {season.per_hour:g} per hour")
    requests = np.array([(shape.gpus, shape.cores, shape.memory) for shape in shapes], np.float64)
    chosen = requests[rng.choice(len(shapes), count, p=weights / weights.sum())]
    run = season.run * np.exp(rng.normal(0.0, season.spread, count))
    return VectorJobs(np.arange(1, count + 1), submit, run, chosen, np.full(count, np.inf))


def _times(season: Season, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw arrivals at the highest rate, and keep each with the probability that gives the rate at its time."""
    until = season.days * _DAY
    highest = float(season.intensity(np.arange(0.0, until, 600.0)).max()) / season.batch
    drawn = np.sort(rng.uniform(0.0, until, rng.poisson(highest * until / _HOUR)))
    accepted = drawn[rng.uniform(0.0, highest, len(drawn)) * season.batch < season.intensity(drawn)]
    return np.repeat(accepted, rng.geometric(1.0 / season.batch, len(accepted)))
