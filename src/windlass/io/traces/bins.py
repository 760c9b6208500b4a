"""Counts of jobs per time bin: jobs submitted and started, and GPUs of the jobs submitted and ended.

Columns: time (such as ``2020-04-01 00:10:00``), submit_gpu_job, start_gpu_job (jobs), submit_gpu_num, end_gpu_num
(GPUs). A file may have further columns.

Source: such counts are published for the GPU clusters of Helios (SC 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io import read_csv
from windlass.io.traces.files import check_is_file
from windlass.model import InputError

_Ints = NDArray[np.int64]
_NUMBERS = ("submit_gpu_job", "start_gpu_job", "submit_gpu_num", "end_gpu_num")


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Counts of GPU jobs in b time bins.

    Parameters
    ----------
    seconds
        Length of a bin, s.
    submitted, started
        (b,) number of jobs.
    requested, ended
        (b,) GPUs that the submitted jobs request, and GPUs of the jobs that ended.
    """

    seconds: float
    submitted: _Ints
    started: _Ints
    requested: _Ints
    ended: _Ints

    def __post_init__(self) -> None:
        lengths = {len(self.submitted), len(self.started), len(self.requested), len(self.ended)}
        if len(lengths) > 1 or not self.seconds > 0:
            raise InputError("bins: expected columns of one length, and bins of more than 0 s")
        short = np.flatnonzero(
            (self.requested < self.submitted) | ((self.submitted == 0) & (self.requested > 0))
        )
        if len(short):
            row = int(short[0])
            raise InputError(
                f"bins: bin {row} has {self.submitted[row]} jobs that request {self.requested[row]} GPUs, "
                "expected at least one per job, and none without jobs"
            )


def read_bins(path: str | PathLike[str]) -> Bins:
    """Read counts of jobs.

    Parameters
    ----------
    path
        A CSV file.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column, has a value that is not a whole number of 0 or more, or lacks a bin.
    """
    file = Path(path)
    check_is_file(file)
    table = read_csv(file, infer=True)
    for column in ("time", *_NUMBERS):
        if column not in table.columns:
            raise InputError(f"{file}: column {column} is missing, found {', '.join(table.columns)}")
    if len(table) < 2:
        raise InputError(f"{file}: has {len(table)} bins, expected at least 2")
    return Bins(_seconds(file, table), *(_whole(file, table, column) for column in _NUMBERS))


def _seconds(file: Path, table: pl.DataFrame) -> float:
    at = table["time"].cast(pl.String).str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
    if at.null_count():
        row = int(at.is_null().arg_max() or 0)
        raise InputError(
            f"{file}, line {row + 2}: time is {table['time'][row]!r}, expected a date and a time"
        )
    steps = np.diff(at.dt.epoch("s").to_numpy())
    odd = np.flatnonzero(steps != steps[0])
    if len(odd) or steps[0] <= 0:
        row = int(odd[0]) if len(odd) else 0
        raise InputError(f"{file}, line {row + 3}: {steps[row]} s after the bin before, expected {steps[0]}")
    return float(steps[0])


def _whole(file: Path, table: pl.DataFrame, column: str) -> _Ints:
    found = table[column].cast(pl.Float64, strict=False).fill_null(-1.0).to_numpy()
    good = np.isfinite(found) & (found >= 0) & (found == np.floor(found))
    if not good.all():
        row = int(np.argmin(good))
        raise InputError(
            f"{file}, line {row + 2}: {column} is {table[column][row]!r}, expected a whole number of 0 or more"
        )
    return found.astype(np.int64)
