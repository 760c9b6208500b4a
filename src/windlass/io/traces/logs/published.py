"""Readers of published tables of jobs in Parquet, CSV or JSON lines, whose columns have fixed names and units."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from windlass.io import tables
from windlass.io.traces.columns import quote
from windlass.io.traces.compression import is_parquet
from windlass.io.traces.csv_text import TextTable, csv_names, read_csv_text
from windlass.io.traces.files import check_is_file, read_text, stem
from windlass.io.traces.jobs_of_table import trace_of_table
from windlass.io.traces.jsonl import read_json_lines
from windlass.io.traces.roles import ROLES, ChosenColumn
from windlass.io.traces.separators import separator_of, without_preamble
from windlass.io.traces.trace import Trace
from windlass.model import InputError
from windlass.model.nearest import did_you_mean

_ROLES = {role.name: role for role in ROLES}


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """The columns of a published table.

    Parameters
    ----------
    needed
        Columns without which a file is no such table.
    fields
        Alternative columns of each field, the preferred one first.
    units
        Seconds per unit of a field of time; 1 if there is none.
    others
        Columns that are kept under their own names for ``--where``.
    notes
        Notes for the user.
    derive
        Returns the rows with derived columns; their order and number do not change.
    """

    needed: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    units: Mapping[str, float] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    derive: Callable[[pl.DataFrame], pl.DataFrame] | None = None

    def wanted(self, names: Sequence[str]) -> list[str]:
        """Return those of a file's columns that are read."""
        known = {*self.needed, *self.others, *(name for each in self.fields.values() for name in each)}
        return [name for name in names if name.strip() in known]

    def matches(self, head: str) -> bool:
        """Return whether the first line of a file names the needed columns."""
        first = head.lstrip("\ufeff \r\n").partition("\n")[0]
        if first.lstrip().startswith(("{", "[")):
            return all(f'"{name.partition(".")[0]}"' in first for name in self.needed)
        names = {name.strip().strip('"') for name in first.split(separator_of(first))}
        return set(self.needed) <= names

    def read(self, path: Path, skip_bad_lines: bool = False) -> Trace:
        """Read a file.

        Raises
        ------
        InputError
            The file cannot be read, lacks a column or has no jobs, or has a bad line and ``skip_bad_lines`` is False.
        """
        table, unit = load_table(path, self.wanted, self.needed)
        if self.derive is not None:
            table = dataclasses.replace(table, records=self.derive(table.records))
        return self.trace(str(path), stem(path), table, unit, skip_bad_lines)

    def trace(self, file: str, name: str, table: TextTable, unit: str, skip_bad_lines: bool) -> Trace:
        """Return the trace of rows that are read; its processors are the most that jobs held at once."""
        found = trace_of_table(file, name, table, list(self._chosen(table.records)), skip_bad_lines, unit)
        return dataclasses.replace(found, notes=(*found.notes, *self.notes))

    def _chosen(self, records: pl.DataFrame) -> Sequence[ChosenColumn]:
        chosen = []
        for name, columns in self.fields.items():
            column = next((each for each in columns if each in records.columns), None)
            if column is not None:
                role = _ROLES[name]
                timed = role.kind in ("time", "duration")
                chosen.append(ChosenColumn(role, column, self.units.get(name, 1.0) if timed else None))
        return chosen


def load_table(
    path: Path, wanted: Callable[[Sequence[str]], list[str]], needed: Sequence[str]
) -> tuple[TextTable, str]:
    """Read some columns of a table, and return the name of a row in messages.

    Parameters
    ----------
    path
        A Parquet file, or a text file that may be compressed.
    wanted
        Returns the columns to read.
    needed
        Columns that the file must have.

    Raises
    ------
    InputError
        The file cannot be read or lacks a column.
    """
    check_is_file(path)
    if is_parquet(path):
        names = tables.parquet_names(path)
        _check(path, names, needed)
        records = tables.read_parquet(path, columns=wanted(names))
        return TextTable(records, line_of=lambda row: row + 1), "row"
    text, given = without_preamble(read_text(path))
    if text.lstrip().startswith(("{", "[")):
        table = read_json_lines(str(path), text)
        _check(path, table.records.columns, needed)
        return dataclasses.replace(table, records=table.records.select(wanted(table.records.columns))), "line"
    separator = given or separator_of(text)
    names = csv_names(str(path), text, separator)
    _check(path, names, needed)
    table = read_csv_text(str(path), text, names, separator, exact=True)
    columns = wanted(names)
    renamed = table.records.select(columns).rename({name: name.strip() for name in columns})
    return dataclasses.replace(table, records=renamed), "line"


def _check(path: Path, names: Sequence[str], needed: Sequence[str]) -> None:
    found = {name.strip() for name in names}
    for name in needed:
        if name not in found:
            shown, hint = ", ".join(map(quote, names)) or "none", did_you_mean(name, found)
            raise InputError(f"{path}: no column {name!r}, found {shown}{hint}")
