"""Emulated wide-area links: a token bucket for each site's uplink and downlink. Standard library only.

Tokens are handed out in small portions, in order of asking; concurrent transfers ask for one portion each at a
time, and all portions have the same size, so those that share a link get equal parts of it, or what they can use.
Buckets know no packets, no loss and no latency.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

#: A portion is what the slowest link in use carries in this time, s …
PORTION_S = 0.02
#: … but no less than this share of what a transfer's own could, so that fast transfers do not ask all the time.
_LEAST_SHARE = 1 / 50
#: A transfer that asks for its next portion less than this late, s, is served as if it had asked in time: timers
#: and other work on the machine must not make the link slower than stated.
LATE_S = 0.04


@dataclass(slots=True)
class Bucket:
    """Hands out ``rate`` bytes/s."""

    rate: float
    free_at: float = 0.0

    def take(self, now: float, size: float) -> float:
        """When so many bytes will have passed, s.

        >>> bucket = Bucket(100.0)
        >>> bucket.take(1.0, 50.0), bucket.take(1.0, 50.0)
        (1.5, 2.0)
        """
        if now - self.free_at > LATE_S:
            self.free_at = now
        self.free_at += size / self.rate
        return self.free_at


@dataclass(slots=True)
class Links:
    """Buckets of all sites, and what passed.

    Parameters
    ----------
    up, down
        Bytes/s of each site; a rate of 0 is an error to use.
    pair
        Bytes/s that each pair of sites carries at most.
    """

    up: Sequence[float]
    down: Sequence[float]
    pair: Sequence[Sequence[float]]
    _up: list[Bucket] = field(init=False)
    _down: list[Bucket] = field(init=False)
    _pair: dict[tuple[int, int], Bucket] = field(init=False)
    _recent: list[tuple[float, int, int, float]] = field(init=False)
    _active: Counter[tuple[int, int]] = field(init=False)

    def __post_init__(self) -> None:
        self._up = [Bucket(rate) for rate in self.up]
        self._down = [Bucket(rate) for rate in self.down]
        self._pair = {
            (x, y): Bucket(rate)
            for x, row in enumerate(self.pair)
            for y, rate in enumerate(row)
            if 0.0 < rate < float("inf")
        }
        self._recent = []
        self._active = Counter()

    def open(self, source: int, site: int) -> None:
        """A transfer between these sites begins."""
        self._active[source, site] += 1

    def close(self, source: int, site: int) -> None:
        """A transfer between these sites has ended."""
        self._active[source, site] -= 1
        if not self._active[source, site]:
            del self._active[source, site]

    def _rate(self, source: int, site: int) -> float:
        return min(self.up[source], self.down[site], self.pair[source][site])

    def portion(self, source: int, site: int) -> float:
        """How many bytes to ask for at a time, while these transfers are open."""
        own = self._rate(source, site)
        slowest = min((self._rate(*pair) for pair in self._active), default=own)
        return max(slowest * PORTION_S, own * PORTION_S * _LEAST_SHARE, 1.0)

    def take(self, now: float, source: int, site: int, size: float) -> float:
        """When so many bytes will have passed from a site to another, s."""
        until = max(self._up[source].take(now, size), self._down[site].take(now, size))
        if (source, site) in self._pair:
            until = max(until, self._pair[source, site].take(now, size))
        self._recent.append((now, source, site, size))
        return until

    def in_use(self, now: float, over: float = 0.5) -> tuple[list[float], list[float]]:
        """Mean bytes/s up and down at each site over the last ``over`` seconds."""
        self._recent = [entry for entry in self._recent if entry[0] > now - over]
        up, down = [0.0] * len(self._up), [0.0] * len(self._down)
        for _, source, site, size in self._recent:
            up[source] += size / over
            down[site] += size / over
        return up, down
