"""Reader of telemetry in Parquet, as ``windlass agent record`` writes it: a column per metric, a row per step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io import read_parquet
from windlass.io.traces.files import check_is_file
from windlass.io.traces.telemetry.series import Telemetry
from windlass.model import InputError

#: Column of times, s, as named by the recorder and by other tools; and the column of step lengths, not a metric.
TIMES, SECONDS = ("at", "time"), "seconds"
#: CPU Ready and the utilisation of cores, as fractions of the time of all cores.
READY, BUSY = "cpu_ready", "busy"


def read_recorded(path: Path) -> Telemetry:
    """Read a recording.

    The column ``at`` (or ``time``) is in seconds and must not decrease; without it, rows are a second apart. The column
    ``seconds`` is ignored. All others are metrics, with null or NaN for missing values. ``cpu_ready``, if there is one,
    must be 0 or more.

    Parameters
    ----------
    path
        The ``.parquet`` file.

    Raises
    ------
    InputError
        The file cannot be read, a column is not numeric, a time is missing or decreases, or CPU Ready is below 0;
        names file, column and row.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.parquet"
    >>> pl.DataFrame({"at": [0.0, 1.0], "busy": [0.5, None], "cpu_ready": [0.0, 0.2]}).write_parquet(path)
    >>> recording = read_recorded(path)
    >>> recording.names, recording.of("busy").tolist()
    (('busy', 'cpu_ready'), [0.5, nan])
    """
    check_is_file(path)
    table = read_parquet(path)
    for column, kind in zip(table.columns, table.dtypes, strict=True):
        if not (kind.is_numeric() or kind == pl.Boolean):
            raise InputError(f"{path}: column {column} is {kind}, expected numbers")
    names = tuple(column for column in table.columns if column not in (*TIMES, SECONDS))
    if not names or table.is_empty():
        raise InputError(f"{path}: {len(names)} metrics and {len(table)} rows, expected at least one of each")
    values = table.select(pl.col(names).cast(pl.Float64).fill_null(np.nan)).to_numpy()
    values = np.where(np.isfinite(values), values, np.nan)
    if READY in names:
        below = np.flatnonzero(values[:, names.index(READY)] < 0)
        if len(below):
            ready = values[below[0], names.index(READY)]
            raise InputError(f"{path}, row {below[0]}: {READY} is {ready:g}, expected at least 0")
    return Telemetry(str(path), _time(path, table), names, np.ascontiguousarray(values))


def _time(path: Path, table: pl.DataFrame) -> NDArray[np.float64]:
    column = next((name for name in TIMES if name in table.columns), None)
    if column is None:
        return np.arange(len(table), dtype=np.float64)
    time = table[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
    bad = ~np.isfinite(time)
    bad[1:] |= np.diff(time) < 0
    if bad.any():
        row = int(bad.argmax())
        before = f" of at least {time[row - 1]:g}" if row and np.isfinite(time[row]) else ""
        raise InputError(f"{path}, row {row}: {column} is {time[row]:g}, expected a time{before}")
    return np.asarray(time, np.float64)
