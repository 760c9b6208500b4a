"""Load averages, and numbers of tasks: ``/proc/loadavg``."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.source import Roots, unknown


class LoadAverage:
    """The three load averages, and the numbers of runnable and existing tasks.

    Parameters
    ----------
    roots
        The location of the file.

    Examples
    --------
    >>> source = LoadAverage(Roots())
    >>> len(source.read(1.0)) == len(source.names)
    True
    """

    names: tuple[str, ...] = ("load.1", "load.5", "load.15", "load.runnable", "load.tasks")

    def __init__(self, roots: Roots) -> None:
        self._file = ProcFile(roots.proc / "loadavg")
        self.files: Sequence[ProcFile] = (self._file,)

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        text = self._file.read()
        try:
            one, five, fifteen, tasks, _ = (text or b"").split()
            runnable, _, all_of_them = tasks.partition(b"/")
            return [float(word) for word in (one, five, fifteen, runnable, all_of_them)]
        except ValueError:
            return unknown(self.names)
