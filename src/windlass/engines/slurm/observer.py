"""The protocol of an observer of a driver, such as the control plane, which keeps a journal of all engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from windlass.engines.slurm.entries import Entry
from windlass.engines.slurm.models import JobRow, NodeRow


@dataclass(frozen=True, slots=True, eq=False)
class SlurmPoll:
    """The content of a poll.

    Parameters
    ----------
    now
        Unix time of the poll, s.
    jobs
        All jobs that Slurm lists in the partition, also those that ended recently.
    nodes
        The nodes of the partition.
    stuck
        Jobs of Windlass that cannot start unless a user or an administrator acts, with the reason of each.
    """

    now: float
    jobs: Sequence[JobRow]
    nodes: Sequence[NodeRow]
    stuck: Mapping[int, str]


class DriverObserver(Protocol):
    """Is notified of what a driver sees and does. An error that it raises ends the driver."""

    def appended(self, entries: Sequence[Entry]) -> None:
        """Take note of entries that the driver's journal has on disk; what they announce is not carried out yet."""
        ...

    def polled(self, poll: SlurmPoll) -> None:
        """Take note of a poll, before the policy is called."""
        ...

    def decided(self, decision: str, view: Any, answer: Any) -> None:
        """Take note of an answer and its view, before the answer is carried out."""
        ...


class Unobserved:
    """The observer of a driver without one."""

    def appended(self, entries: Sequence[Entry]) -> None:
        """Do nothing."""

    def polled(self, poll: SlurmPoll) -> None:
        """Do nothing."""

    def decided(self, decision: str, view: Any, answer: Any) -> None:
        """Do nothing."""
