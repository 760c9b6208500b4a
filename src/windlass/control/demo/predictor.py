"""Predicts when the waiting batch jobs of a site start, from what the site has seen so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.control.demo.watches import LoadName
from windlass.control.journal import EventRecord, JobKey, PredictionRecord, StartRecord
from windlass.control.predicted_starts import PredictedStarts, kernels_of_replays, replay_policy
from windlass.experiment.start_times.calibration import Calibration
from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.question import StartPredictor
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload
from windlass.jit import Kernel
from windlass.model import JobTable
from windlass.policy.user_code import message_of
from windlass.sim.site.result import Replay

#: Simulated time between two rounds of predictions, and until a job is predicted again, s.
EVERY, AGAIN = 120.0, 600.0
#: Waiting jobs that a round replays, the first submitted ones, and jobs of the past that it uses.
MOST_WAITING, _MOST_ENDED = 300, 5_000


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
        self._predicted = PredictedStarts(lambda job: name.key(int(job)), calibration, AGAIN)
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
        names = [str(job) for job in view.waiting.job.tolist()]
        waiting = np.array([self._row[job] for job in view.waiting.job.tolist()], np.int64)
        running = np.array([self._row[job] for job in view.running.job.tolist()], np.int64)
        found: list[PredictionRecord | StartRecord | EventRecord] = list(
            self._predicted.started(self._begun(replay, set(names)), now)
        )
        due = self._predicted.due(names, now)
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

    def _begun(self, replay: Replay, waiting: set[str]) -> dict[str, float]:
        """Return the starts of predicted jobs that no longer wait."""
        predicted = self._predicted.waiting()
        begun = {job: float(replay.start[self._row[int(job)]]) for job in predicted - waiting}
        # A job that was killed after its start may wait again; its start is in the list of lost attempts.
        for place in range(self._lost, len(replay.lost)):
            job = str(int(replay.jobs.job[int(replay.lost[place])]))
            if job in predicted:
                begun[job] = float(replay.lost_start[place])
        self._lost = len(replay.lost)
        return begun

    def _predictions(
        self,
        now: float,
        replay: Replay,
        waiting: NDArray[np.int64],
        running: NDArray[np.int64],
        free: int,
        due: Iterable[str],
    ) -> Iterator[PredictionRecord]:
        some = waiting[np.argsort(replay.jobs.submit[waiting], kind="stable")][:MOST_WAITING]
        history = _history(now, replay, some, running, free)
        if history is not None:
            table = StartPredictor(history, self._policy, level=self._calibration.level).waiting(now)
            yield from self._predicted.predicted(table, due, now)


def replay_kernels(setting: ClusterSetting) -> tuple[Kernel, ...]:
    """Return the functions that the replays of all sites need, compiled before the simulation starts."""
    orders = (setting.chosen().of("order", site) for site in setting.sites)
    return kernels_of_replays([order for order in orders if order is not None])


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
