"""What was observed, as a Parquet file: a row a step.

The columns are ``at`` (s since 1970), ``seconds`` (how long the step was), ``busy`` and ``cpu_ready`` (shares of all
cores' time), and the metrics under their names. A metric that a machine does not have is NaN.

The file is whole at all times: it is written beside and moved into its place. A Parquet file cannot grow, so it is
written anew, after half a minute at the earliest, and as seldom as keeps writing below half a percent of the time. That
is what a recorder that is killed can lose. All rows are in memory, 1.2 kB a row: 100 MB for a day at 1 Hz.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from windlass.engines.linux.telemetry.observer import Observation
from windlass.io import parquet, write_bytes

#: Columns before those of metrics.
FIRST = ("at", "seconds", "busy", "cpu_ready")
#: Between two writings there are at least so many seconds, and so many times what the last one took.
_LEAST, _TIMES = 30.0, 200.0


class Recording:
    """Rows that are kept, and saved now and then.

    Parameters
    ----------
    path
        The file.
    names
        Of the metrics.
    clock
        Says the time, s.

    Raises
    ------
    InputError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile, time
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recording = Recording(Path(folder) / "a.parquet", ("load.1",), time.monotonic)
    ...     recording.add(Observation(0.0, 1.0, np.array([0.5]), 0.25, 0.0))
    ...     recording.save()
    ...     pl.read_parquet(recording.path).columns
    ['at', 'seconds', 'busy', 'cpu_ready', 'load.1']
    """

    def __init__(self, path: Path, names: tuple[str, ...], clock: Callable[[], float]) -> None:
        self.path, self._columns, self._clock = path, (*FIRST, *names), clock
        self._values = array("d")
        self._due = clock() + _LEAST
        self._saved = -1
        # Found out now, and not when there is something to lose.
        self.save()

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self._values) // len(self._columns)

    def add(self, seen: Observation) -> None:
        """Keep a step, and save all if that is due."""
        self._values.extend((seen.at, seen.seconds, seen.busy, seen.ready))
        self._values.frombytes(np.ascontiguousarray(seen.metrics, np.float64).tobytes())
        before = self._clock()
        if before >= self._due:
            self.save()
            after = self._clock()
            self._due = after + max(_LEAST, _TIMES * (after - before))

    def save(self) -> None:
        """Have all rows in the file."""
        if self._saved == self.rows:
            return
        # A copy: an array that numpy looks into could not grow.
        table = np.array(self._values).reshape(-1, len(self._columns))
        frame = pl.DataFrame({name: table[:, at] for at, name in enumerate(self._columns)})
        write_bytes(parquet(frame), self.path)
        self._saved = self.rows
