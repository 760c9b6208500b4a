"""Conversion of dates, and of durations such as 01:02:03, to seconds in the columns of a table."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import polars as pl

from windlass.io.traces.fields import UnreadableError, duration, instant

_DURATIONS = ("run", "request")


def in_seconds(records: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the records with dates and durations in seconds, and a note on the origin of times.

    Parameters
    ----------
    records
        Records with any of the columns ``submit``, ``run`` and ``request``, as text or numbers. Cells that are not a
        number, a date or a duration stay unchanged; a later check reports them.

    Examples
    --------
    >>> text = {"submit": ["2024-05-01T12:00:00Z", "2024-05-01T14:00:30+02:00"], "run": ["01:02:03", "7"]}
    >>> found, notes = in_seconds(pl.DataFrame(text))
    >>> found.rows(), notes
    ([('0.0', '3723.0'), ('30.0', '7')], ('times count from 2024-05-01T12:00:00Z, the first submission',))
    """
    for name in _DURATIONS:
        if name in records.columns and _is_written(records[name]):
            records = records.with_columns(_read(records[name], duration))
    if "submit" not in records.columns or not _is_written(records["submit"]):
        return records, ()
    times = {cell: _seconds(cell, "submit", instant) for cell in records["submit"].drop_nulls().unique()}
    known = [at for at in times.values() if at is not None]
    if all(at is None or _is_number(cell) for cell, at in times.items()):
        return records, ()
    begin = min(known)
    counted = {cell: cell if at is None else str(at - begin) for cell, at in times.items()}
    date = datetime.fromtimestamp(begin, UTC).isoformat().replace("+00:00", "Z")
    column = records["submit"].replace_strict(counted, return_dtype=pl.String)
    return records.with_columns(column), (f"times count from {date}, the first submission",)


def _is_written(cells: pl.Series) -> bool:
    """Return whether some cell is a text that is not a number."""
    if cells.dtype != pl.String:
        return False
    return cells.cast(pl.Float64, strict=False).null_count() > cells.null_count()


def _read(cells: pl.Series, read: Callable[[str, str], float]) -> pl.Series:
    name = cells.name
    found = {cell: _seconds(cell, name, read) for cell in cells.drop_nulls().unique()}
    written = {cell: str(at) for cell, at in found.items() if at is not None and not _is_number(cell)}
    return cells.replace(written) if written else cells


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _seconds(cell: str, name: str, read: Callable[[str, str], float]) -> float | None:
    try:
        return read(name, cell)
    except UnreadableError:
        return None
