"""Predicts when the waiting batch jobs of a site start, from what the site has seen so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.control.demo.watches import LoadName
from windlass.control.journal import EventRecord, JobKey, PredictionRecord, StartRecord
from windlass.experiment.start_times.calibration import Calibration, ReplayedWait, WaitForecast
from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.question import StartPredictor
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload
from windlass.jit import Kernel
from windlass.model import JobTable
from windlass.order.site import POLICIES
from windlass.order.site.policies.conservative import Conservative
from windlass.policy.user_code import message_of
from windlass.sim.site.part import kernels
from windlass.sim.site.result import Replay

#: Simulated time between two rounds of predictions, and until a job is predicted again, s.
EVERY, AGAIN = 120.0, 600.0
#: Waiting jobs that a round replays, the first submitted ones, and jobs of the past that it uses.
MOST_WAITING, _MOST_ENDED = 300, 5_000
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


class SitePredictor:
    """Predicts the starts of the rigid jobs of one site, and calibrates by the predictions whose jobs have started.

    Parameters
    ----------
    name
        The load and its site.
    part
        The part of the simulation; its view and its result are read.
    order
        The policy that orders the queue.
    calibration
        The scored predictions of all sites of the engine.
    """

    def __init__(self, name: LoadName, part: Any, order: PolicySpec, calibration: Calibration) -> None:
        self._name, self._part, self._calibration = name, part, calibration
        self._policy = replay_policy(order)
        self._row = {int(job): row for row, job in enumerate(part.result().jobs.job.tolist())}
        #: By row: the first predictions to score, and the time of the latest prediction of each waiting job.
        self._open: dict[int, _Open] = {}
        self._latest: dict[int, float] = {}
        self._predicted: set[int] = set()
        self._round, self._lost, self._failure = -np.inf, 0, ""

    def look(self, now: float) -> list[PredictionRecord | StartRecord | EventRecord]:
        """Return the starts of predicted jobs since the call before, and new predictions.

        A prediction that fails is an event, once for each message, and the next round tries again.

        Parameters
        ----------
        now
            Time of the simulation, s; decisions of this instant have been made.
        """
        replay: Replay = self._part.result()
        view = self._part.view("order")
        waiting = np.array([self._row[job] for job in view.waiting.job.tolist()], np.int64)
        running = np.array([self._row[job] for job in view.running.job.tolist()], np.int64)
        found: list[PredictionRecord | StartRecord | EventRecord] = list(self._starts(now, replay, waiting))
        due = [row for row in waiting.tolist() if now - self._latest.get(row, -np.inf) >= AGAIN]
        if not due or now - self._round < EVERY:
            return found
        self._round = now
        try:
            found += self._predictions(now, replay, waiting, running, int(view.free), due)
        except Exception as error:
            # The engine goes on without predictions, whatever the cause.
            why = f"starts of {self._name.load} are not predicted: {message_of(error)}"
            if why != self._failure:
                found.append(EventRecord(now, JobKey(self._name.engine, self._name.site), "error", why))
            self._failure = why
        return found

    def _starts(self, now: float, replay: Replay, waiting: NDArray[np.int64]) -> Iterator[StartRecord]:
        """Yield the starts of predicted jobs, and score them."""
        begun = {row: float(replay.start[row]) for row in self._latest.keys() - set(waiting.tolist())}
        # A job that was killed after its start may wait again; its start is in the list of lost attempts.
        for place in range(self._lost, len(replay.lost)):
            row = int(replay.lost[place])
            if row in self._latest:
                begun[row] = float(replay.lost_start[place])
        self._lost = len(replay.lost)
        for row, start in sorted(begun.items(), key=lambda each: (each[1], each[0])):
            if start <= now:
                yield StartRecord(start, self._name.key(int(replay.jobs.job[row])))
                del self._latest[row]
        for row, each in list(self._open.items()):
            started = begun.get(row, np.inf)
            wait = started - each.at
            # An interval that has passed while the job waits is a miss that is known before the start.
            if each.judge and (started <= now or now > each.at + each.given.high):
                self._calibration.miss(not each.given.contains(wait))
                each.judge = False
            if started <= now:
                self._calibration.score(each.replayed, wait)
                del self._open[row]

    def _predictions(
        self,
        now: float,
        replay: Replay,
        waiting: NDArray[np.int64],
        running: NDArray[np.int64],
        free: int,
        due: Iterable[int],
    ) -> Iterator[PredictionRecord]:
        some = waiting[np.argsort(replay.jobs.submit[waiting], kind="stable")][:MOST_WAITING]
        history = _history(now, replay, some, running, free)
        if history is None:
            return
        table = StartPredictor(history, self._policy, level=self._calibration.level).waiting(now)
        replayed = {
            self._row[int(job)]: (ReplayedWait(WaitForecast(low, middle, high), procs, request), planned)
            for job, procs, request, low, middle, high, planned in table.select(
                "job", "procs", "request_s", "low_s", "median_s", "high_s", "planned_s"
            ).iter_rows()
        }
        for row in due:
            if row not in replayed:
                continue
            raw, planned = replayed[row]
            ready = self._calibration.ready(raw.forecast)
            given = self._calibration.corrected([raw])[0]
            first = row not in self._predicted
            yield PredictionRecord(
                now,
                self._name.key(int(replay.jobs.job[row])),
                now + given.low,
                now + given.median,
                now + given.high,
                now + planned,
                self._calibration.level,
                self._calibration.scored(raw.forecast),
                first,
            )
            self._latest[row] = now
            if first:
                self._predicted.add(row)
                self._open[row] = _Open(now, raw, given, judge=ready and not given.immediate)


def replay_policy(order: PolicySpec) -> PolicySpec:
    """Return the policy of the replays: a policy of Windlass itself, or else ``easy``.

    >>> replay_policy(PolicySpec(name="sjf")).name, replay_policy(PolicySpec(name="./mine.py")).name
    ('sjf', 'easy')
    """
    # A parameter may name a file, too, such as the priority of a queue.
    return order if order.name in POLICIES.names() and ".py" not in repr(order.parameters) else _OTHER


def replay_kernels(setting: ClusterSetting) -> tuple[Kernel, ...]:
    """Return the functions that the replays of all sites need, compiled before the simulation starts."""
    found: list[Kernel] = [Conservative.select]
    for site in setting.sites:
        order = setting.chosen().of("order", site)
        if order is not None:
            policy = replay_policy(order).make(POLICIES, np.random.default_rng(1))
            found += kernels(policy)
    return tuple(dict.fromkeys(found))


def _history(
    now: float, replay: Replay, waiting: NDArray[np.int64], running: NDArray[np.int64], free: int
) -> SiteHistory | None:
    """Return what is known at an instant; None if the site has no core for these jobs.

    The processors are the cores that jobs hold and those that are idle for them. Later times of the simulation's own
    tables are left out: run times, and ends that have not been reached.
    """
    jobs = replay.jobs
    processors = int(jobs.procs[running].sum()) + max(free, 0)
    if processors == 0:
        return None
    ended = np.isfinite(replay.end) & (replay.end <= now) & np.isfinite(replay.start)
    ended[running] = ended[waiting] = False
    past = np.flatnonzero(ended)
    past = past[np.argsort(replay.end[past], kind="stable")][-_MOST_ENDED:]
    start, end = np.full(len(jobs), np.inf), np.full(len(jobs), np.inf)
    start[past], end[past] = replay.start[past], replay.end[past]
    start[running] = replay.start[running]
    rows = np.sort(np.concatenate([past, running, waiting]))
    table = JobTable.of(
        submit=jobs.submit[rows],
        run=jobs.request[rows],
        # While fewer cores are there than a job needs, it waits for all of them.
        procs=np.minimum(jobs.procs[rows], processors),
        request=jobs.request[rows],
        job=jobs.job[rows],
    )
    return SiteHistory(Workload(table, processors), start[rows], end[rows])
