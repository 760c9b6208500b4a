"""Reader of drifting machine speeds: benchmark scores of long-lived cloud machines over months."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io import read_csv
from windlass.io.traces.files import check_is_file
from windlass.model import InputError


def read_volatility(path: Path, points: int) -> NDArray[np.float64]:
    """Read the scores of each machine on an even time grid, over the interval that all machines have in common.

    Parameters
    ----------
    path
        A CSV file with the columns value (a score; a higher one is faster), starttime and VM_id.
    points
        Number of grid points, at least 2; each has the latest score up to its time.

    Returns
    -------
    (machines, points) scores.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, a score is not a number above 0, or a start time is not a time.
    """
    if points < 2:
        raise InputError(f"points is {points}, expected at least 2")
    check_is_file(path)
    table = read_csv(path, infer=True)
    for column in ("value", "starttime", "VM_id"):
        if column not in table.columns:
            raise InputError(f"{path}: column {column} is missing, found {', '.join(table.columns)}")
    scores = table["value"].cast(pl.Float64, strict=False)
    bad = scores.is_null() | ~scores.is_finite() | (scores <= 0)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise InputError(
            f"{path}, line {row + 2}: value is {table['value'][row]!r}, expected a number above 0"
        )
    parsed = table.with_columns(
        scores.alias("value"),
        pl.col("starttime")
        .cast(pl.String)
        .str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False)
        .dt.epoch("ms")
        .alias("at"),
    ).sort("at")
    if parsed["at"].null_count():
        row = int(parsed["at"].is_null().arg_max() or 0)
        raise InputError(f"{path}: starttime {parsed['starttime'][row]!r} is not a time")
    machines = [group for _, group in parsed.group_by("VM_id", maintain_order=True)]
    begin = max(int(machine["at"][0]) for machine in machines)
    end = min(int(machine["at"][-1]) for machine in machines)
    grid = np.linspace(begin, end, points)
    rows = []
    for machine in machines:
        latest = np.searchsorted(machine["at"].to_numpy(), grid, side="right") - 1
        rows.append(machine["value"].to_numpy()[latest])
    return np.array(rows)
