"""Reading of CSV text as a table that knows the line at which each row begins."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache

import polars as pl

from windlass.io.traces.trace import BadLine
from windlass.model import InputError


@dataclass(frozen=True, slots=True, eq=False)
class TextTable:
    """A table, and the lines of its rows.

    Parameters
    ----------
    records
        The rows that could be separated.
    line_of
        The line (from 1) at which a row (from 0) of ``records`` begins.
    bad
        The lines that could not be separated into fields.
    """

    records: pl.DataFrame
    line_of: Callable[[int], int]
    bad: tuple[BadLine, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    fields: int


def csv_names(name: str, text: str) -> list[str]:
    """Return the column names in the first line that is not blank.

    Parameters
    ----------
    name
        Name of the file in messages.
    text
        The whole text.

    Raises
    ------
    InputError
        The text is not CSV.

    Examples
    --------
    >>> csv_names("jobs.csv", "run,team\\n60,7\\n")
    ['run', 'team']
    """
    return _read(name, text, (), only_names=True).columns


def first_fields(text: str) -> list[str]:
    """Return the fields of the first line that is not blank, unchanged; none if there is no such line.

    Examples
    --------
    >>> first_fields("\\n0,3,3\\n")
    ['0', '3', '3']
    """
    try:
        return next((fields for fields in csv.reader(io.StringIO(text, newline="\n")) if fields), [])
    except csv.Error:
        # The reader of the whole text reports it, with its line.
        return []


def read_csv_text(name: str, text: str, as_text: Collection[str]) -> TextTable:
    """Read CSV with column names in the first line; lines with too many fields are bad, blank lines are skipped.

    Parameters
    ----------
    name
        Name of the file in messages.
    text
        The whole text.
    as_text
        Columns to leave as text; the types of the others are inferred from all of their cells.

    Raises
    ------
    InputError
        The text is not CSV.

    Examples
    --------
    >>> table = read_csv_text("jobs.csv", "run,team\\n\\n60,7\\n1,2,3\\n", as_text=["run"])
    >>> table.records.row(0), table.line_of(0), table.bad
    (('60', 7), 3, (BadLine(line=4, reason='3 fields, expected 2'),))
    """
    count = len(csv_names(name, text))
    try:
        table = _read(name, text, as_text)
        long: list[int] = []
    except InputError:
        long = [row for row, found in enumerate(_rows(name, text)) if found.fields > count]
        if not long:
            raise
        table = _read(name, text, as_text, cut=True)

    @cache
    def rows() -> list[_Row]:
        return _matching(name, _rows(name, text), len(table))

    blank = table.select(pl.all_horizontal(pl.all().is_null())).to_series()
    kept = (~blank & ~pl.int_range(len(blank), eager=True).is_in(long)).arg_true().to_list()
    bad = tuple(_too_long(rows()[row], count) for row in long)
    return TextTable(table[kept], lambda row: rows()[kept[row]].line, bad)


def _too_long(row: _Row, expected: int) -> BadLine:
    return BadLine(row.line, f"{row.fields} fields, expected {expected}")


def _matching(name: str, rows: list[_Row], expected: int) -> list[_Row]:
    # The text is read twice, by Polars for speed and by csv for line numbers. With stray quotes they can disagree.
    if len(rows) != expected:
        raise InputError(
            f"{name}: a line is bad, but stray quotes hide which: {len(rows)} or {expected} rows"
        )
    return rows


def _read(
    name: str, text: str, as_text: Collection[str], only_names: bool = False, cut: bool = False
) -> pl.DataFrame:
    try:
        return pl.read_csv(
            io.BytesIO(text.encode("utf-8")),
            schema_overrides=dict.fromkeys(as_text, pl.String),
            infer_schema=not only_names,
            infer_schema_length=None,
            n_rows=0 if only_names else None,
            truncate_ragged_lines=cut or only_names,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = next(iter(str(error).splitlines()), "no reason given")
        raise InputError(f"{name}: cannot be read as CSV: {reason}") from error


def _rows(name: str, text: str) -> list[_Row]:
    reader = csv.reader(io.StringIO(text, newline="\n"))
    rows: list[_Row] = []
    begins = 1
    try:
        for fields in reader:
            # Polars skips blank lines only before the column names.
            if fields or rows:
                rows.append(_Row(begins, len(fields)))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{name}, line {begins}: cannot be read as CSV: {error}") from error
    return rows[1:]
