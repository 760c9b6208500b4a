"""Run-queue wait as counted by each core: ``/proc/schedstat``.

This is one small file for the whole machine, and it includes tasks that start and end between two steps. But a kernel
has it only with ``CONFIG_SCHEDSTATS``, it does not distinguish tasks, and in a container it still shows the whole
machine. CPU Ready is therefore computed from the counters of tasks, and these metrics serve as a comparison.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.rates import Summed
from windlass.engines.linux.telemetry.source import Roots, number_or_none, unknown

#: The last three fields of a core's line: ns that tasks ran, ns that they waited, and the number of time slices.
_RAN, _WAITED, _SLICES = -3, -2, -1


class CoreWaits:
    """Time that tasks waited and ran, s per second, and time slices per second, over all cores.

    Parameters
    ----------
    roots
        The location of the file.

    Examples
    --------
    >>> source = CoreWaits(Roots())
    >>> len(source.read(1.0)) == len(source.names)
    True
    """

    names: tuple[str, ...] = ("schedstat.waited", "schedstat.ran", "schedstat.slices")

    def __init__(self, roots: Roots) -> None:
        self._file = ProcFile(roots.proc / "schedstat")
        self.files: Sequence[ProcFile] = (self._file,)
        self._summed = Summed(3)

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        text = self._file.read()
        cores: dict[Hashable, list[int]] = {}
        for line in (text or b"").splitlines():
            words = line.split()
            if line.startswith(b"cpu") and len(words) >= 10:
                numbers = [number_or_none(words[at]) for at in (_WAITED, _RAN, _SLICES)]
                cores[words[0]] = [each or 0 for each in numbers]
        waited, ran, slices = self._summed.rates(cores or None, seconds)
        return [waited / 1e9, ran / 1e9, slices] if cores else unknown(self.names)
