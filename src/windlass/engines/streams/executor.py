"""What the engine of streams needs of a cluster: nodes, chains of components started there, and what became of them.

A *chain* is one query under one configuration: segments in the order of the stream, each on a node. A *segment* is all
components of the query at one cluster; they run in one process, as what they hand over then goes nowhere. The first
segment is at the camera, where the clip is played, even if no component is.

Frame k of a query is born k / rate seconds after the query came, whoever plays it. So two chains of a query can take
over from each other between two frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from windlass.model.queries import Query


@dataclass(frozen=True, slots=True)
class QueryFeed:
    """A query, and the clip that its camera plays again and again.

    Parameters
    ----------
    query
        What it computes, and how it may.
    rate
        Frames a second, more than 0.
    frames
        Frames of a playing, at least 1.
    clip
        The clip's file; executors read it.
    """

    query: Query
    rate: float
    frames: int
    clip: str = ""

    @property
    def seconds(self) -> float:
        """How long a playing takes."""
        return self.frames / self.rate


@dataclass(frozen=True, slots=True)
class StreamNode:
    """A machine: its number, never used twice; the index of its cluster; its cores; the cluster's name for it."""

    number: int
    cluster: int
    cores: float
    name: str


@dataclass(frozen=True, slots=True)
class Segment:
    """Components ``first`` to ``last`` (exclusive) of a plan, at a node of a cluster."""

    cluster: int
    node: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ChainLaunch:
    """Start a chain; it plays nothing yet.

    Parameters
    ----------
    key
        What events about it are known by; never used twice.
    feed
        Whose chain it is.
    zero
        When frame 0 was born, s on the executor's clock.
    plan
        Which of the query's plans.
    segments
        Where each part of it runs.
    """

    key: int
    feed: QueryFeed
    zero: float
    plan: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that came through.

    Parameters
    ----------
    number
        Since the query came.
    done
        When it was done with, s.
    found
        What was found in it.
    covers
        For how many frames it stands: itself, and those after it that the plan does not look at.
    """

    number: int
    done: float
    found: Any
    covers: int = 1


@dataclass(frozen=True, slots=True)
class ChainReady:
    """All segments of a chain are up."""

    key: int


@dataclass(frozen=True, slots=True)
class Came:
    """Frames came through a chain."""

    key: int
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class ChainBroken:
    """A chain failed or lost a part; what is left of it has been stopped, and no more will be heard of it."""

    key: int
    why: str


@dataclass(frozen=True, slots=True)
class NodeGone:
    """A node is gone, with all that ran there. Chains that had a part there are not told of apart."""

    number: int


@dataclass(frozen=True, slots=True)
class NodeCame:
    """There is a new node, or one that was gone is back under another number."""

    node: StreamNode


Event = ChainReady | Came | ChainBroken | NodeGone | NodeCame


class StreamExecutor(Protocol):
    """Runs chains on a cluster. It knows no policy, and calls return at once: what fails is told by :meth:`poll`."""

    @property
    def nodes(self) -> Sequence[StreamNode]:
        """The nodes there were when it was made; :meth:`poll` tells of changes."""
        ...

    def now(self) -> float:
        """Seconds since the executor was made."""
        ...

    def launch(self, order: ChainLaunch) -> None:
        """Start the parts of a chain; :class:`ChainReady` follows, or :class:`ChainBroken`."""
        ...

    def play(self, key: int, first: int) -> None:
        """Have a chain that is ready play, from a frame on. One that has broken since is no error."""
        ...

    def end(self, key: int, last: int) -> None:
        """Have a chain play no frame from this one on; those before still come through. As for :meth:`play`."""
        ...

    def stop(self, key: int) -> None:
        """Stop a chain at once; nothing more is heard of it. A chain that is not there is no error."""
        ...

    def poll(self, timeout: float) -> list[Event]:
        """What happened; waits up to so many seconds for something to."""
        ...

    def close(self) -> None:
        """Stop what this executor started, and nothing else; more than once does no harm."""
        ...
