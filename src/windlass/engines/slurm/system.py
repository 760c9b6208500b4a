"""Slurm as a batch system: held jobs that their users left to Windlass are released when a policy says so."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from windlass.engines.batch.system import Capacity, Event, NoMore
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.entries import GivenBack, Refused, Releasing
from windlass.engines.slurm.guests import Guests
from windlass.engines.slurm.history import Past
from windlass.engines.slurm.journal import Record
from windlass.engines.slurm.models import OPT_IN, JobRow, NodeRow, Phase
from windlass.engines.slurm.watch import SlurmWatch
from windlass.model import BatchError, InputError

#: With no job to look after, looks come this many times less often.
_IDLE_PACE = 4.0


@dataclass(frozen=True, slots=True)
class SlurmOptions:
    """How a driver looks at Slurm.

    Parameters
    ----------
    pace
        How often jobs are looked at while there are any to look after, s.
    until_idle
        Whether to end when no job is left that is Windlass's to start; in service otherwise.
    partition
        Look at these nodes and jobs alone; None for all.
    only_look
        Whether to change nothing, whatever is found.
    """

    pace: float = 0.25
    until_idle: bool = False
    partition: str | None = None
    only_look: bool = False


def may_release(row: JobRow) -> bool:
    """Whether a job waits to be released, and nobody above its user holds it."""
    return row.held and not row.barred


class SlurmSystem:
    """Keeps :class:`~windlass.engines.batch.system.BatchSystem` on Slurm's own commands.

    Only jobs that were submitted held and with the comment ``windlass`` are ever released, held or changed. Others are
    told of while they run, as they hold processors, and left alone. Times are Unix times of this host, s.

    Parameters
    ----------
    client
        Slurm.
    journal
        Where each release is written down before it is done.
    options
        How it looks.
    tell
        Told in a line of what is worth a user's eye.

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
        tell: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client, self._journal, self._options = client, journal, options or SlurmOptions()
        self._tell, self._clock, self._sleep = tell, clock, sleep
        self._past = past = Past(journal)
        #: Jobs that were taken in, and what was changed of them for it.
        self.guests = Guests(client, journal, past, tell, clock)
        self._watch = SlurmWatch(past.let_go, past.put_back, past.withheld, past.returning)
        self._rows: Mapping[int, JobRow] = {}
        self._now = clock()
        self._looks, self._next_look = 0, -math.inf
        self._no_more = False
        self._skipped: set[int] = set()
        self._told: list[Event] = []
        self.processors = self._capacity = self._count(client.nodes())

    def now(self) -> float:
        """Unix time when this was last polled, s: what is decided upon one poll is decided at one instant.

        Policies promise times by it. Were it a few ms later when a job is let go than when that was decided, no promise
        that follows upon the job's end could be kept to the letter.
        """
        return self._now

    def poll(self, timeout: float) -> list[Event]:
        """What has happened since; Slurm is looked at as often as the options say, and not more often."""
        until = self._clock() + timeout
        while True:
            if self._clock() >= self._next_look:
                self._look()
            if self._told or self._clock() >= until:
                self._now = self._clock()
                told, self._told = self._told, []
                return told
            self._sleep(max(0.0, min(until, self._next_look) - self._clock()))

    def start(self, jobs: Sequence[int]) -> dict[int, str]:
        """Release these jobs, in this order, in one call; each is in the journal first.

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
        said = self._client.release(wanted)
        still = self._still_held(wanted) if said else set()
        for job in wanted:
            if job in still:
                refused[job] = said
            else:
                self._watch.released(job, now)
        self._journal.append(*(Refused(now, job, refused[job]) for job in wanted if job in refused))
        return refused

    def describe(self, jobs: Sequence[int]) -> str:
        """The command that would release these jobs."""
        return f"scontrol release {','.join(str(job) for job in jobs)}"

    def close(self) -> None:
        """Nothing of Slurm's was started, so nothing is stopped."""

    def give_back(self) -> tuple[int, ...]:
        """Release all jobs that wait for Windlass, so that Slurm starts them by itself; which.

        Raises
        ------
        BatchError
            Slurm does not answer, or refuses; names the jobs.
        """
        rows = self._client.jobs()
        self._rows = {row.job: row for row in rows}
        here = [row for row in rows if row.opted_in and may_release(row) and self._is_here(row)]
        held = tuple(row.job for row in here if not self._past.withheld(row))
        self.guests.restore(rows)
        if held:
            self._journal.append(GivenBack(self._clock(), held))
            said = self._client.release(held)
            if said and (still := self._still_held(held)):
                raise BatchError(f"jobs {', '.join(map(str, sorted(still)))} stay held: {said}")
        return held

    def details(self, job: int) -> JobRow:
        """All that was last seen of a job.

        Raises
        ------
        InputError
            There is no such job.
        """
        if job not in self._rows:
            raise InputError(f"job {job}: Slurm knows of no such job")
        return self._rows[job]

    def knows(self, job: int) -> bool:
        """Whether a job was there when Slurm was last looked at."""
        return job in self._rows

    def nodes_of(self, job: int) -> tuple[str, ...]:
        """Names of the nodes that a job runs on; none where it waits."""
        return self._client.hosts(self.details(job).nodes)

    def release_beside(self, job: int, host: int, quota: int, longest: float, until: float) -> str:
        """Release a held job onto the nodes of a running one, as :meth:`Guests.take_in` has it; why not, or nothing."""
        row, nodes = self.details(job), self.nodes_of(host)
        said = self.guests.take_in(row, host, nodes, quota, longest, until)
        said = said or self.start([job]).get(job, "")
        if said:
            self.guests.restore([row])
        return said

    def _look(self) -> None:
        began = self._clock()
        rows = self._client.jobs()
        now = self._clock()
        self._rows = {row.job: row for row in rows}
        here = [row for row in rows if self._is_here(row)]
        changes = self._watch.look(here, began, now)
        if self._looks == 0:
            self._past.forget(self._rows, now)
        self._looks += 1
        self._past.keep(changes.events, [self._rows[job] for job in changes.withheld], now)
        self._told += changes.events
        for job in changes.withheld:
            self._tell(
                f"job {job} is held by somebody since it was let go, and left alone until they release it"
            )
        self._hold(changes.hold)
        self._past.restored(self._rows, now)
        if not self._options.only_look:
            self.guests.restore(rows)
        self._look_at_nodes()
        mine = [row for row in here if row.opted_in and row.phase is not Phase.OVER]
        self._say_skipped(here)
        if self._options.until_idle and not mine and not self._no_more:
            self._no_more = True
            self._told.append(NoMore())
        self._next_look = self._clock() + self._options.pace * (1.0 if mine else _IDLE_PACE)

    def _look_at_nodes(self) -> None:
        capacity = self._count(self._client.nodes())
        if capacity != self._capacity:
            self._capacity = capacity
            self._told.append(Capacity(capacity))

    def _hold(self, jobs: Mapping[int, str]) -> None:
        for job, why in ({} if self._options.only_look else jobs).items():
            said = self._client.hold([job])
            self._tell(f"job {job} is held: {why}" if not said else f"job {job} cannot be held: {said}")

    def _still_held(self, jobs: Sequence[int]) -> set[int]:
        """Of those that a command did not release all: the ones that it did not."""
        rows = {row.job: row for row in self._client.jobs()}
        return {job for job in jobs if job not in rows or rows[job].held}

    def _is_here(self, row: JobRow) -> bool:
        return self._options.partition in (None, row.partition)

    def _count(self, nodes: Sequence[NodeRow]) -> int:
        partition = self._options.partition
        here = [node for node in nodes if partition is None or partition in node.partitions]
        if not here:
            raise InputError(
                f"--partition: {partition!r} has no nodes" if partition else "Slurm has no nodes"
            )
        return sum(node.procs for node in here if node.up)

    def _say_skipped(self, rows: Sequence[JobRow]) -> None:
        for row in rows:
            if row.many and row.held and row.comment.split()[:1] == [OPT_IN] and row.job not in self._skipped:
                self._skipped.add(row.job)
                self._tell(
                    f"job {row.job} is an array or of several parts, and left alone: release it yourself"
                )
