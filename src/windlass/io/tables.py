"""Tables in Parquet and CSV, of which a damaged one is an error in a line."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from windlass.model import InputError
from windlass.model.limits import TEXT


def read_parquet(path: Path) -> pl.DataFrame:
    """The table in a Parquet file; a name with brackets or stars is that name, and no pattern.

    Raises
    ------
    InputError
        It is none, or damaged; one line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a[1].parquet"
    >>> pl.DataFrame({"a": [1]}).write_parquet(path)
    >>> read_parquet(path)["a"].to_list()
    [1]
    """
    return _read(path, "Parquet", lambda: pl.read_parquet(path, glob=False))


def read_csv(path: Path, *, infer: bool = False) -> pl.DataFrame:
    """The table in a CSV file; a name with brackets or stars is that name, and no pattern.

    Parameters
    ----------
    path
        The file.
    infer
        Whether columns of numbers are read as such; by default all is text.

    Raises
    ------
    InputError
        It is none, or larger than :data:`~windlass.model.limits.TEXT` allows; one line.

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


def _read(path: Path, what: str, read: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    try:
        with _unheard():
            return read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = next(iter(str(error).splitlines()), "no reason given")
        raise InputError(f"{path}: cannot be read as {what}: {reason}") from error


@contextlib.contextmanager
def _unheard() -> Iterator[None]:
    """Standard error goes nowhere: where the library gives up, its threads write pages of their own stacks there."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
