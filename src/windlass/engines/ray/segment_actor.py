"""The Ray actor of a segment of a stream's chain. Nodes need Windlass and the libraries of its components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ray
from ray import exceptions

from windlass.engines.streams.executor import Frame
from windlass.engines.streams.part import FrameItem, SegmentWorker, Task


class StreamPart:
    """A running segment, and its connection to the next one.

    Parameters
    ----------
    task
        The segment's work.
    hops
        The emulated links to the next segment: pairs of a cluster's index and its parent's. A frame crosses all of them
        at once, portion by portion.
    wan
        The actor that emulates links; None for real links.
    after
        The next segment's actor; None for the last.
    """

    def __init__(self, task: Task, hops: Sequence[tuple[int, int]], wan: Any, after: Any) -> None:
        self._hops, self._wan, self._after = hops, wan, after
        self._part = SegmentWorker(task, self._hand_on)

    def _hand_on(self, item: FrameItem) -> None:
        if self._wan is not None and item.size > 0:
            ray.get([self._wan.carry.remote(below, above, item.size) for below, above in self._hops])
        ray.get(self._after.push.remote(item))

    def ready(self) -> None:
        """Return once the segment is ready."""

    def play(self, first: int) -> None:
        """Play from this frame on."""
        self._part.play(first)

    def end(self, last: int) -> None:
        """Stop playing before this frame."""
        self._part.end(last)

    def push(self, item: FrameItem) -> None:
        """Queue an item from the previous segment."""
        self._part.push(item)

    def take(self, wait: float) -> tuple[Frame, ...]:
        """Return the finished frames; raise the error of a component."""
        return self._part.take(wait)


def reason(error: Exception) -> str:
    """Return the cause in one line: a component's own error, or the loss of a process."""
    cause = error.cause if isinstance(error, exceptions.RayTaskError) else None
    shown = error if cause is None else cause
    first = next(iter(str(shown).splitlines()), "")
    return f"{type(shown).__name__}: {first}" if cause is not None else f"a process was lost: {first}"
