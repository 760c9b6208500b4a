"""A recording of observations as a Parquet file, with one row per step.

The columns are ``at`` (s since 1970), ``seconds`` (length of the step), ``busy`` and ``cpu_ready`` (shares of all
cores' time), and the metrics under their names. A metric that a machine lacks is NaN.

The file is complete at all times, as each version is written to a temporary file that replaces it. A Parquet file
cannot be appended to, so it is rewritten: at intervals of at least half a minute, and so rarely that writing takes
less than half a percent of the time. A killed recorder loses the rows since the last write. All rows are kept in
memory, 1.2 kB each: 100 MB for a day at 1 Hz.
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
#: The least interval between two writes, s, and its least ratio to the time that the last write took.
_LEAST, _TIMES = 30.0, 200.0


class Recording:
    """Rows kept in memory, and saved from time to time.

    Parameters
    ----------
    path
        The file.
    names
        The names of the metrics.
    clock
        Returns the time, s.

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
        # Write now, so that an unwritable file is an error before there is anything to lose.
        self.save()

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._values) // len(self._columns)

    def add(self, seen: Observation) -> None:
        """Add a row, and save all rows if that is due."""
        self._values.extend((seen.at, seen.seconds, seen.busy, seen.ready))
        self._values.frombytes(np.ascontiguousarray(seen.metrics, np.float64).tobytes())
        before = self._clock()
        if before >= self._due:
            self.save()
            after = self._clock()
            self._due = after + max(_LEAST, _TIMES * (after - before))

    def save(self) -> None:
        """Write all rows to the file."""
        if self._saved == self.rows:
            return
        # A copy, because an array with a numpy view on it cannot grow.
        table = np.array(self._values).reshape(-1, len(self._columns))
        frame = pl.DataFrame({name: table[:, at] for at, name in enumerate(self._columns)})
        write_bytes(parquet(frame), self.path)
        self._saved = self.rows
