"""The state of a live engine: waiting, running and finished tasks, and the location of data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.engines.live.executor import Piece, SiteRead, Worker
from windlass.engines.live.program import LiveProgram
from windlass.model.fleet import Fleet, FleetJobs
from windlass.place.view import PlaceView, Ready, Sites
from windlass.sim.fleet.durations import Estimates, MeasuredDurations
from windlass.sim.fleet.view import following_work

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

WAITS, RUNS, ENDED, RESTS = range(4)
#: Site number of input that is being loaded or moved.
ON_THE_WAY = -2


class LiveBook:
    """State of jobs over sites: rows are stages, columns sites.

    It starts and stops no tasks. The engine records events in it, and reads from it what a task reads and the view of
    a policy. :class:`~windlass.engines.live.recovery.Losses` undoes entries after a failure.
    """

    def __init__(
        self,
        fleet: Fleet,
        jobs: FleetJobs,
        program: LiveProgram,
        workers: Sequence[Worker],
        estimates: Estimates = "true",
    ) -> None:
        n, tasks, stages = len(fleet), int(jobs.first[-1]), len(jobs.job)
        self.fleet, self.jobs, self.program, self.workers = fleet, jobs, program, workers
        self.stage: _Ints = program.stage
        self.alive = np.ones(len(workers), bool)
        self.busy = np.zeros(len(workers), np.int64)
        self.submitted = np.zeros(len(jobs), bool)
        self.end = np.full(len(jobs), np.nan)
        self.left = np.bincount(jobs.job, minlength=len(jobs)).astype(np.int64)
        self.state = np.zeros(tasks, np.int64)
        self.site, self.worker = np.full((2, tasks), -1, np.int64)
        self.input_site = np.where(jobs.shuffles[self.stage] > 0, -1, ON_THE_WAY)
        self.input: list[Piece | None] = [None] * tasks
        self.output: list[tuple[Piece, ...]] = [()] * tasks
        self.done = np.zeros(stages, np.int64)
        self.begun = np.zeros(stages, np.int64)
        self.since = np.zeros(stages)
        self.running, self.started = np.zeros((2, stages, n), np.int64)
        self.plan = np.full((stages, n), -1, np.int64)
        self.moved = np.zeros(len(jobs), bool)
        self.parents: list[list[int]] = [[] for _ in range(stages)]
        self._part: dict[tuple[int, int], int] = {}
        for row in range(stages):
            at = 0
            for child in program.children(row):
                self.parents[child].append(row)
                self._part[row, child] = at
                at += int(jobs.tasks[child])
        self.durations = MeasuredDurations(jobs, estimates)
        self._order = [
            np.concatenate(
                [first + np.argsort(key[first:last], kind="stable") for first, last in self._spans()]
            )
            for key in (np.zeros(tasks), -jobs.size)
        ]
        self._largest = np.zeros(stages, np.int64)

    def _spans(self) -> Iterator[tuple[int, int]]:
        return zip(self.jobs.first[:-1].tolist(), self.jobs.first[1:].tolist(), strict=True)

    def tasks_of(self, row: int) -> _Ints:
        """Return a stage's tasks in the order in which they start."""
        order: _Ints = self._order[self._largest[row]]
        return order[self.jobs.first[row] : self.jobs.first[row + 1]]

    def complete(self, row: int) -> bool:
        """Return whether all tasks of a stage have ended."""
        return bool(self.done[row] == self.jobs.tasks[row])

    def is_ready(self, row: int) -> bool:
        """Return whether tasks of a stage may start: its job is submitted, and all of its input is written."""
        return bool(self.submitted[self.jobs.job[row]]) and all(
            self.complete(parent) for parent in self.parents[row]
        )

    def waiting(self, row: int) -> _Ints:
        """Return the tasks of a stage that could start now."""
        tasks = self.tasks_of(row)
        found: _Ints = tasks[(self.state[tasks] == WAITS) & (self.input_site[tasks] != ON_THE_WAY)]
        return found

    def ready_stages(self) -> _Ints:
        """Return the stages with tasks that could start now."""
        open_jobs = np.flatnonzero(self.submitted & np.isnan(self.end))
        rows = np.flatnonzero(np.isin(self.jobs.job, open_jobs))
        return np.array(
            [row for row in rows.tolist() if self.is_ready(row) and len(self.waiting(row))], np.int64
        )

    def slots(self) -> _Ints:
        """Return (n,) slots of live workers."""
        return self.by_site([worker.slots if self.alive[worker.number] else 0 for worker in self.workers])

    def free(self) -> _Ints:
        """Return (n,) slots that no task holds."""
        return np.maximum(
            self.by_site(
                [
                    worker.slots - int(self.busy[worker.number]) if self.alive[worker.number] else 0
                    for worker in self.workers
                ]
            ),
            0,
        )

    def by_site(self, values: list[int]) -> _Ints:
        """Return (n,) sums over the workers of each site."""
        sites = [worker.site for worker in self.workers]
        return np.bincount(sites, values, minlength=len(self.fleet)).astype(np.int64)

    def view(
        self, now: float, rows: _Ints, in_use: tuple[_Floats, _Floats], changed: bool, moved: bool
    ) -> PlaceView:
        """Return the view of a policy."""
        jobs, n = self.jobs, len(self.fleet)
        waiting = np.array([len(self.waiting(row)) for row in rows.tolist()], np.int64)
        here, data = np.zeros((len(rows), n), np.int64), np.zeros((len(rows), n))
        for at, row in enumerate(rows.tolist()):
            if jobs.shuffles[row]:
                data[at] = self.written(row) * (waiting[at] / jobs.tasks[row])
            else:
                here[at] = np.bincount(self.input_site[self.waiting(row)], minlength=n)
                data[at] = here[at] * jobs.task_bytes[row]
        own, task_s = jobs.job[rows], self.durations.seconds()
        ready = Ready(
            job=own,
            left=self.left[own],
            shuffles=jobs.shuffles[rows],
            total=jobs.tasks[rows],
            waiting=waiting,
            task_s=task_s[rows],
            next_work=following_work(jobs, task_s)[rows],
            ratio=jobs.ratio[rows],
            since=self.since[rows],
            here=here,
            data=data,
            started=self.started[rows],
            running=self.running[rows],
            plan=self.plan[rows],
        )
        up, down = self.fleet.up.copy(), self.fleet.down.copy()
        free_links = np.maximum(up - in_use[0], 0.0), np.maximum(down - in_use[1], 0.0)
        sites = Sites(self.slots(), self.free(), up, down, *free_links)
        fresh = (self.begun[rows] == 0) & (waiting == jobs.tasks[rows]) & ~self.moved[own]
        return PlaceView(now, sites, ready, fresh.astype(np.int64), changed, moved)

    def written(self, row: int) -> _Floats:
        """Return (n,) bytes that a shuffle's parents wrote for it, by site."""
        total = np.zeros(len(self.fleet))
        for parent in self.parents[row]:
            first = self._part[parent, row]
            for task in self.tasks_of(parent).tolist():
                for piece in self.output[task][first : first + int(self.jobs.tasks[row])]:
                    total[self.workers[piece.worker].site] += piece.size
        return total

    def reads(self, task: int) -> tuple[SiteRead, ...]:
        """Return what a task reads, by site."""
        row = int(self.stage[task])
        piece = self.input[task]
        if piece is not None:
            return (SiteRead(self.workers[piece.worker].site, piece.size, (piece,)),)
        found: dict[int, list[Piece]] = {}
        for parent in self.parents[row]:
            part = self._part[parent, row] + task - int(self.jobs.first[row])
            for other in self.tasks_of(parent).tolist():
                own = self.output[other][part]
                found.setdefault(self.workers[own.worker].site, []).append(own)
        return tuple(
            SiteRead(site, sum(piece.size for piece in pieces), tuple(pieces))
            for site, pieces in sorted(found.items())
        )

    def pick(self, row: int, source: int, tasks: int, largest_first: bool) -> list[int]:
        """Return the next tasks of a stage from this source."""
        if self.begun[row] == 0:
            self._largest[row] = largest_first
        waiting = self.waiting(row)
        return [int(task) for task in waiting[self.input_site[waiting] == source][:tasks]]

    def begin(self, task: int, worker: int, now: float) -> None:
        """Record that a task was sent to a worker."""
        row, site = int(self.stage[task]), self.workers[worker].site
        self.state[task], self.site[task], self.worker[task] = RUNS, site, worker
        self.busy[worker] += 1
        self.begun[row] += 1
        self.running[row, site] += 1
        self.started[row, site] += 1
        self.since[row] = now

    def leave(self, task: int) -> None:
        """Release a running task's slot."""
        row = int(self.stage[task])
        self.busy[self.worker[task]] -= 1
        self.running[row, self.site[task]] -= 1

    def finish(self, task: int, pieces: tuple[Piece, ...], now: float) -> bool:
        """Record the end of a task; return whether to order jobs again, as its job has ended or a stage can start."""
        row = int(self.stage[task])
        self.leave(task)
        self.state[task], self.output[task] = ENDED, pieces
        self.done[row] += 1
        if not self.complete(row):
            return False
        job, children = int(self.jobs.job[row]), self.program.children(row)
        self.left[job] -= 1
        for child in children:
            self.since[child] = now
        if self.left[job] == 0:
            self.end[job] = now
            self._forget(job)
            return True
        # A stage without children makes nothing ready: the order remains, as in the simulator.
        return any(self.is_ready(child) for child in children)

    def _forget(self, job: int) -> None:
        # The data of a finished job is no longer needed.
        for row in np.flatnonzero(self.jobs.job == job).tolist():
            for task in self.tasks_of(row).tolist():
                self.input[task] = None
                if not self.program.keeps_result(row):
                    self.output[task] = ()
