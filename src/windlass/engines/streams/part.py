"""One segment of a chain at work: plays a clip or takes in what others hand on, runs its components, hands on.

A part has two threads, one that works and one that sends. What waits between them, and what comes in, is bounded: when
there is no room the oldest goes. So a part that is too slow loses frames and does not fall behind for ever. A frame
that was lost is never heard of again, and counts as missed at the end.
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

#: What the components of a segment do to a frame of one playing: its place in the clip, and what they take in.
Run = Callable[[int, Any], Any]


class Stages(Protocol):
    """The components of a segment; it is sent to where they run."""

    @property
    def every(self) -> int:
        """Each so many-th frame of the clip is looked at, from the first on."""
        ...

    def start(self) -> Run:
        """Begin a playing: nothing is remembered of the one before."""
        ...

    def sent(self, value: Any) -> int:
        """Bytes of what they hand on, over a link."""
        ...


@dataclass(frozen=True, slots=True)
class Passing:
    """No components: what a camera sends while all components are elsewhere.

    >>> Passing(every=2, size=100).start()(0, None), Passing(2, 100).sent(None)
    (None, 100)
    """

    every: int
    size: int

    def start(self) -> Run:
        """What comes is what goes."""
        return lambda place, value: value

    def sent(self, value: Any) -> int:
        """Bytes of the stream between two frames that are looked at."""
        return self.size


@dataclass(frozen=True, slots=True)
class FrameItem:
    """What is handed on: a frame's number since the query came, what became of it, and its bytes over a link."""

    number: int
    value: Any
    size: int


@dataclass(frozen=True, slots=True)
class Task:
    """What a part is to do.

    Parameters
    ----------
    stages
        Its components.
    rate, frames
        Frames a second, and of a playing.
    zero
        When frame 0 was born, s on the clock that the part is given.
    source, last
        Whether it plays the clip, and whether nothing comes after it.
    buffer
        Frames that may wait at each place.
    """

    stages: Stages
    rate: float
    frames: int
    zero: float
    source: bool
    last: bool
    buffer: int = 16

    def wanted(self, number: int) -> int:
        """The first frame from this one on that is looked at.

        >>> task = Task(Passing(every=4, size=0), 10.0, frames=10, zero=0.0, source=True, last=True)
        >>> [task.wanted(number) for number in (0, 1, 8, 9, 11)]
        [0, 4, 8, 10, 14]
        """
        place, every = number % self.frames, self.stages.every
        up = -(-place // every) * every
        return number - place + min(up, self.frames)

    def covers(self, number: int) -> int:
        """For how many frames one stands that is looked at: itself, and those after it that are not."""
        return min(self.stages.every, self.frames - number % self.frames)


class SegmentWorker:
    """A segment at work.

    Parameters
    ----------
    task
        What it does.
    hand_on
        Brings an item to the next part, and returns when it is there; called in a thread of its own.
    clock
        Seconds; the same at all parts of a chain.
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
        """Play no frame from this one on."""
        with self._news:
            self._end = last

    def push(self, item: FrameItem) -> None:
        """Take in what the part before hands on; the oldest that waits goes if there is no room."""
        with self._news:
            self._inbox.append(item)
            self._news.notify_all()

    def take(self, wait: float) -> tuple[Frame, ...]:
        """Frames that came through here, if this is the last part; waits so many seconds for them to gather.

        Raises
        ------
        BaseException
            Whatever a component raised, or handing on.
        """
        with self._news:
            self._news.wait_for(lambda: self._error is not None or not self._open, wait)
            if self._error is not None:
                raise self._error
            frames, self._frames = self._frames, []
            return tuple(frames)

    def close(self) -> None:
        """Let the threads end."""
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
        """The next frame of the clip, once it is born; those that are too old already are left out."""
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
