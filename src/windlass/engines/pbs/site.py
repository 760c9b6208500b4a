"""A queue of PBS, as a driver of held jobs sees it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from windlass.engines.batch.holds.site import HeldJob, HoldCapacity, HoldWords
from windlass.engines.batch.status import Contact
from windlass.engines.pbs.client import GONE, PbsClient
from windlass.engines.pbs.models import OURS, PbsNode
from windlass.engines.pbs.reader import read_job, read_node
from windlass.model import InputError


@dataclass(frozen=True, slots=True)
class PbsSite:
    """A queue of PBS. The hold of a driver is ``o``; other holds are kept.

    Parameters
    ----------
    client
        PBS.
    queue
        The execution queue whose held jobs are released.
    """

    client: PbsClient
    queue: str

    @property
    def words(self) -> HoldWords:
        """Names for messages."""
        return HoldWords(
            "PBS",
            "pbs",
            "an operator",
            "the queue's vnodes",
            f"--queue: no vnode may run jobs of queue {self.queue!r}; see pbsnodes -a",
            f"release it with qrls -h {OURS}",
        )

    @property
    def contact(self) -> Contact:
        """Whether PBS answers."""
        return self.client.contact

    def identity(self) -> str:
        """Return the name of the server and of the queue."""
        return f"{self.client.nodes().server}:{self.queue}"

    def patient(self, seconds: float) -> Self:
        """Return this queue with another patience while PBS does not answer, s."""
        return dataclasses.replace(self, client=dataclasses.replace(self.client, patience=seconds))

    def waiting(self, sleep: Callable[[float], None]) -> Self:
        """Return this queue with another function that waits before a command of PBS is tried again."""
        return dataclasses.replace(self, client=dataclasses.replace(self.client, sleep=sleep))

    def jobs(self, report: Callable[[InputError], None]) -> dict[str, HeldJob]:
        """Return all jobs that have not ended; pass the error of each that cannot be read."""
        found: dict[str, HeldJob] = {}
        for job, tree in self.client.jobs().rows.items():
            try:
                found[job] = read_job(job, tree)
            except InputError as error:
                report(error)
        return found

    def capacity(self, report: Callable[[InputError], None]) -> HoldCapacity:
        """Return the CPUs of the queue's own vnodes; without such vnodes, of those of no queue."""
        nodes: list[PbsNode] = []
        for name, tree in self.client.nodes().rows.items():
            try:
                nodes.append(read_node(name, tree))
            except InputError as error:
                report(error)
        own = [node for node in nodes if node.queue == self.queue]
        usable = own or [node for node in nodes if not node.queue]
        up = sum(node.procs for node in usable if node.up)
        return HoldCapacity(up, {node.name: node.procs for node in usable})

    def ended(self, job: str) -> HeldJob | None:
        """Return a job that is no longer listed; None if PBS keeps no history of it."""
        found = self.client.ended(job)
        return read_job(job, found.rows[job]) if found is not None and job in found.rows else None

    def release(self, jobs: Sequence[str]) -> dict[str, str]:
        """Lift the driver's hold of these jobs; return a message for each whose release may have failed."""
        return self.client.release(jobs)

    def hold(self, jobs: Sequence[str]) -> dict[str, str]:
        """Set the driver's hold of waiting jobs; return a message for each whose hold may have failed."""
        return self.client.hold(jobs)

    def is_gone(self, why: str) -> bool:
        """Return whether a message about a job means that it does not exist any more."""
        return why.startswith(GONE)

    def describe(self, jobs: Sequence[str]) -> str:
        """Return the command that would release these jobs."""
        return f"qrls -h {OURS} {' '.join(jobs)}"
