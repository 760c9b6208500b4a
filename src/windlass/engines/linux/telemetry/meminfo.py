"""Use of memory, bytes: ``/proc/meminfo``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.source import Roots, number_or_none, unknown

_FIELDS = (
    "MemFree", "MemAvailable", "Buffers", "Cached", "Active", "Inactive", "Active(anon)", "Inactive(anon)",
    "Active(file)", "Inactive(file)", "Unevictable", "Dirty", "Writeback", "AnonPages", "Mapped", "Shmem",
    "KReclaimable", "Slab", "SUnreclaim", "KernelStack", "PageTables", "Committed_AS", "AnonHugePages",
    "Percpu", "SwapFree",
)  # fmt: skip


class MemoryInfo:
    """Memory by use, under the kernel's own names, bytes.

    Parameters
    ----------
    roots
        The location of the file.

    Examples
    --------
    >>> source = MemoryInfo(Roots())
    >>> dict(zip(source.names, source.read(1.0)))["memory.MemFree"] > 0.0
    True
    """

    names: tuple[str, ...] = tuple(f"memory.{field}" for field in _FIELDS)

    def __init__(self, roots: Roots) -> None:
        self._file = ProcFile(roots.proc / "meminfo")
        self.files: Sequence[ProcFile] = (self._file,)

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        text = self._file.read()
        if text is None:
            return unknown(self.names)
        found = {}
        for line in text.splitlines():
            name, _, rest = line.partition(b":")
            found[name] = rest
        values = [number_or_none((found.get(name, b"").split() or [b""])[0]) for name in _NAMES]
        return [math.nan if value is None else 1024.0 * value for value in values]


_NAMES = tuple(field.encode() for field in _FIELDS)
