"""Jobs over the sites of a fleet on real workers, as the simulator runs them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch import DispatchPolicy
from windlass.engines.live.book import ENDED, LiveBook
from windlass.engines.live.executor import Event, Executor, Failed, Gone, SiteRead, TaskEnded
from windlass.engines.live.program import LiveProgram
from windlass.engines.live.result import LiveRun
from windlass.engines.live.transfers import REST_S, Sent, Transfers
from windlass.model import PolicyError
from windlass.model.fleet import Fleet, FleetJobs
from windlass.place import POLICIES as PLACE
from windlass.place.view import Placement, PlaceView
from windlass.policy.answers import expect_answer
from windlass.sim.fleet.durations import Estimates

_Ints = NDArray[np.int64]

#: Interval at which a policy that starts no task while nothing runs is called again, s: it may wait for a time …
_ASK_AGAIN_S = 0.5
#: … and the time after which the run fails, s.
_PATIENCE_S = 30.0


class LiveFleet:
    """Runs jobs over sites on an executor: see :class:`windlass.drive.Engine`.

    Parameters
    ----------
    fleet
        Sites and links; the executor determines the number of slots.
    jobs
        The workload; submit times count from when all input is loaded.
    executor
        Carries out decisions.
    program
        The work of tasks; by default they hold their slot for the workload's duration.
    dispatch
        Makes the policy that chooses among a site's workers, from their number; None for the worker with the most
        free slots.
    decide_every
        Minimum time between decisions, s.
    estimates
        Estimated computing time of a task, as in the simulator (:class:`windlass.sim.fleet.part.PlacedFleet`).
    progress
        Called with the share of tasks that ended.

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
        program: LiveProgram | None = None,
        dispatch: Callable[[int], DispatchPolicy] | None = None,
        decide_every: float = 0.0,
        estimates: Estimates = "true",
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self._executor, self._jobs, self._fleet = executor, jobs, fleet
        self._program = program or LiveProgram(jobs)
        self._book = LiveBook(fleet, jobs, self._program, executor.workers, estimates)
        self._transfers = Transfers(self._book, executor, self.now, dispatch)
        self._reported, self._started, self._read, self._computed = np.full((4, int(jobs.first[-1])), np.nan)
        self._job_sent, self._carried = np.zeros(len(jobs)), np.zeros((len(fleet), len(fleet)))
        self._decide_every, self._progress = decide_every, progress
        self._reasons: dict[str, int] = {}
        self._decisions = 0
        self._rows: _Ints = np.empty(0, np.int64)
        self._wanted = self._changed = self._moved = False
        self._decided, self._wake_at = -np.inf, np.inf
        self._view_at = 0.0
        self._zero = self._idle_since = 0.0
        self._prepared = False

    def prepare(self) -> None:
        """Load all input at the sites of the workload; time 0 is when this is done."""
        self._transfers.load_all()
        while self._transfers.busy:
            self._wanted |= self._transfers.wake(self.now())
            for event in self._executor.poll(REST_S):
                self._take(event)
        self._zero = self._executor.now()
        self._prepared = True

    def now(self) -> float:
        """Return the seconds since time 0."""
        return self._executor.now() - self._zero

    def wait(self) -> str | None:
        """Wait until a placement is due; return None when all jobs have ended."""
        book, submit = self._book, self._jobs.submit
        if not self._prepared:
            self.prepare()
        while True:
            now = self.now()
            self._wanted |= self._transfers.wake(now) or now >= self._wake_at
            arrived = (submit <= now) & ~book.submitted
            if arrived.any():
                self._submit(arrived)
            if not np.isnan(book.end).any():
                return None
            # All pending events are recorded before the policy is called.
            while events := self._executor.poll(0.0):
                for event in events:
                    self._take(event)
            busy = self._transfers.busy or not book.submitted.all()
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
                    return PLACE.key
            next_submit = submit[~book.submitted].min(initial=np.inf) - now
            next_due = due - now if self._wanted and due > now else np.inf
            next_rest = self._transfers.wakes() - now
            soonest = min(next_submit, next_due, next_rest, self._wake_at - now, _ASK_AGAIN_S)
            timeout = max(0.0, soonest)
            for event in self._executor.poll(timeout):
                self._take(event)

    def view(self, decision: str) -> PlaceView:
        """Return the sites, and the stages with waiting tasks."""
        self._view_at = self.now()
        return self._view()

    def act(self, decision: str, answer: Placement) -> None:
        """Start tasks and move input."""
        book, rows = self._book, self._rows
        # Check against a fresh view, because the policy may have modified the one that it was given.
        expect_answer(answer, Placement).check(self._view())
        self._decisions += 1
        self._decided, self._changed, self._moved = self.now(), False, False
        self._wake_at = answer.wake
        if answer.plan is not None:
            book.plan[rows] = answer.plan
        for index, source, site, tasks in answer.moves.tolist():
            for task in book.pick(int(rows[index]), source, tasks, False):
                self._transfers.move(task, site)
        for (index, source, site, tasks), code in zip(
            answer.starts.tolist(), answer.why.tolist(), strict=True
        ):
            reason = answer.reasons[code]
            self._reasons[reason] = self._reasons.get(reason, 0) + tasks
            for task in book.pick(int(rows[index]), source, tasks, answer.largest_first):
                self._transfers.start(task, site)

    def _view(self) -> PlaceView:
        in_use = self._executor.in_use()
        return self._book.view(self._view_at, self._rows, in_use, self._changed, self._moved)

    def result(self) -> LiveRun:
        """Return the outcome; for tasks that were sent more than once, the times of the attempt that counted."""
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
            fleet=dataclasses.replace(self._fleet, slots=slots),
            jobs=self._jobs,
            end=book.end,
            sent=self._job_sent,
            carried=self._carried,
            site=book.site,
            source=self._transfers.source,
            begun=self._started,
            read=self._read,
            computed=self._computed,
            flows=np.empty((0, 6)),
            rates=np.empty((0, 4)),
            decisions=self._decisions,
            reasons=self._reasons,
            jobs_reported=0,
            subjobs_reported=0,
            launched=self._transfers.launched,
            reported=self._reported,
            worker=book.worker,
            tries=self._transfers.tries,
            results=results,
        )

    def close(self) -> None:
        """Close the executor."""
        self._executor.close()

    def _submit(self, arrived: NDArray[np.bool_]) -> None:
        book = self._book
        book.submitted |= arrived
        rows = np.isin(self._jobs.job, np.flatnonzero(arrived))
        book.since[rows] = self.now()
        self._wanted = self._moved = True

    def _take(self, event: Event) -> None:
        self._wanted = True
        if isinstance(event, Gone):
            if self._book.alive[event.worker]:
                self._changed = self._moved = True
                self._transfers.lose(event.worker)
            return
        sent = self._transfers.take(event.key)
        if sent is None:
            return
        if isinstance(event, TaskEnded):
            self._end(sent, event)
        elif isinstance(event, Failed):
            self._transfers.fail(sent, event)

    def _end(self, sent: Sent, event: TaskEnded) -> None:
        book, task = self._book, sent.task
        site = self._executor.workers[event.pieces[0].worker].site if event.pieces else int(book.site[task])
        self._count(task, sent.reads, site)
        if not sent.run:
            book.input[task] = event.pieces[0]
            book.input_site[task] = site
            return
        self._started[task], self._read[task], self._computed[task] = (
            event.begun - self._zero,
            event.read - self._zero,
            event.computed - self._zero,
        )
        self._reported[task] = self.now()
        computed = event.computed - event.read
        book.durations.take(int(book.stage[task]), computed)
        self._moved |= book.finish(task, event.pieces, self._reported[task])
        self._transfers.completed(sent, computed)
        if self._progress is not None:
            self._progress(float((book.state == ENDED).mean()))

    def _count(self, task: int, reads: Sequence[SiteRead], site: int) -> None:
        for read in reads:
            if read.site != site:
                self._carried[read.site, site] += read.size
                self._job_sent[self._jobs.job[self._book.stage[task]]] += read.size
