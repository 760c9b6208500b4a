"""Predictions of when waiting jobs start: which are due, how they are calibrated, and how they are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from windlass.control.journal import JobKey, PredictionRecord, PredictionsVoided, StartRecord
from windlass.experiment.start_times.calibration import Calibration, ReplayedWait, WaitForecast
from windlass.experiment.worlds.policy import PolicySpec
from windlass.jit import Kernel
from windlass.order.site import POLICIES
from windlass.order.site.policies.conservative import Conservative
from windlass.sim.site.part import kernels

#: The policy of the replays if the site's own one is from a file: a module may have a state of its own.
_OTHER = PolicySpec(name="easy")


@dataclass(slots=True)
class _Open:
    """The first prediction of a job that has not started."""

    at: float
    replayed: ReplayedWait
    given: WaitForecast
    #: Whether the interval counts in the level of the calibration, and was not judged yet.
    judge: bool


class PredictedStarts:
    """The predictions of the waiting jobs of one site, calibrated by those whose jobs have started.

    Parameters
    ----------
    key
        Returns the key of a job in the journal.
    calibration
        The scored predictions.
    again
        Time until a job is predicted again, s.

    Examples
    --------
    >>> starts = PredictedStarts(lambda job: JobKey("slurm", "iowa", job), Calibration(), 600.0)
    >>> table = pl.DataFrame({"job": ["7"], "procs": [4], "request_s": [60.0], "low_s": [5.0], "median_s": [6.0],
    ...     "high_s": [9.0], "planned_s": [60.0]})
    >>> [(row.low, row.high, row.first) for row in starts.predicted(table, ["7"], 100.0)]
    [(105.0, 109.0, True)]
    >>> starts.due(["7", "8"], 200.0), [row.time for row in starts.started({"7": 107.0}, 200.0)]
    (['8'], [107.0])
    """

    def __init__(self, key: Callable[[str], JobKey], calibration: Calibration, again: float) -> None:
        self._key, self._calibration, self._again = key, calibration, again
        #: By job: the first predictions to score, and the time of the latest prediction of each waiting job.
        self._open: dict[str, _Open] = {}
        self._latest: dict[str, float] = {}
        self._predicted: set[str] = set()

    def restore(self, rows: Sequence[PredictionRecord]) -> None:
        """Take note of predictions of waiting jobs that a process before has made."""
        for row in rows:
            self._latest[row.job.id] = row.time
            self._predicted.add(row.job.id)

    def waiting(self) -> set[str]:
        """Return the predicted jobs that have not started."""
        return set(self._latest)

    def latest(self, job: str) -> float:
        """Return the time of the latest prediction of a waiting job, s; minus infinity without any."""
        return self._latest.get(job, -np.inf)

    def due(self, waiting: Iterable[str], now: float) -> list[str]:
        """Return the jobs of these that are to be predicted."""
        return [job for job in waiting if now - self.latest(job) >= self._again]

    def started(self, begun: Mapping[str, float], now: float) -> Iterator[StartRecord]:
        """Yield the starts of predicted jobs, and score them.

        Parameters
        ----------
        begun
            Times of the starts, s; later ones than now, and those of jobs that were not predicted, are ignored.
        now
            The time, s.
        """
        for job, start in sorted(begun.items(), key=lambda each: (each[1], len(each[0]), each[0])):
            if start <= now and self._latest.pop(job, None) is not None:
                yield StartRecord(start, self._key(job))
        for job, each in list(self._open.items()):
            started = begun.get(job, np.inf)
            wait = started - each.at
            # An interval that has passed while the job waits is a miss that is known before the start.
            if each.judge and (started <= now or now > each.at + each.given.high):
                self._calibration.miss(not each.given.contains(wait))
                each.judge = False
            if started <= now:
                self._calibration.score(each.replayed, wait)
                del self._open[job]

    def cancelled(self, jobs: Iterable[str], now: float) -> Iterator[PredictionsVoided]:
        """Yield, for each of these predicted jobs, that it will not start; its prediction is not scored."""
        for job in jobs:
            if self._latest.pop(job, None) is not None:
                self._open.pop(job, None)
                key = self._key(job)
                yield PredictionsVoided(now, key.engine, key)

    def forget(self, jobs: Iterable[str]) -> None:
        """Forget jobs that will not wait again."""
        self._predicted.difference_update(jobs)

    def predicted(self, table: pl.DataFrame, due: Iterable[str], now: float) -> Iterator[PredictionRecord]:
        """Yield the predictions of jobs that are due.

        Parameters
        ----------
        table
            The answer of :meth:`~windlass.experiment.start_times.question.StartPredictor.waiting` at this time,
            without a calibration.
        due
            The jobs; those without a row have no prediction.
        now
            The time, s.
        """
        columns = ("job", "procs", "request_s", "low_s", "median_s", "high_s", "planned_s")
        replayed = {
            job: (ReplayedWait(WaitForecast(low, middle, high), procs, request), planned)
            for job, procs, request, low, middle, high, planned in table.select(columns).iter_rows()
        }
        for job in due:
            if job not in replayed:
                continue
            raw, planned = replayed[job]
            ready = self._calibration.ready(raw.forecast)
            given = self._calibration.corrected([raw])[0]
            first = job not in self._predicted
            yield PredictionRecord(
                now,
                self._key(job),
                now + given.low,
                now + given.median,
                now + given.high,
                now + planned,
                self._calibration.level,
                self._calibration.scored(raw.forecast),
                first,
            )
            self._latest[job] = now
            if first:
                self._predicted.add(job)
                self._open[job] = _Open(now, raw, given, judge=ready and not given.immediate)


def replay_policy(order: PolicySpec) -> PolicySpec:
    """Return the policy of the replays: a policy of Windlass itself, or else ``easy``.

    >>> replay_policy(PolicySpec(name="sjf")).name, replay_policy(PolicySpec(name="./mine.py")).name
    ('sjf', 'easy')
    """
    # A parameter may name a file, too, such as the priority of a queue.
    return order if order.name in POLICIES.names() and ".py" not in repr(order.parameters) else _OTHER


def kernels_of_replays(orders: Iterable[PolicySpec]) -> tuple[Kernel, ...]:
    """Return the functions that replays under these policies need, to be compiled before threads are started."""
    found: list[Kernel] = [Conservative.select]
    for order in orders:
        found += kernels(replay_policy(order).make(POLICIES, np.random.default_rng(1)))
    return tuple(dict.fromkeys(found))
