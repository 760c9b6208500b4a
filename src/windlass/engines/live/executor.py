"""What a live engine needs of a cluster: workers at sites, tasks started there, and word of how they ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.engines.live.work import Work


@dataclass(frozen=True, slots=True)
class Worker:
    """A node: its number (its place in the list of workers), site, slots, and the cluster's name for it."""

    number: int
    site: int
    slots: int
    name: str


@dataclass(frozen=True, slots=True)
class Piece:
    """Data at a worker: its size in bytes, and what the executor finds it by."""

    worker: int
    size: int
    handle: Any


@dataclass(frozen=True, slots=True)
class SiteRead:
    """Pieces to read from one site, and how many bytes that is."""

    site: int
    size: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class TaskLaunch:
    """Start this on a worker.

    Parameters
    ----------
    key
        What the events about it are known by; never used twice.
    worker
        Where.
    work
        What to do with what was read.
    reads
        What to read first, from all these sites at once.
    slot
        Whether it holds a slot: tasks do, moves and loads do not.
    bring
        Whether what it writes is brought to the driver instead of staying at the worker.
    """

    key: int
    worker: int
    work: Work
    reads: tuple[SiteRead, ...] = ()
    slot: bool = True
    bring: bool = False


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """It ended: when it began, had read, had computed (s on the executor's clock), and what it wrote."""

    key: int
    begun: float
    read: float
    computed: float
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """It failed: because a worker or an input was lost (``lost``: run it again), or by its own error."""

    key: int
    lost: bool
    why: str


@dataclass(frozen=True, slots=True)
class Gone:
    """A worker is gone, with all that ran and lay there; nothing more will be heard of it."""

    worker: int


Event = TaskEnded | Failed | Gone


class Executor(Protocol):
    """Carries out launches on a cluster."""

    @property
    def workers(self) -> Sequence[Worker]:
        """All workers, dead ones too."""
        ...

    def now(self) -> float:
        """Seconds since the executor was made."""
        ...

    def launch(self, order: TaskLaunch) -> None:
        """Start it; returns at once."""
        ...

    def poll(self, timeout: float) -> list[Event]:
        """What happened; waits up to so many seconds for something to."""
        ...

    def in_use(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bytes/s on each site's up- and downlink now."""
        ...

    def close(self) -> None:
        """Stop what this executor started, and nothing else; more than once does no harm."""
        ...
