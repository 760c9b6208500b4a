"""Disk activity, summed over all disks: ``/proc/diskstats``."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence

from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.rates import Summed, grown
from windlass.engines.linux.telemetry.source import Roots, unknown

#: Partitions and devices on top of disks, which would be counted twice, and devices that are no disks.
_LEFT_OUT = re.compile(
    rb"^(loop|ram|zram|dm-|md|sr|fd)\d|^(sd|vd|hd|xvd)[a-z]+\d+$|^(nvme|mmcblk|nbd)\S*p\d+$"
)
#: Name, index among a disk's counters, and the factor that converts it to bytes or seconds.
_RATES = (
    ("reads", 0, 1.0),
    ("reads_merged", 1, 1.0),
    ("read_bytes", 2, 512.0),
    ("read_wait", 3, 1e-3),
    ("writes", 4, 1.0),
    ("writes_merged", 5, 1.0),
    ("write_bytes", 6, 512.0),
    ("write_wait", 7, 1e-3),
    ("queued", 10, 1e-3),
    ("discards", 11, 1.0),
    ("flushes", 15, 1.0),
)
_IN_FLIGHT, _BUSY, _FEWEST = 8, 9, 11


class Disks:
    """Requests and bytes per second, time that requests waited, requests in flight, and the busiest disk.

    ``disk.queued`` is the mean number of requests in flight. Partitions and devices on top of disks (loop devices,
    volumes, arrays) are left out.

    Parameters
    ----------
    roots
        The location of the file.

    Examples
    --------
    >>> source = Disks(Roots())
    >>> len(source.read(1.0)) == len(source.names)
    True
    """

    names: tuple[str, ...] = (*(f"disk.{name}" for name, _, _ in _RATES), "disk.in_flight", "disk.busiest")

    def __init__(self, roots: Roots) -> None:
        self._file = ProcFile(roots.proc / "diskstats")
        self.files: Sequence[ProcFile] = (self._file,)
        self._summed = Summed(len(_RATES))
        self._busy: dict[Hashable, int] = {}

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        text = self._file.read()
        if text is None:
            self._summed.rates(None, seconds)
            return unknown(self.names)
        disks = _disks(text)
        sums = self._summed.rates(
            {name: [_at(counters, at) for _, at, _ in _RATES] for name, counters in disks.items()}, seconds
        )
        scaled = [value * scale for value, (_, _, scale) in zip(sums, _RATES, strict=True)]
        in_flight = float(sum(counters[_IN_FLIGHT] for counters in disks.values()))
        return [
            *scaled,
            in_flight,
            self._busiest({name: each[_BUSY] for name, each in disks.items()}, seconds),
        ]

    def _busiest(self, now: dict[Hashable, int], seconds: float) -> float:
        """Return the largest share of time in which a disk was busy."""
        before, self._busy = self._busy, now
        steps = [grown(before[name], busy) or 0 for name, busy in now.items() if name in before]
        return min(1.0, max(steps) / 1e3 / seconds) if steps and seconds > 0.0 else math.nan


def _disks(text: bytes) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 + _FEWEST or _LEFT_OUT.match(words[2]):
            continue
        if all(word.isdigit() for word in words[3:]):
            found[words[2]] = [int(word) for word in words[3:]]
    return found


def _at(counters: Sequence[int], place: int) -> int:
    # Older kernels have no counters of discards and flushes.
    return counters[place] if place < len(counters) else 0
