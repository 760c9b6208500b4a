"""Events of memory pages, per second: ``/proc/vmstat``."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.rates import Counters
from windlass.engines.linux.telemetry.source import Roots, number_or_none

_FIELDS = (
    "pgpgin", "pgpgout", "pswpin", "pswpout", "pgalloc_normal", "pgalloc_movable", "pgfree", "pgactivate",
    "pgdeactivate", "pgfault", "pgmajfault", "pgrefill", "pgreuse", "pgsteal_kswapd", "pgsteal_direct",
    "pgscan_kswapd", "pgscan_direct", "pgscan_anon", "pgscan_file", "allocstall_normal", "allocstall_movable",
    "slabs_scanned", "pageoutrun", "pgrotated", "oom_kill", "workingset_refault_anon",
    "workingset_refault_file", "workingset_activate_file", "nr_dirtied", "nr_written", "pgmigrate_success",
    "compact_stall", "compact_migrate_scanned", "thp_fault_alloc", "thp_collapse_alloc", "numa_hit",
    "numa_miss", "unevictable_pgs_culled",
)  # fmt: skip


class PageEvents:
    """Events per second, under the kernel's own names.

    Parameters
    ----------
    roots
        The location of the file.

    Examples
    --------
    >>> source = PageEvents(Roots())
    >>> len(source.read(1.0)) == len(source.names)
    True
    """

    names: tuple[str, ...] = tuple(f"pages.{field}" for field in _FIELDS)

    def __init__(self, roots: Roots) -> None:
        self._file = ProcFile(roots.proc / "vmstat")
        self.files: Sequence[ProcFile] = (self._file,)
        self._counters = Counters()

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        words = (self._file.read() or b"").split()
        found = dict(zip(words[::2], words[1::2], strict=False))
        return self._counters.rates([number_or_none(found.get(name)) for name in _NAMES], seconds)


_NAMES = tuple(field.encode() for field in _FIELDS)
