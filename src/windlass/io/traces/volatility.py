"""How the speed of real machines drifts: benchmark scores of long-lived cloud machines over months."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io import read_csv
from windlass.io.traces.files import check_is_file
from windlass.model import InputError


def read_volatility(path: Path, points: int) -> NDArray[np.float64]:
    """Scores of each machine on an even grid of time, from the first to the last that all machines share.

    Parameters
    ----------
    path
        A table with the columns value (a score, the higher the faster), starttime and VM_id.
    points
        How many grid points, at least 2; between measurements the last one holds.

    Returns
    -------
    (machines, points) scores.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, or a score is not a number above 0.
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
        held = np.searchsorted(machine["at"].to_numpy(), grid, side="right") - 1
        rows.append(machine["value"].to_numpy()[held])
    return np.array(rows)
