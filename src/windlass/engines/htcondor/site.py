"""A queue of HTCondor, as a driver of held jobs sees it."""

from __future__ import annotations

import dataclasses
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

from windlass.engines.batch.holds.site import HeldJob, HoldCapacity, HoldPhase, HoldWords
from windlass.engines.batch.status import Contact
from windlass.engines.htcondor.client import CondorClient, release_condition, these
from windlass.engines.htcondor.models import CondorSlot
from windlass.engines.htcondor.reader import read_job, read_slot
from windlass.model import InputError

#: A name of a queue needs no quotes in an expression, nor in a command.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(slots=True)
class LastList:
    """What the last list of jobs showed: jobs that have ended but stay listed, and the names of the queue's daemon."""

    over: dict[str, HeldJob] = field(default_factory=dict)
    schedds: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class CondorSite:
    """Jobs of HTCondor with one value of ``WindlassQueue``.

    Such a job waits for Windlass if it was submitted on hold, or if a driver holds it again. HTCondor knows one hold of
    a job, with its reason, so a hold of users or of HTCondor itself is another one.

    Parameters
    ----------
    client
        HTCondor.
    queue
        The value of ``WindlassQueue``.
    last
        Updated with each list.

    Raises
    ------
    InputError
        The queue has an invalid name.
    """

    client: CondorClient
    queue: str
    last: LastList = field(default_factory=LastList, compare=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.queue):
            raise InputError(
                f"--queue: {self.queue!r}: expected letters, digits, dots, hyphens and underscores"
            )

    @property
    def words(self) -> HoldWords:
        """Names for messages."""
        nodes = "no slot is in the pool; see condor_status"
        return HoldWords("HTCondor", "htcondor", "a user", "the pool's slots", nodes)

    @property
    def contact(self) -> Contact:
        """Whether HTCondor answers."""
        return self.client.contact

    def identity(self) -> str:
        """Return the names of pool, queue daemon and queue; the default queue daemon has the name of its host."""
        # Hosts may share the folder of the journals.
        return f"{self.client.pool or 'local'}:{self.client.schedd or socket.gethostname()}:{self.queue}"

    def patient(self, seconds: float) -> Self:
        """Return this queue with another patience while HTCondor does not answer, s."""
        return dataclasses.replace(self, client=dataclasses.replace(self.client, patience=seconds))

    def waiting(self, sleep: Callable[[float], None]) -> Self:
        """Return this queue with another function that waits before a command of HTCondor is tried again."""
        return dataclasses.replace(self, client=dataclasses.replace(self.client, sleep=sleep))

    def jobs(self, report: Callable[[InputError], None]) -> dict[str, HeldJob]:
        """Return all jobs of the queue's daemon; pass the error of each that cannot be read."""
        found: dict[str, HeldJob] = {}
        ads = self.client.jobs()
        for ad in ads:
            try:
                row = read_job(ad)
            except InputError as error:
                report(error)
                continue
            found[row.job] = row
        self.last.over = {job: row for job, row in found.items() if row.phase is HoldPhase.OVER}
        self.last.schedds |= {str(ad["globaljobid"]).partition("#")[0] for ad in ads if "globaljobid" in ad}
        return found

    def capacity(self, report: Callable[[InputError], None]) -> HoldCapacity:
        """Return the CPUs of the pool's slots, less those that jobs of other queue daemons hold."""
        slots: list[CondorSlot] = []
        for ad in self.client.slots():
            try:
                slots.append(read_slot(ad))
            except InputError as error:
                report(error)
        slots = [slot for slot in slots if not slot.backfill]
        nodes = {slot.name: slot.procs for slot in slots if not slot.dynamic and not slot.offline}
        up = sum(slot.procs for slot in slots if not slot.dynamic and slot.up)
        others = sum(
            slot.procs for slot in slots if slot.up and slot.schedd and slot.schedd not in self.last.schedds
        )
        return HoldCapacity(max(0, up - others), nodes)

    def ended(self, job: str) -> HeldJob | None:
        """Return a job that has left the queue, or has ended and is still listed; None if it is unknown."""
        if job in self.last.over:
            return self.last.over[job]
        ad = self.client.ended(job)
        return None if ad is None else read_job(ad)

    def release(self, jobs: Sequence[str]) -> dict[str, str]:
        """Lift Windlass's hold of these jobs; return a message for each that still has it."""
        return self.client.release(self.queue, jobs)

    def hold(self, jobs: Sequence[str]) -> dict[str, str]:
        """Hold those of these jobs that are idle; return a message for each that is not held for Windlass."""
        return self.client.hold(self.queue, jobs)

    def is_gone(self, why: str) -> bool:
        """Return False: a job that has left the queue is no failure, and the next list shows it."""
        return False

    def describe(self, jobs: Sequence[str]) -> str:
        """Return the command that would release these jobs."""
        return f"condor_release -constraint '{release_condition(self.queue)} && {these(jobs)}'"
