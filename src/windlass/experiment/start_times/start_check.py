"""How good predicted starts are: predictions at earlier instants, each with what was known then."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.experiment.start_times.calibration import Calibration, ReplayedWait, WaitForecast
from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.replays import planned_starts, replayed_starts
from windlass.model import InputError
from windlass.order.site import SitePolicy

#: Replays of a prediction.
DRAWS = 20
_SCORED, _JUDGED = range(2)


@dataclass(frozen=True, slots=True)
class StartAccuracy:
    """How good one kind of prediction was, over the predictions that had an interval.

    Parameters
    ----------
    predictions, contained
        Predictions with an interval, and those whose interval contained the wait.
    median_width, mean_width
        Of the intervals, s.
    mean_error, median_error
        Of the absolute differences between predicted and actual wait, s.
    """

    predictions: int
    contained: int
    median_width: float
    mean_width: float
    mean_error: float
    median_error: float

    @property
    def coverage(self) -> float:
        """Share of the intervals that contained the wait; NaN without any."""
        return self.contained / self.predictions if self.predictions else np.nan


@dataclass(frozen=True, slots=True, eq=False)
class StartCheck:
    """Predictions at earlier instants, and what came of them.

    Parameters
    ----------
    table
        A row per prediction: ``job``, ``at_s``, ``wait_s`` (actual), ``certain``; for the replays ``low_s``,
        ``median_s`` and ``high_s``; for Slurm's rule ``planned_s``, ``planned_low_s`` and ``planned_high_s``. An
        interval is missing while too few predictions were scored.
    calibration
        The calibration after all of them.
    """

    table: pl.DataFrame
    calibration: Calibration

    def of_replays(self) -> StartAccuracy:
        """Return the accuracy of the replays."""
        return _accuracy(self.table, "low_s", "median_s", "high_s")

    def of_plan(self) -> StartAccuracy:
        """Return the accuracy of Slurm's rule, with an interval that is calibrated in the same way."""
        return _accuracy(self.table, "planned_low_s", "planned_s", "planned_high_s")

    @property
    def certain(self) -> int:
        """Predictions of an immediate start on which all replays agreed."""
        return int(self.table["certain"].sum())

    @property
    def certain_right(self) -> int:
        """Those of them that started at once."""
        return self.table.filter(pl.col("certain") & (pl.col("wait_s") <= 1e-6)).height


def check_starts(
    history: SiteHistory,
    policy: Callable[[np.random.Generator], SitePolicy],
    rows: Iterable[int],
    *,
    level: float = 0.9,
    draws: int = DRAWS,
    seed: int = 1,
    progress: Callable[[int], None] | None = None,
) -> StartCheck:
    """Predict the start of jobs at their submission, and compare with their actual start.

    A prediction uses what was known at that instant alone: the state of the site, run times of the jobs that had
    ended, and the errors of predictions whose jobs had started.

    Parameters
    ----------
    history
        The site's jobs, with their starts.
    policy
        Makes the policy of the replays.
    rows
        The jobs to predict, in order of submission.
    level
        Share of the waits that the intervals shall contain.
    draws
        Replays of a prediction.
    seed
        Seed of the drawn run times and arrivals.
    progress
        Called with the number of jobs predicted so far.

    Raises
    ------
    InputError
        ``rows`` are not in order of submission, or one of these jobs has not started.
    """
    jobs = history.workload.jobs
    replays, plan = _Track(history.start, level), _Track(history.start, level)
    planned, predicted, before = [], [], -np.inf
    for number, row in enumerate(rows):
        now = float(jobs.submit[row])
        if now < before:
            raise InputError(
                f"check_starts: rows has job {history.workload.name_of(row)} after a later one, expected order"
            )
        if not np.isfinite(history.start[row]):
            raise InputError(
                f"check_starts: job {history.workload.name_of(row)} has not started, expected a job that has"
            )
        before = now
        rng = np.random.default_rng([seed, row])
        state = history.at(now)
        place = int(np.flatnonzero(state.waiting == row)[0])
        starts = replayed_starts(history, state, policy, draws, rng)[place]
        by_rule = float(planned_starts(history, state)[place] - now)
        shape = int(jobs.procs[row]), float(jobs.request[row])
        replays.predict(row, now, ReplayedWait(forecast_of(starts - now), *shape))
        plan.predict(row, now, ReplayedWait(WaitForecast(by_rule, by_rule, by_rule), *shape))
        predicted.append(row)
        planned.append(by_rule)
        if progress is not None:
            progress(number + 1)
    table = pl.DataFrame(
        {
            "job": pl.Series([history.workload.name_of(row) for row in predicted], dtype=pl.String),
            "at_s": jobs.submit[predicted],
            "wait_s": history.start[predicted] - jobs.submit[predicted],
            "certain": pl.Series(
                [given is not None and given.immediate for given in replays.given], dtype=pl.Boolean
            ),
            "low_s": replays.column("low"),
            "median_s": replays.column("median"),
            "high_s": replays.column("high"),
            "planned_s": pl.Series(planned, dtype=pl.Float64),
            "planned_low_s": plan.column("low"),
            "planned_high_s": plan.column("high"),
        }
    )
    return StartCheck(table, replays.calibration)


