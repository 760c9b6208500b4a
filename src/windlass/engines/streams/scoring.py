"""Scores of a query's playings: each is compared with the truth once its frames have had time to arrive."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.engines.streams.chain_lifecycle import Life
from windlass.engines.streams.executor import Frame, QueryFeed
from windlass.engines.streams.transit import seconds_a_frame
from windlass.model.queries import Hierarchy

_Floats = NDArray[np.float64]

#: Returns the accuracy of a playing, in [0, 1], from its frames by their index in the clip. Missed frames are absent.
Score = Callable[[QueryFeed, Mapping[int, Frame]], float]


@dataclass(frozen=True, slots=True, eq=False)
class Playing:
    """One playing of a query's clip.

    Parameters
    ----------
    query, number
        The query, and the number of earlier playings.
    planned, accuracy
        Planned and measured accuracy, in [0, 1]. For a disturbed playing, ``planned`` is that of the chain that should
        have played its last frame, and 0 if there was none.
    expected
        Time of the plan's work and transfers per frame without queueing, s.
    undisturbed
        Whether a single chain should have played all of it.
    missed
        Frames that did not arrive in time, including skipped frames that they represent.
    late
        (processed frames,) time from a frame's birth to the end of its processing, s.
    label
        The last configuration and its placement; empty if there was none.
    """

    query: str
    number: int
    planned: float
    accuracy: float
    expected: float
    undisturbed: bool
    missed: int
    late: _Floats
    label: str

    @property
    def summary(self) -> str:
        """The scores of the playing in one line."""
        late = f", {self.late.mean():.2f} s late" if len(self.late) else ""
        how = "" if self.undisturbed else ", disturbed"
        return (
            f"{self.query}: playing {self.number}: accuracy {self.accuracy:.3f}, planned {self.planned:.3f}{how}; "
            f"{self.missed} frames missed{late}"
        )


class Playings:
    """Collects the frames of one query's playings.

    Parameters
    ----------
    life
        The query's chains, by which playings are scored.
    score
        Returns the accuracy of a playing.
    wait
        How long after its birth a frame may arrive, s; later frames count as missed.
    hierarchy
        The clusters and their links, for the expected latency of frames.
    """

    def __init__(self, life: Life, score: Score, wait: float, hierarchy: Hierarchy) -> None:
        self._life, self._score, self._wait, self._hierarchy = life, score, wait, hierarchy
        self._found: dict[int, Frame] = {}
        self._next, self._furthest = 0, 0

    def take(self, frames: Sequence[Frame]) -> None:
        """Add frames; duplicates and late frames are ignored."""
        entry = self._life.entry
        for frame in frames:
            born = entry.zero + frame.number / entry.feed.rate
            if frame.number >= self._next * entry.feed.frames and frame.done - born <= self._wait:
                self._found.setdefault(frame.number, frame)
                self._furthest = max(self._furthest, frame.number + frame.covers)

    def closed(self, now: float) -> list[Playing]:
        """Return the playings with all frames received or overdue; each is returned once."""
        entry = self._life.entry
        found: list[Playing] = []
        n, rate = entry.feed.frames, entry.feed.rate
        while True:
            first = self._next * n
            whole = first + n <= self._furthest and self._covered(first) == n
            if not whole and now < entry.zero + (first + n - 1) / rate + self._wait:
                return found
            found.append(self._close(first))
            self._next += 1
            for number in range(first, first + n):
                self._found.pop(number, None)
            past = self._life.past
            past[:] = [chain for chain in past if chain.last > first + n]

    def _covered(self, first: int) -> int:
        numbers = range(first, first + self._life.entry.feed.frames)
        return sum(self._found[number].covers for number in numbers if number in self._found)

    def _close(self, first: int) -> Playing:
        entry = self._life.entry
        n, rate = entry.feed.frames, entry.feed.rate
        came = [self._found[number] for number in range(first, first + n) if number in self._found]
        chain = next((one for one in reversed(self._life.past) if one.first < first + n <= one.last), None)
        late = np.array([frame.done - entry.zero - frame.number / rate for frame in came])
        accuracy = self._score(entry.feed, {frame.number - first: frame for frame in came})
        return Playing(
            entry.name,
            self._next,
            0.0 if chain is None else float(entry.options.accuracy[chain.choice]),
            accuracy,
            math.nan if chain is None else self._transit(chain.choice),
            chain is not None and chain.first <= first,
            n - self._covered(first),
            late,
            "" if chain is None else entry.options.label(chain.choice),
        )

    def _transit(self, choice: int) -> float:
        entry = self._life.entry
        return seconds_a_frame(entry.feed, entry.options, choice, self._hierarchy)
