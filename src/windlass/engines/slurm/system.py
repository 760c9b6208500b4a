"""Slurm as a batch system: held jobs that opted in to Windlass are released when a policy starts them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import msgspec

from windlass.engines.batch.batches import batches
from windlass.engines.batch.log_entry import LogEntry
from windlass.engines.batch.polling import Polls
from windlass.engines.batch.status import DriverStatus
from windlass.engines.batch.system import Event
from windlass.engines.slurm.allocation import allocation, gives_whole_cores
from windlass.engines.slurm.batches import job_list
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.entries import Holding, Refused, Released, Releasing
from windlass.engines.slurm.give_back import may_release
from windlass.engines.slurm.guests import Guests
from windlass.engines.slurm.history import Past
from windlass.engines.slurm.journal import Record
from windlass.engines.slurm.models import JobRow, NodeRow, Phase
from windlass.engines.slurm.notices import Notices
from windlass.engines.slurm.observer import SlurmPoll
from windlass.engines.slurm.sizes import capacity_change, excess, partition_sizes, processors_up
from windlass.engines.slurm.watch import SlurmWatch
from windlass.model import InputError


@dataclass(frozen=True, slots=True)
class SlurmOptions:
    """How a driver polls Slurm.

    Parameters
    ----------
    pace
        Polling interval while there are jobs of Windlass, s. After a poll that took longer than a fourth of it, the
        pause is four times as long as the poll.
    until_idle
        True to end when no job of Windlass is left; False to run as a service.
    partition
        Consider only the nodes and jobs of this partition; None for all.
    dry_run
        True to change nothing.
    """

    pace: float = 0.25
    until_idle: bool = False
    partition: str | None = None
    dry_run: bool = False


class SlurmSystem:
    """A :class:`~windlass.engines.batch.system.BatchSystem` on Slurm's commands.

    Only jobs that were submitted held and with the comment ``windlass`` are ever released, held or changed. Other jobs
    are reported while they run, as they hold processors, but are left alone. Times are Unix times of this host, s.

    Parameters
    ----------
    client
        Slurm.
    journal
        Where each release is recorded before it is made.
    options
        How Slurm is polled.
    notify
        Called with a line for each warning.
    status
        Updated at each poll and release.
    polled
        Called with the content of each poll.

    Raises
    ------
    InputError
        The partition has no nodes.
    AwayError
        Slurm does not answer.
    """

    def __init__(
        self,
        client: Client,
        journal: Record,
        options: SlurmOptions | None = None,
        *,
        notify: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        status: DriverStatus | None = None,
        polled: Callable[[SlurmPoll], None] = lambda poll: None,
    ) -> None:
        self._client, self._journal, self._options = client, journal, options or SlurmOptions()
        self._notify, self._clock, self._polled = notify, clock, polled
        self.status = status or DriverStatus(contact=client.contact)
        pace, until_idle = self._options.pace, self._options.until_idle
        self._polls = Polls(self._poll_jobs, pace, until_idle, clock, sleep, self.status)
        self._past = past = Past(journal)
        #: Guests, and the changes made to them.
        self.guests = Guests(client, journal, past, notify, clock)
        self._watch = SlurmWatch(
            past.was_released,
            past.was_requeued,
            past.withheld,
            past.returning,
            self._excess,
            past.is_users,
        )
        self._rows: Mapping[int, JobRow] = {}
        self._outages, self._notices = client.contact.outages, Notices(notify)
        self._nodes = self._here(client.nodes())
        self._sizes = partition_sizes(self._nodes)
        self._whole_cores = gives_whole_cores(client, self._nodes)
        self.processors = self.status.processors = processors_up(self._nodes)

    def now(self) -> float:
        """Return the Unix time of the last poll, s, so that all decisions of one poll have the same time.

        Policies promise start times relative to it. If a release were stamped milliseconds after its decision, promises
        that follow from the job's end could be missed by as much.
        """
        return self._polls.now

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call; Slurm is polled at most at the interval of the options."""
        return self._polls.wait(timeout)

    def start(self, jobs: Sequence[int]) -> dict[int, str]:
        """Release these jobs, in this order; each release is journaled first.

        Slurm gives each job that it releases a lower priority than the one before, and so starts them in this order.
        """
        now = self._clock()
        known = {job: row for job in jobs if (row := self._watch.row(job)) is not None}
        refused = {
            job: "no such job is held" for job in jobs if job not in known or not may_release(known[job])
        }
        wanted = [job for job in jobs if job not in refused]
        if not wanted:
            return refused
        self._journal.append(*(Releasing(now, job, known[job].submit, known[job].restarts) for job in wanted))
        failed = self._client.release(wanted)
        still = self._still_held(failed)
        for job in wanted:
            if job in still:
                refused[job] = failed[job]
                self._polls.events += self._watch.refused(job, self._clock())
            else:
                self._watch.released(job, now)
        done = self._clock()
        self._journal.append(
            *(
                Refused(done, job, refused[job])
                if job in refused
                else Released(done, job, known[job].submit, known[job].restarts)
                for job in wanted
            )
        )
        self.status.started += len(wanted) - len(still)
        self.status.refusals += len(still)
        self._notices.refused({job: failed[job] for job in wanted if job in still})
        return refused

    def describe(self, jobs: Sequence[int]) -> str:
        """Return the commands that release these jobs, a line each."""
        return "\n".join(f"scontrol release {job_list(batch)}" for batch in batches(jobs))

    def close(self) -> None:
        """Do nothing: no process was started."""

    def details(self, job: int) -> JobRow:
        """Return a job as listed at the last poll.

        Raises
        ------
        InputError
            The job does not exist.
        """
        if job not in self._rows:
            raise InputError(f"job {job}: Slurm lists no such job")
        return self._rows[job]

    def knows(self, job: int) -> bool:
        """Return whether Slurm listed a job at the last poll."""
        return job in self._rows

    def nodes_of(self, job: int) -> tuple[str, ...]:
        """Return the names of the nodes that a job runs on; empty if it waits."""
        return self._client.hosts(self.details(job).nodes)

    def release_shared(self, job: int, host: int, quota: int, longest: float, until: float) -> str:
        """Make a held job a guest (:meth:`Guests.take_in`) and release it; return an error message, or nothing."""
        row, nodes = self.details(job), self.nodes_of(host)
        error = self.guests.take_in(row, host, nodes, quota, longest, until)
        error = error or self.start([job]).get(job, "")
        if error:
            self.guests.not_tried(job)
            self.guests.restore([row])
        return error

    def _poll_jobs(self) -> None:
        began = self._polls.began()
        listed = self._client.jobs(self._options.partition)
        rows = [self.guests.as_requested(self._allocated(row)) for row in listed]
        before, self._outages = self._outages, self._client.contact.outages
        restarted = cache(
            lambda: before != self._outages and self._client.booted() >= math.floor(self._polls.now)
        )
        now = self._clock()
        self._rows = {row.job: row for row in rows}
        here = [row for row in rows if self._is_here(row)]
        changes = self._watch.update(here, began, now, restarted)
        self._past.keep(changes.events, [self._rows[job] for job in changes.withheld], now)
        self._past.forget(self._rows, now)
        self.guests.forget(self._rows)
        self._polls.events += changes.events
        self._notices.changed(changes, self._rows)
        self._hold(changes.hold)
        self._past.restored(self._rows, now)
        if not self._options.dry_run:
            self.guests.restore(rows)
        self._poll_nodes()
        mine = [
            row
            for row in here
            if row.opted_in and row.phase is not Phase.OVER and row.job not in changes.stuck
        ]
        self._notices.skipped(here)
        running = sum(row.phase is Phase.RUNS for row in mine)
        self._polls.ended(len(mine) - running, running, len(changes.stuck))
        self._polled(SlurmPoll(now, here, self._nodes, changes.stuck))

    def _poll_nodes(self) -> None:
        nodes = self._here(self._client.nodes())
        before, self._nodes, self._sizes = self._nodes, nodes, partition_sizes(nodes)
        if line := capacity_change(before, nodes):
            self._notify(LogEntry.of(line, "capacity", processors=processors_up(nodes)))
        self._polls.capacity(processors_up(nodes))

    def _hold(self, jobs: Mapping[int, str]) -> None:
        if not self._options.dry_run and jobs:
            self._journal.append(*(Holding(self._clock(), job) for job in jobs))
            failed = self._client.hold(list(jobs))
            for job in jobs.keys() - failed.keys():
                self._watch.held(job)
            for job in failed:
                self._polls.events += self._watch.not_held(job, self._clock())
            self._notices.held(jobs, failed)

    def _still_held(self, failed: Collection[int]) -> set[int]:
        """Return the jobs of these, which a command failed to release, that are still held.

        One that Slurm no longer lists is not: the next poll reports it as cancelled, and it is not tried again before.
        """
        held = {row.job for row in self._client.jobs() if row.held} if failed else set()
        return held & set(failed)

    def _is_here(self, row: JobRow) -> bool:
        return row.is_in(self._options.partition)

    def _here(self, nodes: Sequence[NodeRow]) -> list[NodeRow]:
        partition = self._options.partition
        here = [node for node in nodes if partition is None or partition in node.partitions]
        if not here:
            raise InputError(
                f"--partition: {partition!r} has no nodes" if partition else "Slurm has no nodes"
            )
        return here

    def _allocated(self, row: JobRow) -> JobRow:
        """Return a job with the processors that Slurm will give it, if it waits."""
        if row.phase is not Phase.WAITS or not (row.whole_nodes or self._whole_cores):
            return row
        procs = allocation(row, self._sizes, self._whole_cores)
        return row if procs == row.procs else msgspec.structs.replace(row, procs=procs)

    def _excess(self, row: JobRow) -> str:
        return excess(row, self._sizes)
