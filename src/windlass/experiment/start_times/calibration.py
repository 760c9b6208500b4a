"""Intervals of a stated coverage, from predictions that were scored before: split conformal prediction.

The corrections are quantiles of earlier errors of similar predictions (Romano, Patterson and Candès, *Conformalized
Quantile Regression*, 2019). Their level follows the observed share of misses, because a site changes (Gibbs and Candès,
*Adaptive Conformal Inference Under Distribution Shift*, 2021).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Errors are compared as logarithms of waits, to which this is added, s: a minute is as good as none.
OFFSET_S = 60.0
#: Scored predictions before an interval is given.
FEWEST = 30
#: Scored predictions that are kept, and how many of them, the most similar ones, correct a prediction.
_KEPT, _SIMILAR = 3000, 100
#: What is added before a logarithm is taken: to three waits, processors, request and wait.
_OFFSETS = np.array([OFFSET_S] * 3 + [1.0, OFFSET_S, OFFSET_S])
#: Share of immediate starts that must have been right, of the last of them, to call the next one certain.
_CERTAIN, _LAST_IMMEDIATE = 0.98, 500
#: The change of the level after a miss: larger after the first misses, and at least the second number.
_FIRST, _RATE = 0.1, 0.01
#: Bounds of the level of misses.
_LEAST, _MOST = 1e-3, 0.6
#: Groups of similar predictions that share a correction, when many are made at once.
_GROUPS = 64


@dataclass(frozen=True, slots=True)
class WaitForecast:
    """The remaining wait of a job, s: its median, and an interval.

    Parameters
    ----------
    low, median, high
        Not negative, in this order.

    Examples
    --------
    >>> WaitForecast(0.0, 60.0, 3600.0).contains(7200.0)
    False
    """

    low: float
    median: float
    high: float

    @property
    def immediate(self) -> bool:
        """Whether the job starts at once in all replays."""
        return self.high <= 0

    def contains(self, wait: float) -> bool:
        """Return whether a wait (s) is in the interval; to a microsecond, because waits are differences of times."""
        return self.low - 1e-6 <= wait <= self.high + 1e-6


@dataclass(frozen=True, slots=True)
class ReplayedWait:
    """The forecast of replays for a job, and what makes its error similar to that of other jobs.

    Parameters
    ----------
    forecast
        From the replays, not corrected.
    procs
        The job's processors.
    request
        Its requested time, s.
    """

    forecast: WaitForecast
    procs: int
    request: float

    def row(self) -> tuple[float, ...]:
        """Return low, median and high (s), processors and request (s)."""
        return self.forecast.low, self.forecast.median, self.forecast.high, float(self.procs), self.request


class Calibration:
    """Corrects the intervals of replays by the errors of earlier predictions of similar jobs.

    Where all replays start a job at once, and at least 30 such jobs have started at once so far, the start is
    certain. Certain predictions are not corrected, and do not count in the level: intervals of no width that are
    always right would permit more misses of the others.

    Parameters
    ----------
    level
        The share of waits that the intervals shall contain, above 0 and below 1.

    Examples
    --------
    >>> calibration = Calibration(0.9)
    >>> replayed = ReplayedWait(WaitForecast(100.0, 100.0, 100.0), procs=4, request=3600.0)
    >>> for wait in range(100, 200):
    ...     calibration.score(replayed, float(wait))
    >>> found = calibration.corrected([replayed])[0]
    >>> round(found.low), round(found.median), round(found.high)
    (104, 149, 195)
    """

    def __init__(self, level: float = 0.9) -> None:
        self.level = level
        self._misses, self._judged = 1 - level, 0
        self._waited, self._at_once = _Errors(), _Errors()
        self._immediate: deque[bool] = deque(maxlen=_LAST_IMMEDIATE)

    def ready(self, forecast: WaitForecast) -> bool:
        """Return whether enough predictions were scored to correct this one, or it is certain."""
        return (forecast.immediate and self._sure()) or self.scored(forecast) >= FEWEST

    def scored(self, forecast: WaitForecast) -> int:
        """Return the number of scored predictions by which this one is corrected, if there are enough."""
        return len(self._of(forecast))

    def miss(self, missed: bool) -> None:
        """Adapt the level: an interval contained the wait, or missed it."""
        self._judged += 1
        rate = max(_RATE, _FIRST / self._judged**0.6)
        wanted = 1 - self.level
        self._misses = float(np.clip(self._misses + rate * (wanted - missed), _LEAST, _MOST))

    def score(self, replayed: ReplayedWait, wait: float) -> None:
        """Remember a prediction of the replays and the wait (s) that came of it."""
        if replayed.forecast.immediate:
            self._immediate.append(replayed.forecast.contains(wait))
        self._of(replayed.forecast).add(np.log(np.array((*replayed.row(), wait)) + _OFFSETS))

    def corrected(self, replayed: Sequence[ReplayedWait]) -> list[WaitForecast]:
        """Return the forecasts with corrected medians and intervals; one that is not :meth:`ready` is unchanged."""
        rows = np.array([each.row() for each in replayed]).reshape(-1, 5)
        return [WaitForecast(*each) for each in self.corrected_rows(rows).tolist()]

    def corrected_rows(self, replayed: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what :meth:`corrected` does for many jobs at once.

        Parameters
        ----------
        replayed
            (n, 5) a :meth:`ReplayedWait.row` for each job.

        Returns
        -------
        NDArray
            (n, 3) low, median and high of each job, s.
        """
        found = replayed[:, :3].copy()
        at_once = found[:, 2] <= 0
        for errors, immediate in ((self._waited, False), (self._at_once, True)):
            rows = np.flatnonzero(at_once == immediate)
            if len(rows) == 0 or len(errors) < FEWEST or (immediate and self._sure()):
                continue
            given = np.log(replayed[rows] + _OFFSETS[:-1])
            for group in _groups(given):
                shift = errors.corrections(given[group].mean(axis=0), self._misses)
                low, median, high = (np.exp(given[group, :3] + shift) - OFFSET_S).T
                high = np.maximum(high, 0.0)
                low = np.clip(low, 0.0, high)
                found[rows[group]] = np.column_stack((low, np.clip(median, low, high), high))
        return found

    def _sure(self) -> bool:
        """Return whether immediate starts are certain."""
        return len(self._immediate) >= FEWEST and sum(self._immediate) >= _CERTAIN * len(self._immediate)

    def _of(self, forecast: WaitForecast) -> _Errors:
        return self._at_once if forecast.immediate else self._waited


