"""The log of quotas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.sim.shares.result import Shared


@dataclass(slots=True)
class _Line:
    host: int
    guest: int
    quota: int
    start: float
    end: float
    why: str


class QuotaLog:
    """One line for each interval in which a pair had a constant quota.

    Examples
    --------
    >>> log = QuotaLog()
    >>> log.change(host=0, guest=1, quota=30, now=5.0, why="host idles")
    >>> log.change(host=0, guest=1, quota=30, now=9.0, why="host idles")
    >>> log.change(host=0, guest=1, quota=10, now=9.0, why="host is slower")
    >>> log.end(host=0, now=12.0)
    >>> shared = log.result(20.0, evicted=0, decisions=3)
    >>> shared.quota.tolist(), shared.start.tolist(), shared.end.tolist()
    ([30, 10], [5.0, 9.0], [9.0, 12.0])
    """

    def __init__(self) -> None:
        self._lines: list[_Line] = []
        self._open: dict[int, _Line] = {}

    def change(self, host: int, guest: int, quota: int, now: float, why: str) -> None:
        """Log the quota of a pair from now on; an unchanged quota continues its line."""
        before = self._open.get(host)
        if before is not None and before.quota == quota:
            return
        self.end(host, now)
        line = self._open[host] = _Line(host, guest, quota, now, np.nan, why)
        self._lines.append(line)

    def end(self, host: int, now: float) -> None:
        """End the line of a host's pair, if the host has a guest."""
        line = self._open.pop(host, None)
        if line is not None:
            line.end = now

    def pair(self, host: int) -> tuple[int, int]:
        """Return the guest of a host, and the guest's quota, %."""
        return self._open[host].guest, self._open[host].quota

    def result(self, now: float, evicted: int, decisions: int) -> Shared:
        """Return all lines; open lines end now."""
        lines = self._lines
        ends = [now if np.isnan(line.end) else line.end for line in lines]
        return Shared(
            np.array([line.host for line in lines], dtype=np.int64),
            np.array([line.guest for line in lines], dtype=np.int64),
            np.array([line.quota for line in lines], dtype=np.int64),
            np.array([line.start for line in lines], dtype=np.float64),
            np.array(ends, dtype=np.float64),
            tuple(line.why for line in lines),
            evicted,
            decisions,
        )
