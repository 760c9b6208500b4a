"""Rigid jobs of one site on a real batch system: the policies that order them in the simulator order them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from windlass.drive import Decider
from windlass.engines.batch.book import BatchBook
from windlass.engines.batch.result import BatchPlan, BatchRun
from windlass.engines.batch.side_decision import Beside, Nothing
from windlass.engines.batch.system import BatchSystem, Event
from windlass.model import BatchError, InputError, PolicyError
from windlass.order.site import POLICIES as ORDER
from windlass.order.site.validation import check_start
from windlass.order.site.view import SiteView, Start

#: Where only the system can bring news, it is waited for so long at a time, s.
_LOOK_S = 60.0
#: Where nothing runs and nobody submits any more, a policy that starts nobody is asked again this often, s, as it may
#: wait for a time to come.
_ASK_AGAIN_S = 0.5
#: A job that the system did not start when told to rests so long, s, each time twice as long …
_REST_S = 0.25
#: … and so often in a row, before the run is given up.
_MOST_REFUSALS = 8


class LiveSite:
    """Starts the jobs of a batch system in a policy's order: see :class:`windlass.drive.Engine`.

    While somebody waits, the policy is asked when a job is submitted, ends or is cancelled, and when a change of the
    site's processors leaves more of them idle, or jobs holding more or less beyond them. Where nothing runs and nobody
    submits any more, it is asked every half second. It is shown all who wait, also those who are wider than the site
    is just now or ever was, since the site may grow: whether these hold up others is its affair, as in the simulator.
    Only a job that the system did not start when told to is not shown while it rests.

    Parameters
    ----------
    system
        Whose jobs they are; it is closed with the engine, and its jobs go on.
    beside
        Makes what decides about the same jobs besides, such as who shares an allocation.
    patience
        Where nothing runs and nothing more is submitted, how long a policy may leave jobs waiting, s. It does not count
        while one of them waits for processors that the site had before, and none for more than it ever had: what is
        drained comes back, some day.

    Examples
    --------
    >>> from windlass.drive import drive
    >>> from windlass.engines.batch.system import Ended, NoMore, Started, Submitted
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> class OneAtATime:
    ...     processors = 2
    ...     def __init__(self):
    ...         self.time, self.told = 0.0, [Submitted(7, 0.0, 2, 9.0), Submitted(8, 0.0, 1, 9.0), NoMore()]
    ...     def now(self): return self.time
    ...     def poll(self, timeout):
    ...         told, self.told = self.told, []
    ...         self.time = max([self.time, *(event.at for event in told[-1:] if isinstance(event, Ended))])
    ...         return told
    ...     def start(self, jobs):
    ...         for job in jobs: self.told += [Started(job, self.time), Ended(job, self.time + 5.0)]
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
        beside: Callable[[BatchBook], Beside] | None = None,
    ) -> None:
        self._system, self._patience = system, patience
        self._book = BatchBook(system.processors)
        self._wanted, self._decisions = False, 0
        self._decided, self._idle_since = -np.inf, np.inf
        self._beside = Nothing() if beside is None else beside(self._book)

    def wait(self) -> str | None:
        """Go on until an order is due; None when nobody submits any more and all jobs have ended.

        What the system's own calls raise is passed on.

        Raises
        ------
        InputError
            Nobody submits any more, nothing runs, patience is over, and a job waits that is wider than the site ever
            was; names the widest.
        PolicyError
            The same, but each job that waits would fit the site as it is; says how many the policy left.
        """
        while True:
            self._take_in()
            now = self._system.now()
            if self._book.over():
                return None
            idle = self._idle(now)
            if self._is_due(now, idle):
                return ORDER.key
            if (other := self._beside.due(now)) is not None:
                return other
            if idle and now - self._idle_since > self._patience:
                self._give_up()
            soonest = min(
                _ASK_AGAIN_S if idle else _LOOK_S, min(self._book.wakes(), self._beside.wakes()) - now
            )
            self._take(self._system.poll(max(0.0, soonest)))

    def view(self, decision: str) -> Any:
        """The site, who waits and who runs; or what the decision beside it may know."""
        now = self._system.now()
        return self._book.view(now) if decision == ORDER.key else self._beside.view(now)

    def act(self, decision: str, answer: Any) -> None:
        """Carry out an answer: here, or beside."""
        if decision == ORDER.key:
            self._start(answer)
        else:
            self._beside.act(answer, self._system.now())
            # Who was taken in waits no more, which may let another one go ahead.
            self._wanted = True

    def _start(self, answer: Start) -> None:
        """Have the system start jobs. One that it did not start waits on, and is told to again after a rest.

        Raises
        ------
        PolicyError
            The answer cannot be carried out; nobody is started.
        BatchError
            The system did not start a job, eight times in a row; names it, and what the system said.
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
        refusals = {job: book.put_back(job, now, _REST_S) for job in jobs if job in refused}
        for job, times in refusals.items():
            if times >= _MOST_REFUSALS:
                raise BatchError(f"job {job} was not started, {times} times in a row: {refused[job]}")
        # What was put back is idle again, which alone is no reason to ask: it is tried again after a rest.
        book.look()

    def plan(self, policy: Decider[SiteView, Start]) -> BatchPlan:
        """What a policy would start now; it starts nothing, and leaves no note.

        Parameters
        ----------
        policy
            Asked once, if anybody waits.

        Raises
        ------
        PolicyError
            The answer could not be carried out; names the policy.
        """
        self._take_in()
        now, queue = self._system.now(), self._book.queue()
        if not len(queue):
            return BatchPlan(now, (), (), (), "")
        answer = policy.decide(self._book.view(now))
        try:
            rows = self._checked(queue, answer)
        except PolicyError as error:
            raise PolicyError(f"policy {policy.name!r} {error}") from error
        jobs, procs = (tuple(column.tolist()) for column in self._book.columns(rows))
        return BatchPlan(now, jobs, procs, answer.reasons(), self._system.describe(jobs) if jobs else "")

    def ask_beside(self, policy: Decider[Any, Any], seconds: float) -> tuple[Any, Any] | None:
        """What the policy beside would see and answer, once all that runs was watched for a while.

        Nothing is carried out.

        Parameters
        ----------
        policy
            Asked once, if it would be.
        seconds
            How long jobs are watched.

        Returns
        -------
        Its view and its answer; None where it would not be asked.
        """
        self._take_in()
        now = self._system.now()
        self._beside.due(now)
        until = now + seconds
        while (now := self._system.now()) < until:
            self._take(self._system.poll(until - now))
        self._take_in()
        if self._beside.due(now) is None:
            return None
        view = self._beside.view(now)
        return view, policy.decide(view)

    def result(self) -> BatchRun:
        """What happened to each job."""
        return self._book.result(self._decisions)

    def close(self) -> None:
        """Let go of the system, and of what is beside it."""
        self._beside.close()
        self._system.close()

    def _checked(self, queue: NDArray[np.int64], answer: Start) -> NDArray[np.int64]:
        found: NDArray[np.int64] = queue[check_start(answer, *self._book.columns(queue), self._book.free)]
        return found

    def _take(self, events: list[Event]) -> None:
        for event in events:
            self._wanted |= self._book.take(event)

    def _take_in(self) -> None:
        """What has just happened is taken in whole before a policy is asked."""
        while events := self._system.poll(0.0):
            self._take(events)
        self._wanted |= self._book.look()
        self._wanted |= self._book.wake(self._system.now())

    def _idle(self, now: float) -> bool:
        """Whether nothing will happen but by a decision."""
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
        # Before the policy is blamed: it may have had the others wait behind this one.
        if procs > book.most:
            raise InputError(f"job {job} needs {procs} processors, the site has {book.most}")
        left = f"left {book.waiting} jobs waiting"
        raise PolicyError(f"{left} although nothing runs and nothing more is submitted")
