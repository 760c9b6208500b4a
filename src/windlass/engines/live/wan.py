"""Emulated wide-area links: a token bucket for each site's uplink and downlink. Standard library only.

Tokens are granted in small portions, in order of request. Concurrent transfers request one portion at a time, and all
portions have the same size, so transfers that share a link get equal parts of it, or as much as they can use. Buckets
model no packets, loss or latency.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

#: A portion is what the slowest link in use carries in this time, s …
PORTION_S = 0.02
#: … but at least this share of what a transfer's own link could carry, so that fast transfers do not request too often.
_LEAST_SHARE = 1 / 50
#: A transfer that requests its next portion at most this late, s, is served as if it were in time: timers and other
#: work on the machine must not make the link slower than configured.
LATE_S = 0.04


@dataclass(slots=True)
class Bucket:
    """A token bucket that grants ``rate`` bytes/s."""

    rate: float
    free_at: float = 0.0

    def take(self, now: float, size: float) -> float:
        """Return when ``size`` bytes will have passed, s.

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
    """Buckets of all sites, and recent traffic.

    Parameters
    ----------
    up, down
        Bytes/s of each site; a link with rate 0 must not be used.
    pair
        Most bytes/s between each pair of sites.
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
        """Record the start of a transfer between these sites."""
        self._active[source, site] += 1

    def close(self, source: int, site: int) -> None:
        """Record the end of a transfer between these sites."""
        self._active[source, site] -= 1
        if not self._active[source, site]:
            del self._active[source, site]

    def _rate(self, source: int, site: int) -> float:
        return min(self.up[source], self.down[site], self.pair[source][site])

    def portion(self, source: int, site: int) -> float:
        """Return the bytes to request at a time while the current transfers are open."""
        own = self._rate(source, site)
        slowest = min((self._rate(*pair) for pair in self._active), default=own)
        return max(slowest * PORTION_S, own * PORTION_S * _LEAST_SHARE, 1.0)

    def take(self, now: float, source: int, site: int, size: float) -> float:
        """Return when ``size`` bytes will have passed from one site to another, s."""
        until = max(self._up[source].take(now, size), self._down[site].take(now, size))
        if (source, site) in self._pair:
            until = max(until, self._pair[source, site].take(now, size))
        self._recent.append((now, source, site, size))
        return until

    def in_use(self, now: float, over: float = 0.5) -> tuple[list[float], list[float]]:
        """Return the mean bytes/s up and down at each site over the last ``over`` seconds."""
        self._recent = [entry for entry in self._recent if entry[0] > now - over]
        up, down = [0.0] * len(self._up), [0.0] * len(self._down)
        for _, source, site, size in self._recent:
            up[source] += size / over
            down[site] += size / over
        return up, down
