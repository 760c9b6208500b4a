"""The protocol of a cluster that the engine of streams drives: nodes, chains of components, and their events.

A *chain* is one query under one configuration: segments in the order of the stream, each on a node. A *segment* is all
components of the query at one cluster; they run in one process, so that data between them needs no transfer. The first
segment is at the camera, where the clip is played, even if it has no component.

Frame k of a query is born k / rate seconds after the query was added, whichever chain plays it. One chain of a query
can therefore take over from another between two frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from windlass.model.queries import Query


@dataclass(frozen=True, slots=True)
class QueryFeed:
    """A query, and the clip that its camera plays repeatedly.

    Parameters
    ----------
    query
        The query and its plans.
    rate
        Frames per second, more than 0.
    frames
        Frames of a playing, at least 1.
    clip
        The clip's file, which executors read.
    """

    query: Query
    rate: float
    frames: int
    clip: str = ""

    @property
    def seconds(self) -> float:
        """Length of a playing, s."""
        return self.frames / self.rate


@dataclass(frozen=True, slots=True)
class StreamNode:
    """A machine: its number, never reused; the index of its cluster; its cores; and its name in the cluster."""

    number: int
    cluster: int
    cores: float
    name: str


@dataclass(frozen=True, slots=True)
class Segment:
    """Components ``first`` to ``last`` (exclusive) of a plan, on a node of a cluster."""

    cluster: int
    node: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ChainLaunch:
    """An order to start a chain, which does not play yet.

    Parameters
    ----------
    key
        Identifies the chain in events; never reused.
    feed
        The query and its clip.
    zero
        When frame 0 was born, s on the executor's clock.
    plan
        Index of the query's plan.
    segments
        The node of each part.
    """

    key: int
    feed: QueryFeed
    zero: float
    plan: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that passed the whole chain.

    Parameters
    ----------
    number
        Its number since the query was added.
    done
        When its processing ended, s.
    found
        The result of the last component.
    covers
        Number of frames that it represents: itself, and the following ones that the plan skips.
    """

    number: int
    done: float
    found: Any
    covers: int = 1


@dataclass(frozen=True, slots=True)
class ChainReady:
    """All segments of a chain are ready."""

    key: int


@dataclass(frozen=True, slots=True)
class FramesPassed:
    """Frames passed a chain."""

    key: int
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class ChainBroken:
    """A chain failed or lost a part; its other parts were stopped, and it has no further events."""

    key: int
    why: str


@dataclass(frozen=True, slots=True)
class NodeGone:
    """A node was lost, with everything on it. Chains with a part there have no separate event."""

    number: int


@dataclass(frozen=True, slots=True)
class NodeCame:
    """A node joined, or a lost node returned with a new number."""

    node: StreamNode


Event = ChainReady | FramesPassed | ChainBroken | NodeGone | NodeCame


class StreamExecutor(Protocol):
    """Runs chains on a cluster. It knows no policy, and calls return at once: :meth:`poll` reports failures."""

    @property
    def nodes(self) -> Sequence[StreamNode]:
        """The nodes at the time of construction; :meth:`poll` reports changes."""
        ...

    def now(self) -> float:
        """Return the seconds since the executor was made."""
        ...

    def launch(self, order: ChainLaunch) -> None:
        """Start the parts of a chain; :class:`ChainReady` or :class:`ChainBroken` follows."""
        ...

    def play(self, key: int, first: int) -> None:
        """Let a ready chain play from a frame on. A chain that has broken since is not an error."""
        ...

    def end(self, key: int, last: int) -> None:
        """Let a chain stop before this frame; earlier ones still pass. A broken chain is not an error."""
        ...

    def stop(self, key: int) -> None:
        """Stop a chain at once; it has no further events. A missing chain is not an error."""
        ...

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call; wait up to ``timeout`` (s) for one."""
        ...

    def close(self) -> None:
        """Stop what this executor started, and nothing else; a second call has no effect."""
        ...
