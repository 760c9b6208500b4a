"""Reading of published CSV tables of GPU clusters, with checks of columns and cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io import read_csv
from windlass.io.traces.columns import quote
from windlass.io.traces.files import check_is_file
from windlass.model import InputError


def read_gpu_table(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Read a table with all cells as text.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column, or has no lines.
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
        A column is missing; names the first.
    """
    for column in columns:
        if column not in table.columns:
            raise InputError(f"{path}: column {column} is missing, found {', '.join(table.columns)}")


def numbers(
    path: Path, table: pl.DataFrame, column: str, above: float | None = None, missing: bool = False
) -> NDArray[np.float64]:
    """Parse a column of numbers of 0 or more, or above a bound.

    Parameters
    ----------
    path
        The file, for messages.
    table, column
        The table, with cells as text, and the name of its column.
    above
        Exclusive lower bound; by default numbers of 0 or more are allowed.
    missing
        Whether cells may be empty, which gives NaN.

    Raises
    ------
    InputError
        A cell is not such a number; names file, line, column and value of the first one.
    """
    cells = table[column].str.strip_chars().replace("", None)
    values = cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    good = np.isfinite(values) & ((values >= 0) if above is None else (values > above))
    if missing:
        good |= cells.is_null().to_numpy()
    if not good.all():
        row = int((~good).argmax())
        least = "of 0 or more" if above is None else f"above {above:g}"
        cell = "empty" if cells[row] is None else quote(str(table[column][row]))
        raise InputError(f"{path}, line {row + 2}: {column} is {cell}, expected a number {least}")
    return np.asarray(values, dtype=np.float64)
