"""A running segment of a chain: it plays a clip or receives items, runs its components, and sends the results on.

A segment has two threads, one that works and one that sends. The queues of received items and of results are bounded,
and drop the oldest item when they are full: a segment that is too slow loses frames, but its delay is bounded. A lost
frame is not reported, and counts as missed at the end.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from windlass.engines.streams.executor import Frame

#: Applies the components of a segment to a frame of one playing, given its index in the clip and its input.
Run = Callable[[int, Any], Any]


class Stages(Protocol):
    """The components of a segment; the object is sent to the node where they run."""

    @property
    def every(self) -> int:
        """The interval of processed frames of the clip, counted from the first."""
        ...

    def start(self) -> Run:
        """Start a playing, with no memory of the previous one."""
        ...

    def sent(self, value: Any) -> int:
        """Return the size of an output on a link, bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Passing:
    """No components: the camera's stream, if all components are elsewhere.

    >>> Passing(every=2, size=100).start()(0, None), Passing(2, 100).sent(None)
    (None, 100)
    """

    every: int
    size: int

    def start(self) -> Run:
        """Return the identity function."""
        return lambda place, value: value

    def sent(self, value: Any) -> int:
        """Return the size of the stream between two processed frames, bytes."""
        return self.size


@dataclass(frozen=True, slots=True)
class FrameItem:
    """A frame on its way: its number since the query was added, the components' output, and its size on a link,
    bytes."""

    number: int
    value: Any
    size: int


@dataclass(frozen=True, slots=True)
class Task:
    """The work of a segment.

    Parameters
    ----------
    stages
        Its components.
    rate, frames
        Frames per second, and per playing.
    zero
        When frame 0 was born, s on the segment's clock.
    source, last
        Whether it is the first segment, which plays the clip; and whether it is the last.
    buffer
        Length of each queue, frames.
    """

    stages: Stages
    rate: float
    frames: int
    zero: float
    source: bool
    last: bool
    buffer: int = 16

    def wanted(self, number: int) -> int:
        """Return the first processed frame from this one on.

        >>> task = Task(Passing(every=4, size=0), 10.0, frames=10, zero=0.0, source=True, last=True)
        >>> [task.wanted(number) for number in (0, 1, 8, 9, 11)]
        [0, 4, 8, 10, 14]
        """
        place, every = number % self.frames, self.stages.every
        up = -(-place // every) * every
        return number - place + min(up, self.frames)

    def covers(self, number: int) -> int:
        """Return the number of frames that a processed one represents: itself, and the skipped ones after it."""
        return min(self.stages.every, self.frames - number % self.frames)


class SegmentWorker:
    """A running segment.

    Parameters
    ----------
    task
        Its work.
    hand_on
        Sends an item to the next segment, and returns when it has arrived; called in a thread of its own.
    clock
        Returns the time, s; the same at all segments of a chain.
    """

    def __init__(
        self, task: Task, hand_on: Callable[[FrameItem], None], clock: Callable[[], float] = time.time
    ) -> None:
        self._task, self._hand_on, self._clock = task, hand_on, clock
        self._inbox: deque[FrameItem] = deque(maxlen=task.buffer)
        self._outbox: deque[FrameItem] = deque(maxlen=task.buffer)
        self._frames: list[Frame] = []
        self._at, self._end = math.inf, math.inf
        self._playing = -1
        self._run: Run | None = None
        self._error: BaseException | None = None
        self._open = True
        self._news = threading.Condition()
        self._threads = [
            threading.Thread(target=self._guarded, args=(each,), daemon=True)
            for each in (self._work, *(() if task.last else (self._send,)))
        ]
        for thread in self._threads:
            thread.start()

    def play(self, first: int) -> None:
        """Play from this frame on."""
        with self._news:
            self._at = self._task.wanted(first)
            self._news.notify_all()

    def end(self, last: int) -> None:
        """Stop playing before this frame."""
        with self._news:
            self._end = last

    def push(self, item: FrameItem) -> None:
        """Queue an item from the previous segment; a full queue drops its oldest item."""
        with self._news:
            self._inbox.append(item)
            self._news.notify_all()

    def take(self, wait: float) -> tuple[Frame, ...]:
        """Return the frames that passed, if this is the last segment; wait ``wait`` seconds for them.

        Raises
        ------
        BaseException
            The error of a component or of sending.
        """
        with self._news:
            self._news.wait_for(lambda: self._error is not None or not self._open, wait)
            if self._error is not None:
                raise self._error
            frames, self._frames = self._frames, []
            return tuple(frames)

    def close(self) -> None:
        """End the threads."""
        with self._news:
            self._open = False
            self._news.notify_all()
        for thread in self._threads:
            thread.join()

    def _guarded(self, loop: Callable[[], None]) -> None:
        try:
            loop()
        except BaseException as error:
            with self._news:
                self._error = error
                self._news.notify_all()

    def _work(self) -> None:
        task = self._task
        next_item = self._born if task.source else self._handed
        while (item := next_item()) is not None:
            playing, place = divmod(item.number, task.frames)
            if playing != self._playing or self._run is None:
                self._playing, self._run = playing, task.stages.start()
            value = self._run(place, item.value)
            if task.last:
                with self._news:
                    covers = task.covers(item.number)
                    self._frames.append(Frame(item.number, self._clock(), value, covers))
                continue
            made = FrameItem(item.number, value, task.stages.sent(value))
            with self._news:
                self._outbox.append(made)
                self._news.notify_all()

    def _born(self) -> FrameItem | None:
        """Return the next frame of the clip once it is born; frames that are already too old are skipped."""
        task = self._task
        with self._news:
            while self._open:
                if self._at >= self._end:
                    self._news.wait()
                    continue
                now = self._clock()
                oldest = math.floor((now - task.zero) * task.rate) - task.buffer * task.stages.every
                number = int(self._at) if self._at >= oldest else task.wanted(oldest)
                wait = task.zero + number / task.rate - now
                if wait > 0:
                    self._news.wait(wait)
                    continue
                if number < self._end:
                    self._at = task.wanted(number + 1)
                    return FrameItem(number, None, 0)
                self._at = number
        return None

    def _handed(self) -> FrameItem | None:
        return self._waited(self._inbox)

    def _waited(self, box: deque[FrameItem]) -> FrameItem | None:
        with self._news:
            self._news.wait_for(lambda: bool(box) or not self._open)
            return box.popleft() if self._open else None

    def _send(self) -> None:
        while (item := self._waited(self._outbox)) is not None:
            self._hand_on(item)
