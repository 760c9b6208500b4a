"""Timing of Windlass and a peer in turn."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison; ``ratio`` is over 1 if Windlass is ahead, with the minimum and maximum of its pairs."""

    name: str
    ours: float
    peer: float
    peer_name: str
    unit: str
    ratio: float
    ratio_low: float
    ratio_high: float

    def with_peer_of_part(self, times: float) -> Row:
        """Return the row for a peer that was timed on ``times`` times less work."""
        ratios = (ratio * times for ratio in (self.ratio, self.ratio_low, self.ratio_high))
        return Row(self.name, self.ours, self.peer / times, self.peer_name, self.unit, *ratios)

    def as_time(self, unit: str) -> Row:
        """Convert amounts per time into times per amount."""
        ratios = self.ratio, self.ratio_low, self.ratio_high
        return Row(self.name, 1 / self.ours, 1 / self.peer, self.peer_name, unit, *ratios)


def compare_rates(
    name: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    peer_name: str,
    *,
    amount: float,
    unit: str,
    repeats: int,
) -> Row:
    """Time both in turn, ``repeats`` times after one warm-up; return the medians as amount per second."""
    ours()
    pairs = [(_seconds(ours), _seconds(peer)) for _ in range(repeats)]
    ratios = [theirs / own for own, theirs in pairs]
    return Row(
        name=name,
        ours=amount / statistics.median(own for own, _ in pairs),
        peer=amount / statistics.median(theirs for _, theirs in pairs),
        peer_name=peer_name,
        unit=unit,
        ratio=statistics.median(ratios),
        ratio_low=min(ratios),
        ratio_high=max(ratios),
    )


def _seconds(what: Callable[[], object]) -> float:
    gc.collect()
    begun = time.perf_counter()
    what()
    return time.perf_counter() - begun
