"""CSV tables of GPU clusters as they are published: columns by name, each cell checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io import read_csv
from windlass.io.traces.columns import shown
from windlass.io.traces.files import check_is_file
from windlass.model import InputError


def read_gpu_table(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """The cells as text.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, or there is no line.
    """
    check_is_file(path)
    table = read_csv(path)
    check_columns(path, table, columns)
    if table.is_empty():
        raise InputError(f"{path}: no lines below the names, expected at least one")
    return table


def check_columns(path: Path, table: pl.DataFrame, columns: Sequence[str]) -> None:
    """Check that a table has these columns.

    Raises
    ------
    InputError
        Names the first that is missing.
    """
    for column in columns:
        if column not in table.columns:
            raise InputError(f"{path}: column {column} is missing, found {', '.join(table.columns)}")


def numbers(
    path: Path, table: pl.DataFrame, column: str, above: float | None = None, missing: bool = False
) -> NDArray[np.float64]:
    """A column of numbers of 0 or more, or above a bound.

    Parameters
    ----------
    path
        For messages.
    table, column
        Cells as text.
    above
        What each has to be above; by default 0 is allowed.
    missing
        Whether a cell may be empty, which gives NaN.

    Raises
    ------
    InputError
        Names file, line, column and value of the first cell that is none.
    """
    cells = table[column].str.strip_chars().replace("", None)
    values = cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    good = np.isfinite(values) & ((values >= 0) if above is None else (values > above))
    if missing:
        good |= cells.is_null().to_numpy()
    if not good.all():
        row = int((~good).argmax())
        least = "of 0 or more" if above is None else f"above {above:g}"
        cell = "empty" if cells[row] is None else shown(str(table[column][row]))
        raise InputError(f"{path}, line {row + 2}: {column} is {cell}, expected a number {least}")
    return np.asarray(values, dtype=np.float64)
