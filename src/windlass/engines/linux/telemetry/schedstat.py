"""Run-queue wait as each core has counted it: ``/proc/schedstat``.

This is one small file for the whole machine, and it has the tasks that came and went between two steps. But a kernel
has it only where it was built with ``CONFIG_SCHEDSTATS``, it does not say who waited, and in a container it still
shows the whole machine. So CPU Ready is made of tasks' own counts, and this stands beside it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from windlass.engines.linux.telemetry.proc_file import Held
from windlass.engines.linux.telemetry.rates import Summed
from windlass.engines.linux.telemetry.source import Roots, number_or_none, unknown

#: Of a core's line, the last three: ns that tasks ran, ns that they waited, and how often one began to run.
_RAN, _WAITED, _SLICES = -3, -2, -1


class CoreWaits:
    """Seconds a second that tasks waited and ran, and how often one began to run, over all cores.

    Parameters
    ----------
    roots
        Where the file is.

    Examples
    --------
    >>> source = CoreWaits(Roots())
    >>> len(source.read(1.0)) == len(source.names)
    True
    """

    names: tuple[str, ...] = ("schedstat.waited", "schedstat.ran", "schedstat.slices")

    def __init__(self, roots: Roots) -> None:
        self._file = Held(roots.proc / "schedstat")
        self.files: Sequence[Held] = (self._file,)
        self._summed = Summed(3)

    def read(self, seconds: float) -> list[float]:
        """As of :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        text = self._file.read()
        cores: dict[Hashable, list[int]] = {}
        for line in (text or b"").splitlines():
            words = line.split()
            if line.startswith(b"cpu") and len(words) >= 10:
                numbers = [number_or_none(words[at]) for at in (_WAITED, _RAN, _SLICES)]
                cores[words[0]] = [each or 0 for each in numbers]
        waited, ran, slices = self._summed.rates(cores or None, seconds)
        return [waited / 1e9, ran / 1e9, slices] if cores else unknown(self.names)
