"""Launches of a live engine: loads and moves of input, tasks, the choice of their workers, and retries after losses."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from windlass.dispatch import DispatchPolicy, Leaving
from windlass.dispatch.view import check_choice
from windlass.engines.backoff import Backoff
from windlass.engines.live.book import ON_THE_WAY, RESTS, WAITS, LiveBook
from windlass.engines.live.executor import Executor, Failed, SiteRead, TaskLaunch
from windlass.engines.live.recovery import Losses
from windlass.engines.live.work import Keep, Work
from windlass.model import PolicyError, TaskError
from windlass.policy.registry import capability

#: Number of losses of one task, or of one load of its input, after which the run fails.
_TRIES = 8
#: Delay before a task is launched again after its first loss, s.
REST_S = 0.25
#: Delays before lost work is launched again. Until the loss of a worker is detected, tasks that read its data fail at
#: once, so a retry without a delay would use up all tries.
_BACKOFF = Backoff(REST_S)


@dataclass(frozen=True, slots=True)
class Sent:
    """A launch in progress: of a task, or of a load or move of its input (``run`` False).

    Parameters
    ----------
    task, worker
        The task, and the worker to which it was sent.
    run
        True if the task itself runs.
    reads
        The input that it reads.
    """

    task: int
    worker: int
    run: bool
    reads: tuple[SiteRead, ...] = ()


class Transfers:
    """Launches what the engine decided, and keeps track of launches in progress.

    Parameters
    ----------
    book
        The state of tasks and the location of data; the start of each task is recorded in it.
    executor
        Carries out the launches.
    clock
        Returns the seconds since time 0.
    dispatch
        Makes the policy that chooses among a site's workers, from their number; None for the worker with the most
        free slots.

    Attributes
    ----------
    launched
        (T,) when each task was sent to its worker, s.
    tries
        (T,) how often each task was sent.
    source
        (T,) the site of its input when it was last sent; -1 for a shuffle.
    """

    def __init__(
        self,
        book: LiveBook,
        executor: Executor,
        clock: Callable[[], float],
        dispatch: Callable[[int], DispatchPolicy] | None = None,
    ) -> None:
        jobs, sites, tasks = book.jobs, len(book.fleet), int(book.jobs.first[-1])
        self._book, self._executor, self._clock = book, executor, clock
        self._losses = Losses(book)
        self._keys = itertools.count()
        self._sent: dict[int, Sent] = {}
        # The end of each delay, s, by task, and whether it delays the task (True) or the load of its input (False).
        self._resting: dict[tuple[int, bool], float] = {}
        self.launched = np.full(tasks, np.nan)
        self.tries, self.source = np.zeros(tasks, np.int64), np.full(tasks, -1, np.int64)
        self._home = jobs.home
        self._loads = np.zeros(tasks, np.int64)
        self._held = np.zeros(len(executor.workers), np.int64)
        self._local = [
            [worker.number for worker in executor.workers if worker.site == site] for site in range(sites)
        ]
        self._dispatch: list[DispatchPolicy | None] = [
            dispatch(len(own)) if dispatch is not None and len(own) > 1 else None for own in self._local
        ]

    def load_all(self) -> None:
        """Load all input at the sites that the workload specifies."""
        for task in np.flatnonzero(self._home >= 0).tolist():
            self._load(task)

    def move(self, task: int, site: int) -> None:
        """Move a task's input to a site ahead of the task."""
        book = self._book
        reads = book.reads(task)
        book.input_site[task] = ON_THE_WAY
        book.moved[book.jobs.job[book.stage[task]]] = True
        self._send(Sent(task, self._input_worker(site), False, reads), Keep())

    def start(self, task: int, site: int) -> None:
        """Run a task at a site.

        Parameters
        ----------
        task
            A waiting task, with its input at a site or written by all parents.
        site
            A site with a free slot.
        """
        book, row = self._book, int(self._book.stage[task])
        reads = book.reads(task)
        now = self._clock()
        worker = self._choose(site, now)
        book.begin(task, worker, now)
        self.launched[task] = now
        self.tries[task] += 1
        self.source[task] = book.input_site[task]
        work = book.program.work(task, sum(read.size for read in reads))
        self._send(Sent(task, worker, True, reads), work, bring=book.program.keeps_result(row))

    @property
    def busy(self) -> bool:
        """True if a launch is in progress or will be retried after a delay."""
        return bool(self._sent or self._resting)

    def wakes(self) -> float:
        """Return when the next delay ends, s; infinity without any."""
        return min(self._resting.values(), default=np.inf)

    def wake(self, now: float) -> bool:
        """Retry work whose delay has ended: load input, and queue tasks; return whether any task was queued."""
        waits = False
        for task, runs in [rests for rests, until in self._resting.items() if until <= now]:
            del self._resting[task, runs]
            if runs:
                self._book.state[task] = WAITS
                waits = True
            else:
                self._load(task)
        return waits

    def take(self, key: int) -> Sent | None:
        """Remove and return a launch; None if it was removed when its worker was lost."""
        return self._sent.pop(key, None)

    def completed(self, sent: Sent, seconds: float) -> None:
        """Report to the dispatch policy of its site that a task's work took ``seconds``."""
        site = int(self._book.site[sent.task])
        policy = self._dispatch[site]
        if policy is not None:
            # The policy gets the mean computing time of the stage's tasks, as views do: a task's own size is unknown.
            work = float(self._book.durations.seconds()[self._book.stage[sent.task]])
            policy.completed(self._local[site].index(sent.worker), work, max(seconds, 1e-9))

    def fail(self, sent: Sent, event: Failed) -> None:
        """Schedule a retry of lost work.

        Raises
        ------
        TaskError
            The task failed by its own error, or was lost too often; or no worker is left.
        """
        task = sent.task
        if not event.lost:
            raise TaskError(f"{self._label(task)}: {event.why}")
        if sent.run:
            self._losses.again(task, RESTS)
        else:
            self._loads[task] += 1
        tries = int((self.tries if sent.run else self._loads)[task])
        if tries >= _TRIES:
            raise TaskError(f"{self._label(task)}: lost {_TRIES} times; the last time: {event.why}")
        self._resting[task, sent.run] = self._clock() + _BACKOFF.delay(tries)
        self._reload()

    def lose(self, worker: int) -> None:
        """Record the loss of a worker: queue its tasks, and load lost input that is needed again.

        Raises
        ------
        TaskError
            No worker is left to load the input.
        """
        self._losses.lose(worker)
        site = self._executor.workers[worker].site
        for key in [key for key, sent in self._sent.items() if sent.worker == worker]:
            sent = self._sent.pop(key)
            if not sent.run:
                self._load(sent.task)
        self._reload()
        policy = capability(self._dispatch[site], Leaving)
        if policy is not None:
            policy.left(self._local[site].index(worker))

    def _send(self, sent: Sent, work: Work, *, bring: bool = False) -> None:
        key = next(self._keys)
        self._sent[key] = sent
        self._executor.launch(TaskLaunch(key, sent.worker, work, sent.reads, slot=sent.run, bring=bring))

    def _load(self, task: int) -> None:
        self._send(
            Sent(task, self._input_worker(int(self._home[task])), False), self._book.program.load(task)
        )

    def _reload(self) -> None:
        for task in self._losses.to_load():
            self._load(task)

    def _input_worker(self, site: int) -> int:
        """Return the live worker at a site, or at any site, that was sent the fewest inputs."""
        alive = [number for number in self._local[site] if self._book.alive[number]]
        if not alive:
            alive = np.flatnonzero(self._book.alive).tolist()
        if not alive:
            raise TaskError("no worker is left")
        worker = min(alive, key=lambda number: int(self._held[number]))
        self._held[worker] += 1
        return worker

    def _choose(self, site: int, now: float) -> int:
        own, policy = self._local[site], self._dispatch[site]
        if policy is not None:
            policy.arrived(now)
            try:
                chosen = own[check_choice(policy.choose(self._book.busy[own]), len(own))]
            except PolicyError as error:
                raise PolicyError(f"dispatch policy {policy.name!r} {error}") from error
            if self._book.alive[chosen] and self._book.busy[chosen] < self._executor.workers[chosen].slots:
                return chosen
        free = [
            self._executor.workers[number].slots - self._book.busy[number]
            if self._book.alive[number]
            else -np.inf
            for number in own
        ]
        return own[int(np.argmax(free))]

    def _label(self, task: int) -> str:
        jobs, row = self._book.jobs, int(self._book.stage[task])
        job = int(jobs.job[row])
        stage = row - int(np.searchsorted(jobs.job, job))
        return f"job {job + 1}, stage {stage + 1}, task {task - int(jobs.first[row]) + 1}"
