"""Rigid jobs of one site on a real batch system, ordered by the same policies as in the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from windlass.drive import Decider
from windlass.engines.backoff import Backoff
from windlass.engines.batch.book import BatchBook
from windlass.engines.batch.owners import LiveOwners
from windlass.engines.batch.result import BatchPlan, BatchRun
from windlass.engines.batch.side_decision import NoSideDecision, SideDecision
from windlass.engines.batch.system import BatchSystem, Event
from windlass.model import BatchError, InputError, PolicyError
from windlass.order.site import POLICIES as ORDER
from windlass.order.site.view import SiteView, Start
from windlass.policy.answers import expect_answer

#: The longest wait for the system's next event, s.
_LOOK_S = 60.0
#: Interval at which a policy that starts no job is called again if nothing runs and nothing more is submitted, s: it
#: may wait for a time to come.
_ASK_AGAIN_S = 0.5
#: Delays before a job that the system refused to start is released again …
_BACKOFF = Backoff(0.25)
#: … and after this many refusals in a row the run fails.
_MOST_REFUSALS = 8


class LiveSite:
    """Starts the jobs of a batch system in a policy's order: see :class:`windlass.drive.Engine`.

    While jobs wait, the policy is called when a job is submitted, ends or is cancelled, and when the number of idle
    or owed processors of the site changes. If nothing runs and nothing more is submitted, it is called every half
    second. It is shown all waiting jobs, including those wider than the site is now or ever was, since the site may
    grow: whether these block others is the policy's decision, as in the simulator. Only jobs that the system refused
    to start are hidden while they rest.

    Parameters
    ----------
    system
        The batch system; it is closed with the engine, and its jobs continue.
    side_decision
        Makes a second decision about the same jobs, such as which share an allocation.
    patience
        If nothing runs and nothing more is submitted, how long a policy may leave jobs waiting, s. The time does not
        count while a job waits for processors that the site had before, and none for more than it ever had: drained
        nodes are expected to return.
    forgets
        True to forget ended jobs, so that memory and the cost of a decision do not grow with the run:
        :meth:`result` then lacks most of them.
    owners
        The owners of jobs, prepared for the order policy: call its :meth:`~LiveOwners.order` then. None for a policy
        that does not depend on what users have consumed, nor on accounts.

    Examples
    --------
    >>> from windlass.drive import drive
    >>> from windlass.engines.batch.system import Ended, NoMore, Started, Submitted
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> class OneAtATime:
    ...     processors = 2
    ...     def __init__(self):
    ...         self.time, self.events = 0.0, [Submitted(7, 0.0, 2, 9.0), Submitted(8, 0.0, 1, 9.0), NoMore()]
    ...     def now(self): return self.time
    ...     def poll(self, timeout):
    ...         events, self.events = self.events, []
    ...         self.time = max([self.time, *(event.at for event in events[-1:] if isinstance(event, Ended))])
    ...         return events
    ...     def start(self, jobs):
    ...         for job in jobs: self.events += [Started(job, self.time), Ended(job, self.time + 5.0)]
    ...         return {}
    ...     def describe(self, jobs): return f"start {jobs}"
    ...     def close(self): pass
    >>> drive(LiveSite(OneAtATime()), {"order": Fcfs()}).start.tolist()
    [0.0, 5.0]
    """

    def __init__(
        self,
        system: BatchSystem,
        *,
        patience: float = 30.0,
        side_decision: Callable[[BatchBook], SideDecision] | None = None,
        forgets: bool = False,
        owners: LiveOwners | None = None,
    ) -> None:
        self._system, self._patience = system, patience
        self._book = BatchBook(system.processors, forgets, owners)
        self._wanted, self._decisions = False, 0
        self._decided, self._idle_since = -np.inf, np.inf
        self._side_decision = NoSideDecision() if side_decision is None else side_decision(self._book)

    def wait(self) -> str | None:
        """Wait until a decision is due; return None when no more jobs will be submitted and all jobs have ended.

        Errors of the system's methods are passed on.

        Raises
        ------
        InputError
            No more jobs will be submitted, nothing runs, patience is over, and a waiting job is wider than the site
            ever was; the message names the widest.
        PolicyError
            The same, but each waiting job would fit the site; the message has the number of jobs that the policy left.
        """
        while True:
            self._take_in()
            now = self._system.now()
            if self._book.over():
                return None
            idle = self._idle(now)
            if self._is_due(now, idle):
                return ORDER.key
            if (other := self._side_decision.due(now)) is not None:
                return other
            if idle and now - self._idle_since > self._patience:
                self._give_up()
            soonest = min(
                _ASK_AGAIN_S if idle else _LOOK_S, min(self._book.wakes(), self._side_decision.wakes()) - now
            )
            self._take(self._system.poll(max(0.0, soonest)))

    def view(self, decision: str) -> Any:
        """Return the site with its waiting and running jobs; or the view of the second decision."""
        now = self._system.now()
        if decision != ORDER.key:
            return self._side_decision.view(now)
        self._book.count_use(now)
        return self._book.view(now)

    def act(self, decision: str, answer: Any) -> None:
        """Carry out an answer about either starts or sharing."""
        if decision == ORDER.key:
            self._start(answer)
        else:
            self._side_decision.act(answer, self._system.now())
            # A new guest has left the queue, so another job may now start.
            self._wanted = True

    def _start(self, answer: Start) -> None:
        """Let the system start jobs. A refused job is tried again after a rest.

        Raises
        ------
        PolicyError
            The answer cannot be carried out; no job is started.
        BatchError
            The system refused a job eight times in a row; the message has the job and the system's reason.
        """
        book, now = self._book, self._system.now()
        queue = book.queue()
        rows = self._checked(queue, answer)
        self._decided, self._decisions = now, self._decisions + 1
        book.keep(queue, answer.notes)
        book.release(rows, answer.reasons(), now)
        if not len(rows):
            return
        jobs: list[int] = book.columns(rows)[0].tolist()
        refused = self._system.start(jobs)
        refusals = {job: book.rest(job, now, _BACKOFF) for job in jobs if job in refused}
        for job, times in refusals.items():
            if times >= _MOST_REFUSALS:
                raise BatchError(f"job {job} was not started, {times} times in a row: {refused[job]}")
        # Refused jobs leave processors idle; this alone is no reason for a decision before their rest is over.
        book.processors_changed()

    def plan(self, policy: Decider[SiteView, Start]) -> BatchPlan:
        """Return what a policy would start now; nothing is started and no note saved.

        Parameters
        ----------
        policy
            Called once if any jobs wait.

        Raises
        ------
        PolicyError
            The answer could not be carried out; the message names the policy.
        """
        self._take_in()
        now, queue = self._system.now(), self._book.queue()
        self._book.count_use(now)
        if not len(queue):
            return BatchPlan(now, (), (), (), "")
        answer = policy.decide(self._book.view(now))
        try:
            rows = self._checked(queue, answer)
        except PolicyError as error:
            raise PolicyError(f"policy {policy.name!r} {error}") from error
        jobs, procs = (tuple(column.tolist()) for column in self._book.columns(rows))
        return BatchPlan(now, jobs, procs, answer.reasons(), self._system.describe(jobs) if jobs else "")

    def preview_sharing(self, policy: Decider[Any, Any], seconds: float) -> tuple[Any, Any] | None:
        """Return what the policy of the second decision would see and answer, after running jobs were watched.

        Nothing is carried out.

        Parameters
        ----------
        policy
            Called once if the decision is due.
        seconds
            How long running jobs are watched, s.

        Returns
        -------
        Its view and its answer; None if the decision is not due.
        """
        self._take_in()
        now = self._system.now()
        self._side_decision.due(now)
        until = now + seconds
        while (now := self._system.now()) < until:
            self._take(self._system.poll(until - now))
        self._take_in()
        if self._side_decision.due(now) is None:
            return None
        view = self._side_decision.view(now)
        return view, policy.decide(view)

    def result(self) -> BatchRun:
        """Return the outcome of each job; if ended jobs are forgotten, of those that are left."""
        return self._book.result(self._decisions)

    def close(self) -> None:
        """Close the second decision and the system."""
        self._side_decision.close()
        self._system.close()

    def _checked(self, queue: NDArray[np.int64], answer: Start) -> NDArray[np.int64]:
        start = expect_answer(answer, Start)
        found: NDArray[np.int64] = queue[start.positions(*self._book.columns(queue), self._book.free)]
        return found

    def _take(self, events: list[Event]) -> None:
        if events:
            self._book.count_use(self._system.now())
        for event in events:
            self._wanted |= self._book.take(event)

    def _take_in(self) -> None:
        """Record all pending events before the policy is called."""
        while events := self._system.poll(0.0):
            self._take(events)
        self._wanted |= self._book.processors_changed()
        self._wanted |= self._book.wake(self._system.now())

    def _idle(self, now: float) -> bool:
        """Return whether the state can only change by a decision."""
        book = self._book
        idle = book.closed and book.held == 0 and not book.resting
        counts = idle and not book.drained
        self._idle_since = min(self._idle_since, now) if counts else np.inf
        return idle

    def _is_due(self, now: float, idle: bool) -> bool:
        again = idle and now >= self._decided + _ASK_AGAIN_S
        wanted, self._wanted = self._wanted or again, False
        return wanted and len(self._book.queue()) > 0

    def _give_up(self) -> NoReturn:
        book = self._book
        job, procs = book.widest()
        # This comes before the error about the policy, which may have kept other jobs waiting behind this one.
        if procs > book.most:
            raise InputError(f"job {job} needs {procs} processors, the site has {book.most}")
        left = f"left {book.waiting} jobs waiting"
        raise PolicyError(f"{left} although nothing runs and nothing more is submitted")
