"""Reading of CSV text as a table that knows the line at which each row begins."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io.traces.trace import BadLine
from windlass.model import InputError

_Ints = NDArray[np.int64]


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
    notes
        Notes for the user.
    """

    records: pl.DataFrame
    line_of: Callable[[int], int]
    bad: tuple[BadLine, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Rows of a text after the first: the lines at which each begins and ends (exclusive), from 0, and its fields.

    ``heads`` has the lines that repeat the first one. ``blank`` is whether there are blank lines, which are no rows.
    """

    names: list[str]
    begin: _Ints
    end: _Ints
    fields: _Ints
    heads: _Ints
    blank: bool


def csv_names(name: str, text: str, separator: str = ",") -> list[str]:
    """Return the column names in the first line that is not blank.

    Parameters
    ----------
    name
        Name of the file in messages.
    text
        The whole text.
    separator
        The character between fields.

    Raises
    ------
    InputError
        The text is not CSV.

    Examples
    --------
    >>> csv_names("jobs.csv", "run,team\\n60,7\\n")
    ['run', 'team']
    """
    return _read(name, text, (), separator, only_names=True).columns


def first_fields(text: str, separator: str = ",") -> list[str]:
    """Return the fields of the first line that is not blank, unchanged; none if there is no such line.

    Examples
    --------
    >>> first_fields("\\n0,3,3\\n")
    ['0', '3', '3']
    """
    try:
        lines = csv.reader(io.StringIO(text, newline="\n"), delimiter=separator)
        return next((fields for fields in lines if fields), [])
    except csv.Error:
        # The reader of the whole text reports it, with its line.
        return []


def read_csv_text(
    name: str, text: str, as_text: Collection[str], separator: str = ",", *, exact: bool = False
) -> TextTable:
    """Read CSV with column names in the first line; lines with too many fields are bad, blank lines are skipped.

    Parameters
    ----------
    name
        Name of the file in messages.
    text
        The whole text.
    as_text
        Columns to leave as text; the types of the others are inferred from all of their cells.
    separator
        The character between fields.
    exact
        Whether a line with too few fields is bad, too; otherwise its last cells are empty. Lines that repeat the first
        one, as in files that were concatenated, are then left out with a note.

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
    layout = _layout(name, text, separator)
    count = len(layout.names)
    ragged = layout.fields != count if exact else layout.fields > count
    heads = np.isin(layout.begin, layout.heads) & exact
    rows = np.flatnonzero(~ragged & ~heads)
    bad = tuple(
        BadLine(int(layout.begin[row]) + 1, _miscounted(int(layout.fields[row]), count))
        for row in np.flatnonzero(ragged & ~heads)
    )
    whole = len(rows) == len(layout.begin) and not layout.blank
    kept = text if whole else _only(text, layout, rows)
    table = _read(name, kept, as_text, separator)
    if len(table) != len(rows):
        # Polars reads the fields, csv the line numbers. With stray quotes they can disagree.
        raise InputError(
            f"{name}: a line is bad, but stray quotes hide which: {len(rows)} or {len(table)} rows"
        )
    filled = (~table.select(pl.all_horizontal(pl.all().is_null())).to_series()).arg_true().to_numpy()
    lines = layout.begin[rows[filled]] + 1
    records = table if len(filled) == len(table) else table[filled]
    return TextTable(records, lambda row: int(lines[row]), bad, _repeated(layout.heads) if exact else ())


def _miscounted(found: int, expected: int) -> str:
    return f"{found} field{'s' * (found != 1)}, expected {expected}"


def _repeated(heads: _Ints) -> tuple[str, ...]:
    if not len(heads):
        return ()
    if len(heads) == 1:
        return (f"line {heads[0] + 1} repeats the column names and is left out",)
    return (f"{len(heads):,} lines repeat the column names and are left out, the first: line {heads[0] + 1}",)


def _only(text: str, layout: _Layout, rows: _Ints) -> str:
    """Return the names and the lines of some rows."""
    lines = text.split("\n")
    first = next(place for place, line in enumerate(lines) if line.strip("\r"))
    kept = np.zeros(len(lines) + 1, np.int64)
    np.add.at(kept, layout.begin[rows], 1)
    np.add.at(kept, layout.end[rows], -1)
    # The names end where the first row, or a line that is left out, may begin.
    head = lines[first : _head_end(layout, lines, first)]
    wanted = np.flatnonzero(np.cumsum(kept)[:-1])
    return "\n".join([*head, *(lines[place] for place in wanted), ""])


def _head_end(layout: _Layout, lines: Sequence[str], first: int) -> int:
    quotes = 0
    for place in range(first, len(lines)):
        quotes += lines[place].count('"')
        if quotes % 2 == 0:
            return place + 1
    return len(lines)


def _layout(name: str, text: str, separator: str) -> _Layout:
    return _quoted(name, text, separator) if '"' in text else _plain(text, separator)


def _plain(text: str, separator: str) -> _Layout:
    """Return the layout of a text without quotes, in which each line is a row."""
    lines = pl.Series(text.split("\n"), dtype=pl.String)
    # With a final line end, the last line is empty; a line of one column may contain spaces alone.
    known = (lines.str.strip_chars("\r") != "").to_numpy()
    places = np.flatnonzero(known)
    head = lines[int(places[0])].rstrip("\r") if len(places) else ""
    rows = places[1:]
    fields = (lines.str.count_matches(separator, literal=True).to_numpy().astype(np.int64) + 1)[rows]
    same = lines.str.strip_chars("\r").str.strip_prefix("\ufeff") == head.removeprefix("\ufeff")
    heads = rows[same.to_numpy()[rows]]
    blank = len(places) > 0 and not known[places[0] : -1].all()
    return _Layout(head.split(separator), rows, rows + 1, fields, heads, blank)


def _quoted(name: str, text: str, separator: str) -> _Layout:
    # A strict reader reports a quote that is not closed, as in a file that is cut short.
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=separator, strict=True)
    names: list[str] = []
    begin, end, counts, heads = [], [], [], []
    at, blank = 0, False
    try:
        for fields in reader:
            if fields and not names:
                names = fields
            elif fields:
                if len(fields) == len(names) and fields == names:
                    heads.append(at)
                begin.append(at)
                end.append(reader.line_num)
                counts.append(len(fields))
            blank = blank or (bool(names) and not fields)
            at = reader.line_num
    except csv.Error as error:
        raise InputError(f"{name}, line {at + 1}: cannot be read as CSV: {error}") from error
    first, last, fields_of, repeated = (np.array(each, np.int64) for each in (begin, end, counts, heads))
    return _Layout(names, first, last, fields_of, repeated, blank)


def _read(
    name: str, text: str, as_text: Collection[str], separator: str, only_names: bool = False
) -> pl.DataFrame:
    try:
        return pl.read_csv(
            io.BytesIO(text.encode("utf-8")),
            separator=separator,
            schema_overrides=dict.fromkeys(as_text, pl.String),
            infer_schema=not only_names,
            infer_schema_length=None,
            n_rows=0 if only_names else None,
            truncate_ragged_lines=only_names,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = next(iter(str(error).splitlines()), "no reason given")
        raise InputError(f"{name}: cannot be read as CSV: {reason}") from error
