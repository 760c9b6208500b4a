"""Jobs over sites on real workers: the engine that the wide-area world simulates."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch import DispatchPolicy
from windlass.engines.live.book import ENDED, ON_THE_WAY, RESTS, WAITS, Book
from windlass.engines.live.executor import Ended, Event, Executor, Failed, Gone, Launch, Read
from windlass.engines.live.program import Program
from windlass.engines.live.result import LiveRun
from windlass.engines.live.work import Keep, Work
from windlass.model import PolicyError, TaskError
from windlass.model.fleet import Fleet, FleetJobs
from windlass.place.view import Placement, PlaceView

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: A policy that starts nothing while nothing runs is asked again this often, s, as it may wait for a time to come …
_ASK_AGAIN_S = 0.5
#: … and for so long, s, before the run is given up.
_PATIENCE_S = 30.0
#: How often a task may be lost with its worker, or with its input, before the run is given up; and how long, s, it
#: rests after the first time, doubled each time: it may be a while until a worker is known to be gone, and what
#: reads the data there fails at once until then.
_TRIES, _REST_S = 8, 0.25


@dataclass(frozen=True, slots=True)
class _Sent:
    """What a key stands for: a task, or its input on the way to a site (``run`` False)."""

    task: int
    worker: int
    run: bool
    reads: tuple[Read, ...] = ()


class LiveFleet:
    """Runs jobs over sites on an executor: see :class:`windlass.drive.Engine`.

    Parameters
    ----------
    fleet
        Sites and links; how many slots there are is the executor's affair.
    jobs
        The workload; times of submission count from when all input is loaded.
    executor
        Carries out what is decided.
    program
        What tasks do; by default they hold their slot as long as the workload says.
    dispatch
        Makes the policy that chooses among the workers of a site, given how many there are; None for the worker
        with the most free slots.
    decide_every
        Least time between decisions, s.
    progress
        Told the share of tasks that ended.

    Raises
    ------
    TaskError
        From :meth:`wait`: a task failed by its own error, or was lost too often.
    """

    def __init__(
        self,
        fleet: Fleet,
        jobs: FleetJobs,
        executor: Executor,
        *,
        program: Program | None = None,
        dispatch: Callable[[int], DispatchPolicy] | None = None,
        decide_every: float = 0.0,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self._executor, self._jobs, self._fleet = executor, jobs, fleet
        self._program = program or Program(jobs)
        self._book = Book(fleet, jobs, self._program, executor.workers)
        self._keys = itertools.count()
        self._sent: dict[int, _Sent] = {}
        self._held = np.zeros(len(executor.workers), np.int64)
        tasks = int(jobs.first[-1])
        self._launched, self._reported, self._begun, self._read, self._computed = np.full((5, tasks), np.nan)
        self._tries, self._source = np.zeros(tasks, np.int64), np.full(tasks, -1, np.int64)
        self._job_sent, self._carried = np.zeros(len(jobs)), np.zeros((len(fleet), len(fleet)))
        self._decide_every, self._progress = decide_every, progress
        self._reasons: dict[str, int] = {}
        self._decisions = 0
        # Until when: tasks that rest before they run again (True), or before their input is loaded again (False).
        self._resting: dict[tuple[int, bool], float] = {}
        maps, sites = jobs.shuffles == 0, np.arange(len(fleet))
        self._home = np.full(tasks, -1, np.int64)
        self._home[maps[self._book.stage]] = np.repeat(np.tile(sites, maps.sum()), jobs.here[maps].ravel())
        self._loads = np.zeros(tasks, np.int64)
        self._rows: _Ints = np.empty(0, np.int64)
        self._wanted = self._changed = False
        self._decided, self._wake_at = -np.inf, np.inf
        self._local = [
            [worker.number for worker in executor.workers if worker.site == site]
            for site in range(len(fleet))
        ]
        self._dispatch: list[DispatchPolicy | None] = [
            dispatch(len(own)) if dispatch is not None and len(own) > 1 else None for own in self._local
        ]
        self._zero = self._idle_since = 0.0
        self._prepared = False

    def prepare(self) -> None:
        """Load all input where the workload says that it lies; time 0 is when that is done."""
        for task in np.flatnonzero(self._home >= 0).tolist():
            self._load(task)
        while self._sent or self._resting:
            self._wake(self.now())
            for event in self._executor.poll(_REST_S):
                self._take(event)
        self._zero = self._executor.now()
        self._prepared = True

    def now(self) -> float:
        """Seconds since time 0."""
        return self._executor.now() - self._zero

    def wait(self) -> bool:
        """Go on until a decision is due; False when all jobs ended."""
        book, submit = self._book, self._jobs.submit
        if not self._prepared:
            self.prepare()
        while True:
            now = self.now()
            self._wake(now)
            self._wanted = self._wanted or now >= self._wake_at
            arrived = (submit <= now) & ~book.submitted
            if arrived.any():
                self._submit(arrived)
            if not np.isnan(book.end).any():
                return False
            # What has just happened is taken in before the policy is asked.
            while events := self._executor.poll(0.0):
                for event in events:
                    self._take(event)
            busy = bool(self._sent or self._resting) or not book.submitted.all()
            if busy:
                self._idle_since = now
            elif now - self._idle_since > _PATIENCE_S:
                left = int(np.isnan(book.end).sum())
                raise PolicyError(f"leaves tasks of {left} jobs waiting for ever")
            due = self._decided + self._decide_every
            if now >= due if self._wanted else not busy and now >= max(due, self._decided + _ASK_AGAIN_S):
                self._rows = book.ready_stages()
                self._wanted, self._wake_at = False, np.inf
                if len(self._rows):
                    return True
            next_submit = submit[~book.submitted].min(initial=np.inf) - now
            next_due = due - now if self._wanted and due > now else np.inf
            next_rest = min(self._resting.values(), default=np.inf) - now
            soonest = min(next_submit, next_due, next_rest, self._wake_at - now, _ASK_AGAIN_S)
            timeout = max(0.0, soonest)
            for event in self._executor.poll(timeout):
                self._take(event)

    def _wake(self, now: float) -> None:
        for task, runs in [rests for rests, until in self._resting.items() if until <= now]:
            del self._resting[task, runs]
            if runs:
                self._book.state[task] = WAITS
                self._wanted = True
            else:
                self._load(task)

    def view(self) -> PlaceView:
        """Sites, and the stages of which tasks wait."""
        return self._book.view(self.now(), self._rows, self._executor.in_use(), self._changed)

    def act(self, answer: Placement) -> None:
        """Start tasks and move input."""
        book, rows = self._book, self._rows
        book.check(rows, answer)
        self._decisions += 1
        self._decided, self._changed, self._wake_at = self.now(), False, answer.wake
        if answer.plan is not None:
            book.plan[rows] = answer.plan
        for index, source, site, tasks in answer.moves.tolist():
            for task in book.pick(int(rows[index]), source, tasks, False):
                self._move(task, site)
        for (index, source, site, tasks), code in zip(
            answer.starts.tolist(), answer.why.tolist(), strict=True
        ):
            reason = answer.reasons[code]
            self._reasons[reason] = self._reasons.get(reason, 0) + tasks
            for task in book.pick(int(rows[index]), source, tasks, answer.largest_first):
                self._start(task, site)

    def result(self) -> LiveRun:
        """What happened; of tasks that were sent more than once, the time that counted."""
        book, program = self._book, self._program
        results = tuple(
            (int(self._jobs.job[row]), row, task - int(self._jobs.first[row]), piece.handle)
            for row in range(len(self._jobs.job))
            if program.keeps_result(row)
            for task in book.tasks_of(row).tolist()
            for piece in book.output[task]
        )
        slots = book.by_site([worker.slots for worker in self._executor.workers])
        return LiveRun(
            dataclasses.replace(self._fleet, slots=slots),
            self._jobs,
            book.end,
            self._job_sent,
            self._carried,
            book.site,
            self._source,
            self._begun,
            self._read,
            self._computed,
            np.empty((0, 6)),
            np.empty((0, 4)),
            self._decisions,
            self._reasons,
            self._launched,
            self._reported,
            book.worker,
            self._tries,
            results,
        )

    def close(self) -> None:
        """Stop what was started."""
        self._executor.close()

    def _submit(self, arrived: NDArray[np.bool_]) -> None:
        book = self._book
        book.submitted |= arrived
        rows = np.isin(self._jobs.job, np.flatnonzero(arrived))
        book.since[rows] = self.now()
        self._wanted = True

    def _send(self, sent: _Sent, work: Work, *, bring: bool = False) -> None:
        key = next(self._keys)
        self._sent[key] = sent
        self._executor.launch(Launch(key, sent.worker, work, sent.reads, slot=sent.run, bring=bring))

    def _load(self, task: int) -> None:
        """Load a task's input where the workload says that it lies."""
        self._send(_Sent(task, self._holder(int(self._home[task])), False), self._program.load(task))

    def _holder(self, site: int) -> int:
        """The worker at a site, or else anywhere, that was given the least input so far."""
        alive = [number for number in self._local[site] if self._book.alive[number]]
        if not alive:
            alive = np.flatnonzero(self._book.alive).tolist()
        if not alive:
            raise TaskError("no worker is left")
        worker = min(alive, key=lambda number: int(self._held[number]))
        self._held[worker] += 1
        return worker

    def _move(self, task: int, site: int) -> None:
        book = self._book
        reads = book.reads(task)
        book.input_site[task] = ON_THE_WAY
        book.moved[self._jobs.job[book.stage[task]]] = True
        self._send(_Sent(task, self._holder(site), False, reads), Keep())

    def _start(self, task: int, site: int) -> None:
        book, row = self._book, int(self._book.stage[task])
        reads = book.reads(task)
        now = self.now()
        worker = self._choose(site, now)
        book.begin(task, worker, now)
        self._launched[task] = now
        self._tries[task] += 1
        self._source[task] = book.input_site[task]
        work = self._program.work(task, sum(read.size for read in reads))
        self._send(_Sent(task, worker, True, reads), work, bring=self._program.keeps_result(row))

    def _choose(self, site: int, now: float) -> int:
        own, policy = self._local[site], self._dispatch[site]
        if policy is not None:
            policy.arrived(now)
            chosen = own[policy.choose(self._book.busy[own])]
            if self._book.alive[chosen] and self._book.busy[chosen] < self._executor.workers[chosen].slots:
                return chosen
        free = [
            self._executor.workers[number].slots - self._book.busy[number]
            if self._book.alive[number]
            else -np.inf
            for number in own
        ]
        return own[int(np.argmax(free))]

    def _take(self, event: Event) -> None:
        self._wanted = True
        if isinstance(event, Gone):
            self._lose(event.worker)
            return
        sent = self._sent.pop(event.key, None)
        if sent is None:
            return  # Of a worker that is gone: it was sent anew since.
        if isinstance(event, Ended):
            self._end(sent, event)
        elif isinstance(event, Failed):
            self._fail(sent, event)

    def _end(self, sent: _Sent, event: Ended) -> None:
        book, task = self._book, sent.task
        site = self._executor.workers[event.pieces[0].worker].site if event.pieces else int(book.site[task])
        self._count(task, sent.reads, site)
        if not sent.run:
            book.input[task] = event.pieces[0]
            book.input_site[task] = site
            return
        self._begun[task], self._read[task], self._computed[task] = (
            event.begun - self._zero,
            event.read - self._zero,
            event.computed - self._zero,
        )
        self._reported[task] = self.now()
        worker = int(book.worker[task])
        book.finish(task, event.pieces, self._reported[task])
        policy = self._dispatch[int(book.site[task])]
        if policy is not None:
            work = float(self._jobs.estimate_s[book.stage[task]])
            local = self._local[int(book.site[task])].index(worker)
            policy.completed(local, work, max(event.computed - event.read, 1e-9))
        if self._progress is not None:
            self._progress(float((book.state == ENDED).mean()))

    def _count(self, task: int, reads: Sequence[Read], site: int) -> None:
        for read in reads:
            if read.site != site:
                self._carried[read.site, site] += read.size
                self._job_sent[self._jobs.job[self._book.stage[task]]] += read.size

    def _fail(self, sent: _Sent, event: Failed) -> None:
        book, task = self._book, sent.task
        if not event.lost:
            raise TaskError(f"{self._called(task)}: {event.why}")
        if sent.run:
            book.again(task, RESTS)
        else:
            self._loads[task] += 1
        tries = int((self._tries if sent.run else self._loads)[task])
        if tries >= _TRIES:
            raise TaskError(f"{self._called(task)}: lost {_TRIES} times; the last time: {event.why}")
        self._resting[task, sent.run] = self.now() + _REST_S * 2.0 ** (tries - 1)
        self._reload()

    def _reload(self) -> None:
        for task in self._book.to_load():
            self._load(task)

    def _called(self, task: int) -> str:
        jobs, row = self._jobs, int(self._book.stage[task])
        job = int(jobs.job[row])
        stage = row - int(np.searchsorted(jobs.job, job))
        return f"job {job + 1}, stage {stage + 1}, task {task - int(jobs.first[row]) + 1}"

    def _lose(self, worker: int) -> None:
        book = self._book
        if not book.alive[worker]:
            return
        book.lose(worker)
        self._changed = True
        site = self._executor.workers[worker].site
        for key in [key for key, sent in self._sent.items() if sent.worker == worker]:
            sent = self._sent.pop(key)
            if not sent.run:
                self._load(sent.task)
        self._reload()
        policy = self._dispatch[site]
        if policy is not None:
            # Only policies that remember workers need to be told.
            getattr(policy, "left", lambda _: None)(self._local[site].index(worker))


__all__ = ["LiveFleet", "LiveRun"]
