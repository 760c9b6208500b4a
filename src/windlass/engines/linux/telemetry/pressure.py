"""Pressure stall information, the shares of time in which tasks waited: ``/proc/pressure``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.rates import Counters
from windlass.engines.linux.telemetry.source import Roots, number_or_none

_RESOURCES = ("cpu", "io", "memory")


class PressureSource:
    """For each resource, the shares of time in which some and all tasks waited for it, and a mean over 10 s.

    The first two are of the last step; the third is the kernel's own mean. ``psi.cpu.some`` is the time in which any
    task waited; CPU Ready sums the waits of all threads.

    Parameters
    ----------
    roots
        The location of the files.

    Examples
    --------
    >>> source = PressureSource(Roots())
    >>> len(source.read(1.0)) == len(source.names)
    True
    """

    names: tuple[str, ...] = tuple(
        f"psi.{resource}.{what}" for resource in _RESOURCES for what in ("some", "full", "some_10")
    )

    def __init__(self, roots: Roots) -> None:
        self.files: Sequence[ProcFile] = tuple(
            ProcFile(roots.proc / "pressure" / each) for each in _RESOURCES
        )
        self._counters = tuple(Counters() for _ in _RESOURCES)

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        found: list[float] = []
        for file, counters in zip(self.files, self._counters, strict=True):
            some, full, mean = stalls(file.read())
            rates = counters.rates([some, full], seconds)
            found += [*(each / 1e6 for each in rates), mean]
        return found


def stalls(text: bytes | None) -> tuple[int | None, int | None, float]:
    """Return the total time in which some and all tasks waited, µs, and the share of the last 10 s for some.

    >>> stalls(b"some avg10=25.00 avg60=1.0 avg300=1.0 total=70\\nfull avg10=0 avg60=0 avg300=0 total=3\\n")
    (70, 3, 0.25)
    >>> stalls(None)
    (None, None, nan)
    """
    totals: dict[bytes, int | None] = {}
    mean = math.nan
    for line in (text or b"").splitlines():
        kind, *words = line.split() or [b""]
        values = dict(word.split(b"=", 1) for word in words if b"=" in word)
        totals[kind] = number_or_none(values.get(b"total"))
        if kind == b"some":
            mean = _percent(values.get(b"avg10"))
    return totals.get(b"some"), totals.get(b"full"), mean


def _percent(word: bytes | None) -> float:
    try:
        return math.nan if word is None else float(word) / 100.0
    except ValueError:
        return math.nan