class _Errors:
    """The last scored predictions, as logarithms: low, median, high, processors, request, and the wait."""

    def __init__(self) -> None:
        self._rows, self._count = np.empty((_KEPT, 6)), 0

    def __len__(self) -> int:
        return min(self._count, _KEPT)

    def add(self, row: NDArray[np.float64]) -> None:
        self._rows[self._count % _KEPT] = row
        self._count += 1

    def corrections(self, like: NDArray[np.float64], misses: float) -> NDArray[np.float64]:
        """Return what is added to the logarithms of low, median and high of a prediction like this."""
        known = self._rows[: len(self)]
        width, wanted = known[:, 2] - known[:, 0], like[2] - like[0]
        distance = np.abs(width - wanted) + np.abs(known[:, [1, 3, 4]] - like[[1, 3, 4]]).sum(axis=1)
        count = min(_SIMILAR, len(known))
        near = known[np.argpartition(distance, count - 1)[:count]]
        # The finite-sample correction of split conformal prediction.
        share = min(1.0, (1 - misses / 2) * (1 + 1 / count))
        low = -np.quantile(near[:, 0] - near[:, 5], share)
        high = np.quantile(near[:, 5] - near[:, 2], share)
        return np.array([low, np.median(near[:, 5] - near[:, 1]), high])


def _groups(given: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Return the rows in groups of similar medians: each row alone, if there are few."""
    order = np.argsort(given[:, 1], kind="stable")
    return np.array_split(order, min(len(order), _GROUPS))
