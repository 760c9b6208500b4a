"""The protocol of a live engine's executor: workers at sites, launches of tasks, and events about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.engines.live.work import Work


@dataclass(frozen=True, slots=True)
class Worker:
    """A node: its number (its index in the list of workers), site, slots, and name in the cluster."""

    number: int
    site: int
    slots: int
    name: str


@dataclass(frozen=True, slots=True)
class Piece:
    """Data at a worker: its size in bytes, and the executor's handle of it."""

    worker: int
    size: int
    handle: Any


@dataclass(frozen=True, slots=True)
class SiteRead:
    """Pieces to read from one site, and their total size, bytes."""

    site: int
    size: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class TaskLaunch:
    """An order to start work on a worker.

    Parameters
    ----------
    key
        Identifies the launch in events; never reused.
    worker
        The worker.
    work
        What to do with the input.
    reads
        The input to read first, from all these sites at once.
    slot
        True if it holds a slot: tasks do, moves and loads do not.
    bring
        True if its output is brought to the driver instead of staying at the worker.
    """

    key: int
    worker: int
    work: Work
    reads: tuple[SiteRead, ...] = ()
    slot: bool = True
    bring: bool = False


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """A launch ended: when it started, had read, had computed (s on the executor's clock), and what it wrote."""

    key: int
    begun: float
    read: float
    computed: float
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A launch failed: a worker or an input was lost (``lost``: run it again), or it failed by its own error."""

    key: int
    lost: bool
    why: str


@dataclass(frozen=True, slots=True)
class Gone:
    """A worker is lost, with all work and data on it; it has no further events."""

    worker: int


Event = TaskEnded | Failed | Gone


class Executor(Protocol):
    """Carries out launches on a cluster."""

    @property
    def workers(self) -> Sequence[Worker]:
        """All workers, including dead ones."""
        ...

    def now(self) -> float:
        """Return the seconds since the executor was made."""
        ...

    def launch(self, order: TaskLaunch) -> None:
        """Start work; returns at once."""
        ...

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call; wait up to ``timeout`` (s) for one."""
        ...

    def in_use(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the current bytes/s on each site's uplink and downlink."""
        ...

    def close(self) -> None:
        """Stop what this executor started, and nothing else; a second call has no effect."""
        ...