def forecast_of(waits: NDArray[np.float64]) -> WaitForecast:
    """Return the median of drawn waits, and the interval between their 5 % and 95 % quantiles.

    Parameters
    ----------
    waits
        (draws,) s.

    Examples
    --------
    >>> forecast_of(np.arange(101.0))
    WaitForecast(low=5.0, median=50.0, high=95.0)
    """
    return WaitForecast(*wait_quantiles(waits[None, :])[0].tolist())


def wait_quantiles(waits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the 5 % quantile, the median and the 95 % quantile of the drawn waits of several jobs.

    Parameters
    ----------
    waits
        (jobs, draws) s.

    Returns
    -------
    NDArray
        (jobs, 3) s.
    """
    return np.quantile(waits, (0.05, 0.5, 0.95), axis=1).T


class _Track:
    """Predictions of one kind, each corrected by the errors of those whose outcome was known by then."""

    def __init__(self, starts: NDArray[np.float64], level: float) -> None:
        self._starts, self.calibration = starts, Calibration(level)
        self._due: list[tuple[float, int, int]] = []
        self._at: list[tuple[int, float]] = []
        self._replayed: list[ReplayedWait] = []
        #: The corrected forecasts; None while too few predictions were scored.
        self.given: list[WaitForecast | None] = []

    def predict(self, row: int, now: float, replayed: ReplayedWait) -> None:
        self._learn(now)
        number, start = len(self.given), float(self._starts[row])
        ready = self.calibration.ready(replayed.forecast)
        given = self.calibration.corrected([replayed])[0] if ready else None
        self._at.append((row, now))
        self._replayed.append(replayed)
        self.given.append(given)
        heapq.heappush(self._due, (start, _SCORED, number))
        if given is not None and not given.immediate:
            # A job that still waits at the end of its interval is a miss that is known before it starts.
            heapq.heappush(self._due, (min(start, now + given.high), _JUDGED, number))

    def _learn(self, now: float) -> None:
        while self._due and self._due[0][0] <= now:
            _, what, number = heapq.heappop(self._due)
            row, at = self._at[number]
            wait, given = float(self._starts[row]) - at, self.given[number]
            if what == _SCORED:
                self.calibration.score(self._replayed[number], wait)
            elif given is not None:
                self.calibration.miss(not given.contains(wait))

    def column(self, name: str) -> pl.Series:
        found = [None if each is None else getattr(each, name) for each in self.given]
        return pl.Series(found, dtype=pl.Float64)


def _accuracy(table: pl.DataFrame, low: str, median: str, high: str) -> StartAccuracy:
    judged = table.filter(~pl.col("certain") & pl.col("high_s").is_not_null() & pl.col(high).is_not_null())
    waits = judged["wait_s"].to_numpy()
    lows, medians, highs = (judged[name].to_numpy() for name in (low, median, high))
    widths, errors = highs - lows, np.abs(medians - waits)
    if not len(waits):
        return StartAccuracy(0, 0, np.nan, np.nan, np.nan, np.nan)
    return StartAccuracy(
        len(waits),
        int(((waits >= lows - 1e-6) & (waits <= highs + 1e-6)).sum()),
        float(np.median(widths)),
        float(widths.mean()),
        float(errors.mean()),
        float(np.median(errors)),
    )
