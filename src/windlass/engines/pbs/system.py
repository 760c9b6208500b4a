"""PBS as a batch system: held jobs of a queue are released when a policy starts them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from windlass.engines.batch.batches import listed
from windlass.engines.batch.known_jobs import Reported
from windlass.engines.batch.log_entry import LogEntry
from windlass.engines.batch.polling import Polls
from windlass.engines.batch.status import DriverStatus
from windlass.engines.batch.system import Event
from windlass.engines.pbs.client import GONE, PbsClient
from windlass.engines.pbs.entries import HeldAgain, HoldingAgain, Lifted, Lifting, NotLifted, OperatorHold
from windlass.engines.pbs.history import PbsPast
from windlass.engines.pbs.journal import PbsRecord
from windlass.engines.pbs.known_job import PbsChanges
from windlass.engines.pbs.models import OURS, PbsJob, PbsNode
from windlass.engines.pbs.reader import read_job, read_node
from windlass.engines.pbs.watch import PbsWatch
from windlass.model import InputError

#: Ended jobs that are looked up in PBS's history after a poll, a command each; of others it is assumed that they ran.
_MOST_LOOKUPS = 20


@dataclass(frozen=True, slots=True)
class PbsOptions:
    """How a driver polls PBS.

    Parameters
    ----------
    queue
        The execution queue whose held jobs are released.
    pace
        Polling interval while such jobs wait or run, s.
    until_idle
        True to end when no such job is left; False to run as a service.
    dry_run
        True to change nothing.
    """

    queue: str
    pace: float = 1.0
    until_idle: bool = False
    dry_run: bool = False


class PbsSystem:
    """A :class:`~windlass.engines.batch.system.BatchSystem` on PBS's commands.

    Only jobs of one queue that have the hold ``o`` are ever released, and only jobs that a driver released are ever
    held again. Other jobs are reported while they run, as they hold CPUs, but are left alone. Times are Unix times of
    this host, s.

    Parameters
    ----------
    client
        PBS.
    journal
        Where each action is recorded before it is made.
    options
        The queue, and how PBS is polled.
    notify
        Called with a line for each thing that users should know.
    clock
        Returns the Unix time, s.
    sleep
        Waits for this many seconds between polls.
    status
        Updated with each poll.

    Raises
    ------
    InputError
        No vnode may run jobs of the queue.
    PbsAwayError
        PBS does not answer.
    """

    def __init__(
        self,
        client: PbsClient,
        journal: PbsRecord,
        options: PbsOptions,
        *,
        notify: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        status: DriverStatus | None = None,
    ) -> None:
        self._client, self._journal, self._options = client, journal, options
        self._notify, self._clock = notify, clock
        self._past = PbsPast(journal)
        self._watch = PbsWatch(options.queue, self._past, self._ended)
        self.status = status or DriverStatus(contact=client.contact)
        self._polls = Polls(self._poll, options.pace, options.until_idle, clock, sleep, self.status)
        self._reported: dict[str, str] = {}
        self._invalid: set[str] = set()
        self._arrays: set[str] = set()
        self._lookups = 0
        self._vnodes = self._usable()
        self._most = sum(self._vnodes.values())
        if not self._vnodes:
            raise InputError(f"--queue: no vnode may run jobs of queue {options.queue!r}; see pbsnodes -a")
        self.processors = self.status.processors = self._up

    def now(self) -> float:
        """Return the Unix time of the last poll, s, so that all decisions of one poll have the same time."""
        return self._polls.now

    def title(self, job: int) -> str:
        """Return PBS's identifier of a job, for messages."""
        return self._watch.title(job)

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call; PBS is polled at most at the interval of the options."""
        return self._polls.wait(timeout)

    def start(self, jobs: Sequence[int]) -> dict[int, str]:
        """Release these jobs, in this order; each release is journaled first."""
        found = {number: each for number in jobs if (each := self._watch.find(number)) is not None}
        waiting = {n: each.job for n, each in found.items() if each.reported is Reported.WAITS}
        refused = {number: "no such job is held" for number in jobs if number not in waiting}
        if not waiting:
            return refused
        now, rows = self._clock(), list(waiting.values())
        self._journal.append(*(Lifting(now, row.job, row.created, row.runs) for row in rows))
        failed = self._client.release([row.job for row in rows])
        still = self._still_held(failed)
        for number, row in waiting.items():
            at = self._clock()
            if why := still.get(row.job):
                refused[number] = why
                self._polls.events += self._watch.refused(number, at)
                self._journal.append(NotLifted(at, row.job, why))
            else:
                self._watch.released(number, at)
        self._journal.append(
            *(Lifted(now, row.job, row.created, row.runs) for row in rows if row.job not in still)
        )
        self.status.started += len(jobs) - len(refused)
        self.status.refusals += len(refused)
        return refused

    def describe(self, jobs: Sequence[int]) -> str:
        """Return the command that would release these jobs."""
        return f"qrls -h {OURS} {' '.join(self.title(job) for job in jobs)}"

    def close(self) -> None:
        """Do nothing: no process was started."""

    def _still_held(self, failed: Mapping[str, str]) -> dict[str, str]:
        """Return the jobs of these, whose release failed, that cannot run: they are still held, or gone."""
        if not failed:
            return {}
        rows = self._listed()
        return {
            job: why
            for job, why in failed.items()
            if why.startswith(GONE) or (job in rows and rows[job].held)
        }

    def _ended(self, job: str) -> PbsJob | None:
        """Return a job that ended since the last poll, if PBS keeps a history, and not many have ended."""
        if self._lookups >= _MOST_LOOKUPS or self._options.dry_run:
            return None
        self._lookups += 1
        found = self._client.ended(job)
        try:
            return read_job(job, found.rows[job]) if found is not None and job in found.rows else None
        except InputError as error:
            self._report_invalid(error)
            return None

    def _listed(self) -> dict[str, PbsJob]:
        """Return all jobs that can be read; others are reported once."""
        found = {}
        for job, tree in self._client.jobs().rows.items():
            try:
                found[job] = read_job(job, tree)
            except InputError as error:
                self._report_invalid(error)
        return found

    def _report_invalid(self, error: InputError) -> None:
        if str(error) not in self._invalid:
            self._invalid.add(str(error))
            self._notify(f"{error}; left alone")

    def _usable(self) -> dict[str, int]:
        """Return the CPUs of the vnodes that jobs of the queue may use, and count those that are up."""
        nodes: list[PbsNode] = []
        for name, tree in self._client.nodes().rows.items():
            try:
                nodes.append(read_node(name, tree))
            except InputError as error:
                self._report_invalid(error)
        own = [node for node in nodes if node.queue == self._options.queue]
        usable = own or [node for node in nodes if not node.queue]
        self._up = sum(node.procs for node in usable if node.up)
        return {node.name: node.procs for node in usable}

    def _poll(self) -> None:
        began = self._polls.began()
        rows = self._listed()
        self._vnodes = self._usable()
        before, self._most = self._most, max(self._most, sum(self._vnodes.values()))
        now, self._lookups = self._clock(), 0
        changes = self._watch.update(rows, self._vnodes, self._most, began, now)
        self._journal.append(*(OperatorHold(now, job, rows[job].created) for job in changes.withheld))
        self._past.settle(rows, now)
        self._polls.events += changes.events
        self._report(changes, rows)
        self._hold(changes.hold, rows)
        if before != self._most or self.status.processors != self._up:
            line = f"{self._up:,} of {sum(self._vnodes.values()):,} CPUs of the queue's vnodes are up"
            self._notify(LogEntry.of(line, "capacity", processors=self._up))
        self._polls.capacity(self._up)
        self._polls.ended(self._watch.waiting(), self._watch.count(Reported.HOLDS), len(changes.stuck))

    def _hold(self, jobs: Mapping[str, str], rows: Mapping[str, PbsJob]) -> None:
        if self._options.dry_run or not jobs:
            return
        now = self._clock()
        wanted = [rows[job] for job in jobs]
        self._journal.append(
            *(HoldingAgain(now, row.job, row.created, row.runs, jobs[row.job]) for row in wanted)
        )
        failed = self._client.hold(list(jobs))
        self._journal.append(
            *(HeldAgain(now, row.job, row.created, row.runs) for row in wanted if row.job not in failed)
        )
        for why in dict.fromkeys(jobs.values()):
            same = [job for job, each in jobs.items() if each == why and job not in failed]
            new = [job for job in same if self._is_new(job, why)]
            if new:
                line = f"{'job' if len(new) == 1 else 'jobs'} {listed(new)} held again: {why}"
                self._notify(LogEntry.of(line, "held", jobs=new, reason=why))
        for job, why in failed.items():
            if self._is_new(job, why):
                self._notify(f"job {job} cannot be held: {why}")

    def _report(self, changes: PbsChanges, rows: Mapping[str, PbsJob]) -> None:
        self._reported = {job: why for job, why in self._reported.items() if job in rows}
        self._arrays &= rows.keys()
        for job in changes.withheld:
            line = f"job {job}: an operator held it after its release; left alone"
            self._notify(LogEntry.of(line, "withheld", jobs=[job]))
        for job in changes.freed:
            self._notify(LogEntry.of(f"job {job}: an operator released it", "freed", jobs=[job]))
        for job, why in changes.stuck.items():
            if self._is_new(job, why):
                line = f"job {job} ({rows[job].name}, user {rows[job].owner.user}) cannot start: {why}"
                self._notify(LogEntry.of(line, "cannot_start", jobs=[job], reason=why))
        self._report_arrays(rows.values())

    def _report_arrays(self, rows: Collection[PbsJob]) -> None:
        for row in rows:
            if row.array and row.held and row.queue == self._options.queue and row.job not in self._arrays:
                self._arrays.add(row.job)
                self._notify(f"job {row.job} is a job array; left alone: release it with qrls -h {OURS}")

    def _is_new(self, job: str, why: str) -> bool:
        before = self._reported.get(job)
        self._reported[job] = why
        return before != why
