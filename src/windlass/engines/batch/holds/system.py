"""A queue with holds as a batch system: its held jobs are released when a policy starts them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence

from windlass.engines.batch.batches import listed
from windlass.engines.batch.holds.entries import (
    HeldAgain,
    HoldingAgain,
    Lifted,
    Lifting,
    NotLifted,
    OperatorHold,
)
from windlass.engines.batch.holds.history import HoldPast
from windlass.engines.batch.holds.journal import HoldRecord
from windlass.engines.batch.holds.known import HoldChanges
from windlass.engines.batch.holds.settings import HoldOptions
from windlass.engines.batch.holds.site import HeldJob, HoldSite
from windlass.engines.batch.holds.watch import HoldWatch
from windlass.engines.batch.log_entry import LogEntry
from windlass.engines.batch.polled_jobs import Reported
from windlass.engines.batch.polling import Polls
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.batch.status import DriverStatus
from windlass.engines.batch.system import Event
from windlass.engines.batch.unreadable import UnreadableObjects
from windlass.model import InputError

#: Ended jobs that are looked up in the history after a poll, a command each; of others it is assumed that they ran.
_MOST_LOOKUPS = 20


class HoldSystem:
    """A :class:`~windlass.engines.batch.system.BatchSystem` on a queue of another one.

    Only jobs of the queue that have the driver's hold are ever released, and only jobs that a driver released are ever
    held again. Other jobs are reported while they run, as they hold CPUs, but are left alone. Times are Unix times of
    this host, s.

    Parameters
    ----------
    site
        The queue.
    journal
        Where each action is recorded before it is made.
    options
        How the system is polled.
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
        No node may run jobs of the queue.
    SystemAwayError
        The system does not answer.
    """

    def __init__(
        self,
        site: HoldSite,
        journal: HoldRecord,
        options: HoldOptions,
        *,
        notify: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        status: DriverStatus | None = None,
    ) -> None:
        self._site, self._journal, self._options = site, journal, options
        self._notify, self._clock = notify, clock
        self._past = HoldPast(journal)
        self._watch = HoldWatch(site.words, site.queue, self._past, self._ended)
        self.status = status or DriverStatus(contact=site.contact)
        self._polls = Polls(self._poll, options.pace, options.until_idle, clock, sleep, self.status)
        self._reported: dict[str, str] = {}
        self._unreadable = UnreadableObjects(notify)
        self._arrays: set[str] = set()
        self._lookups = 0
        self._capacity = site.capacity(self._report_invalid)
        self._most = sum(self._capacity.nodes.values())
        if not self._capacity.nodes:
            raise InputError(site.words.no_nodes)
        self.processors = self.status.processors = self._capacity.up

    def now(self) -> float:
        """Return the Unix time of the last poll, s, so that all decisions of one poll have the same time."""
        return self._polls.now

    def title(self, job: int) -> str:
        """Return the system's identifier of a job, for messages."""
        return self._watch.title(job)

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call; the system is polled at most at the interval of the options."""
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
        failed = self._site.release([row.job for row in rows])
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
        self._report_refused(still)
        self.status.started += len(jobs) - len(refused)
        self.status.refusals += len(refused)
        return refused

    def describe(self, jobs: Sequence[int]) -> str:
        """Return the command that would release these jobs."""
        return self._site.describe([self.title(job) for job in jobs])

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
            if self._site.is_gone(why) or (job in rows and rows[job].held)
        }

    def _ended(self, job: str) -> HeldJob | None:
        """Return a job that ended since the last poll, if the system keeps a history, and not many have ended."""
        if self._lookups >= _MOST_LOOKUPS or self._options.dry_run:
            return None
        self._lookups += 1
        try:
            return self._site.ended(job)
        except InputError as error:
            self._report_invalid(error)
            return None

    def _listed(self) -> dict[str, HeldJob]:
        """Return all jobs that can be read; others are reported once."""
        return self._site.jobs(self._report_invalid)

    def _report_invalid(self, error: InputError) -> None:
        self._unreadable.report(error, "left alone")

    def _poll(self) -> None:
        began = self._polls.began()
        rows = self._listed()
        self._capacity = site = self._site.capacity(self._report_invalid)
        there = sum(site.nodes.values())
        before, self._most = self._most, max(self._most, there)
        now, self._lookups = self._clock(), 0
        changes = self._watch.update(rows, site.nodes, self._most, began, now)
        self._journal.append(*(OperatorHold(now, job, rows[job].created) for job in changes.withheld))
        self._past.settle(rows, now)
        self._polls.events += changes.events
        self._report(changes, rows)
        self._hold(changes.hold, rows)
        if before != self._most or self.status.processors != site.up:
            line = f"{site.up:,} of {there:,} CPUs of {self._site.words.nodes} are up"
            self._notify(LogEntry.of(line, "capacity", processors=site.up))
        self._unreadable.end_poll()
        self._polls.capacity(site.up)
        self._polls.ended(self._watch.waiting(), self._watch.count(Reported.HOLDS), len(changes.stuck))

    def _hold(self, jobs: Mapping[str, str], rows: Mapping[str, HeldJob]) -> None:
        if self._options.dry_run or not jobs:
            return
        now = self._clock()
        wanted = [rows[job] for job in jobs]
        self._journal.append(
            *(HoldingAgain(now, row.job, row.created, row.runs, jobs[row.job]) for row in wanted)
        )
        failed = self._site.hold(list(jobs))
        self._journal.append(
            *(HeldAgain(now, row.job, row.created, row.runs) for row in wanted if row.job not in failed)
        )
        for job in jobs:
            self._watch.hold_ended(job, job in failed, self._clock())
        for why in dict.fromkeys(jobs.values()):
            same = [job for job, each in jobs.items() if each == why and job not in failed]
            new = [job for job in same if self._is_new(job, why)]
            if new:
                line = f"{'job' if len(new) == 1 else 'jobs'} {listed(new)} held again: {why}"
                self._notify(LogEntry.of(line, "held", jobs=new, reason=why))
        for job, why in failed.items():
            if self._is_new(job, why):
                self._notify(f"job {job} cannot be held: {why}")

    def _report(self, changes: HoldChanges, rows: Mapping[str, HeldJob]) -> None:
        self._reported = {job: why for job, why in self._reported.items() if job in rows}
        self._arrays &= rows.keys()
        holder = self._site.words.holder
        for job in changes.withheld:
            line = f"job {job}: {holder} held it after its release; left alone"
            self._notify(LogEntry.of(line, "withheld", jobs=[job]))
        for job in changes.freed:
            self._notify(LogEntry.of(f"job {job}: {holder} released it", "freed", jobs=[job]))
        for job, why in changes.stuck.items():
            if self._is_new(job, why):
                line = f"job {job} ({rows[job].name}, user {rows[job].owner.user}) cannot start: {why}"
                self._notify(LogEntry.of(line, "cannot_start", jobs=[job], reason=why))
        self._report_arrays(rows.values())

    def _report_refused(self, still: Mapping[str, str]) -> None:
        new = {
            job: why for job, why in still.items() if not self._site.is_gone(why) and self._is_new(job, why)
        }
        if new:
            self._notify(LogEntry.of(QueueReturn((), new).problem(), "refused", jobs=list(new)))

    def _report_arrays(self, rows: Collection[HeldJob]) -> None:
        for row in rows:
            if row.array and row.held and row.queue == self._site.queue and row.job not in self._arrays:
                self._arrays.add(row.job)
                self._notify(f"job {row.job} is a job array; left alone: {self._site.words.array}")

    def _is_new(self, job: str, why: str) -> bool:
        before = self._reported.get(job)
        self._reported[job] = why
        return before != why
