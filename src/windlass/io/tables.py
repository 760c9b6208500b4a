"""Reading of Parquet and CSV tables, with one-line errors for damaged files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import polars as pl

from windlass.model import InputError
from windlass.model.limits import TEXT

T = TypeVar("T")


def read_parquet(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a Parquet file; brackets and asterisks in the name are not a pattern.

    Parameters
    ----------
    path
        The file.
    columns
        The columns to read; None for all.

    Raises
    ------
    InputError
        The file cannot be read, is not a Parquet file, or is damaged; the message is one line long.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a[1].parquet"
    >>> pl.DataFrame({"a": [1]}).write_parquet(path)
    >>> read_parquet(path)["a"].to_list()
    [1]
    """
    return _read(path, "Parquet", lambda: pl.read_parquet(path, columns=columns, glob=False))


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file.

    Raises
    ------
    InputError
        See :func:`read_parquet`.
    """
    return list(_read(path, "Parquet", lambda: pl.read_parquet_schema(path)))


def read_csv(path: Path, *, infer: bool = False) -> pl.DataFrame:
    """Read a CSV file; brackets and asterisks in the name are not a pattern.

    Parameters
    ----------
    path
        The file.
    infer
        Whether to detect columns of numbers; by default all columns are text.

    Raises
    ------
    InputError
        The file cannot be read as CSV, or is larger than :data:`~windlass.model.limits.TEXT` allows; the message is one
        line long.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("a,b\\n1,2\\n")
    >>> read_csv(path).rows()
    [('1', '2')]
    """
    if path.is_file():
        TEXT.check(path.stat().st_size, str(path))
    return _read(path, "CSV", lambda: pl.read_csv(path, infer_schema=infer, glob=False))


def _read(path: Path, what: str, read: Callable[[], T]) -> T:
    try:
        with _silent_stderr():
            return read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = next(iter(str(error).splitlines()), "no reason given")
        raise InputError(f"{path}: cannot be read as {what}: {reason}") from error


@contextlib.contextmanager
def _silent_stderr() -> Iterator[None]:
    """Discard standard error: if Polars panics, its threads print their stacks there."""
    stderr = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
