"""Conversion of a table whose columns are known to a trace: units, origin of times, derived fields and bad lines."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from windlass.io.traces.columns import quote, refuse_or_note
from windlass.io.traces.csv_text import TextTable
from windlass.io.traces.decimal_commas import with_decimal_points
from windlass.io.traces.identifiers import with_identifiers
from windlass.io.traces.logs.record import peak_note, peak_processors
from windlass.io.traces.logs.rows import UNKNOWN, set_back_note
from windlass.io.traces.roles import ChosenColumn, columns_option
from windlass.io.traces.time_cells import (
    FIRST_DATE,
    WITHOUT_ZONE,
    ParsedCells,
    read_durations,
    read_numbers,
    read_times,
)
from windlass.io.traces.trace import REQUIRED, BadLine, Trace
from windlass.model import InputError
from windlass.model.calendar import HOUR, Calendar, known_zone, offset_name

#: Seconds from 1970 to the year 10000, the first that ``datetime`` does not support.
_NO_DATES = 253_402_300_800.0
#: The clocks of two machines can differ by this much, s, so that a start is before the submission.
_CLOCKS = 1.0
#: A stated run time may be rounded by this much, s.
_ROUNDED = 2.0
#: Marks of a missing value in tables that R, pandas and databases write.
_EXPORTED = frozenset({"NA", "N/A", "n/a", "<NA>", "NaT", "\\N", "-"})
#: Requested times of jobs without a limit of their own, as Slurm prints them.
_LIMITLESS = frozenset({"UNLIMITED", "Unlimited", "unlimited", "Partition_Limit", "INFINITE", "infinite"})
_WHOLE = ("job", "procs_allocated", "procs_requested", "site_procs")
_MOMENTS = ("submit", "start", "end")
_SCALED = ("milliseconds", "microseconds", "nanoseconds")


def trace_of_table(
    file: str, name: str, table: TextTable, chosen: Sequence[ChosenColumn], skip_bad_lines: bool, unit: str
) -> Trace:
    """Return the trace of a table.

    Parameters
    ----------
    file, name
        Names of the file and of the trace in messages.
    table
        The rows, with the names of the file.
    chosen
        The column of each field.
    skip_bad_lines
        Whether to continue without bad lines.
    unit
        Name of a row in messages.

    Raises
    ------
    InputError
        A line is bad and ``skip_bad_lines`` is False, or there are no jobs.

    Examples
    --------
    >>> from windlass.io.traces.roles import choose_columns
    >>> table = TextTable(pl.DataFrame({"Submit": ["1"], "Start": ["3"], "End": ["9"], "CPUs": ["4"]}), lambda row: row)
    >>> found = trace_of_table("a.csv", "a", table, choose_columns("a.csv", table.records.columns), False, "line")
    >>> found.records.select("submit", "wait", "run", "procs_requested").row(0)
    (1.0, 2.0, 6.0, 4)
    """
    cells = _Cells(file, table, chosen)
    cells.parse()
    cells.check_forms()
    cells.derive()
    bad = sorted([*table.bad, *cells.bad_lines()], key=lambda line: line.line)
    notes = (*refuse_or_note(file, bad, skip_bad_lines, unit), *table.notes, *_renamed(chosen), *cells.notes)
    records = cells.records()
    if records.is_empty():
        why = (
            f", all are bad, {unit} {bad[0].line}: {bad[0].reason}" if bad else ", only the names of columns"
        )
        raise InputError(f"{file}: no jobs{why}")
    zone = cells.zone()
    records, calendar = _from_first(file, records, zone)
    dated = () if calendar is None else (calendar.origin_note,)
    complete, site = _filled(records), _site(records)
    peak = peak_processors(complete) if site is None else None
    stated = () if peak is None else (peak_note(peak),)
    return Trace(
        name,
        complete,
        site or peak,
        (*notes, *dated, *stated),
        tuple(bad),
        calendar=calendar,
        peak=peak is not None,
    )


class _Cells:
    """The columns of a table while they are converted."""

    def __init__(self, file: str, table: TextTable, chosen: Sequence[ChosenColumn]) -> None:
        self._file, self._table = file, table
        self._chosen = {each.role.name: each for each in chosen}
        self._values: dict[str, pl.Series] = {}
        self._forms: dict[str, ParsedCells] = {}
        #: The reason for each bad row.
        self._wrong: dict[int, str] = {}
        self.notes: list[str] = []
        self._cells = {
            each.role.name: _tidied(table.records[each.column], each.role.name, each.role.kind).alias(
                each.role.name
            )
            for each in chosen
        }

    def parse(self) -> None:
        """Read all cells of numbers, times and durations."""
        timed = [name for name, each in self._chosen.items() if each.role.kind != "text"]
        points, ambiguous = with_decimal_points({name: self._cells[name] for name in timed})
        for name in timed:
            each, cells = self._chosen[name], points[name]
            match each.role.kind:
                case "time":
                    found = read_times(cells, each.unit, self._table.line_of)
                case "duration":
                    found = read_durations(cells, each.unit)
                case kind:
                    found = read_numbers(cells, whole=kind == "whole")
            if each.role.kind == "number" and found.wrong:
                continue  # a column of the same name that holds something else, which --where may use
            self._forms[name], self._values[name] = found, found.values
            for row, expected in (found.wrong | ambiguous.get(name, {})).items():
                self._refuse(row, name, expected)
            if found.form.endswith("seconds") and found.form != "seconds":
                self.notes.append(f"{self._named(name)} counts {found.form} since 1970, by its size")

    def check_forms(self) -> None:
        """Check that times of different columns can be compared.

        Raises
        ------
        InputError
            One column has dates and another numbers, or only one has zones; or the unit of a duration is unclear.
        """
        kinds = {
            name: self._forms[name].form if self._forms[name].dated else "numbers"
            for name in _MOMENTS
            if name in self._forms and self._values[name].null_count() < len(self._values[name])
        }
        first = next(iter(kinds), "")
        for name, kind in kinds.items():
            if kind != kinds[first]:
                raise InputError(
                    f"{self._file}: {self._named(name)} has {kind}, but {self._named(first)} has {kinds[first]}, "
                    "expected one form of time"
                )
        scaled = next((name for name in kinds if self._forms[name].form in _SCALED), "")
        for name in ("run", "request", "wait") if scaled else ():
            each = self._chosen.get(name)
            if each is None or each.unit is not None:
                continue
            numeric = self._cells[name].cast(pl.Float64, strict=False).drop_nulls()
            if len(numeric):
                raise InputError(
                    f"{self._file}: {self._named(scaled)} counts {self._forms[scaled].form}, so the unit of "
                    f"{self._named(name)} ({numeric[0]:.15g}) is unclear, expected a name with a unit; "
                    f"state it with {columns_option(f'{name}_s={quote(each.column)}')} (or {name}_ms)"
                )

    def derive(self) -> None:
        """Derive the run time from start and end, and the wait from submission and start."""
        start, end = self._values.get("start"), self._values.get("end")
        if start is not None and end is not None:
            length = self._set_back(end - start)
            self._order("end", length < 0, "start")
            if "run" not in self._values:
                self._values["run"] = length
                self.notes.append(f"the run time is {self._named('end')} less {self._named('start')}")
            else:
                self._compare("run", length, "end", "start")
        if start is not None:
            wait = start - self._values["submit"]
            if "wait" in self._values:
                self._compare("wait", wait, "start", "submit")
            else:
                self._order("start", wait < -_CLOCKS, "submit")
                self._values["wait"] = wait.clip(0.0)

    def _set_back(self, length: pl.Series) -> pl.Series:
        """Return the run times, longer by an hour where the clock was set back and the stated run time shows it."""
        run = self._values.get("run")
        if run is None or self._forms["start"].form != WITHOUT_ZONE or length.min() is None:
            return length
        back = ((length < 0) & ((length + HOUR - run).abs() <= _ROUNDED)).fill_null(False)
        count = int(back.sum())
        if not count:
            return length
        self.notes.append(set_back_note(count))
        return length + HOUR * back.cast(pl.Float64)

    def zone(self) -> str | None:
        """Return the zone of the submissions, if it is one and the same; None for dates without one."""
        if self._forms["submit"].form == WITHOUT_ZONE:
            return None
        cells = self._cells["submit"]
        named = cells.dtype.time_zone if isinstance(cells.dtype, pl.Datetime) else None
        if named is not None and known_zone(named):
            return named
        if cells.dtype != pl.String:
            return "UTC"
        # With summer time there are two offsets, which name no zone.
        offsets = cells.str.extract(r"[T ].*([+-][0-9]{2}:?[0-9]{2})$").drop_nulls().unique()
        if len(offsets) != 1 or cells.null_count():
            return "UTC"
        away = offsets[0].replace(":", "")
        return offset_name((-1 if away[0] == "-" else 1) * (int(away[1:3]) * HOUR + int(away[3:5]) * 60))

    def _order(self, name: str, early: pl.Series, first: str) -> None:
        for row in early.fill_null(False).arg_true().to_list():
            other = quote(str(self._cells[first][row]))
            away = self._values[first][row] - self._values[name][row]
            unclear = self._forms[name].form == WITHOUT_ZONE and away <= HOUR
            hint = "; times need a zone if the clock was set back" if unclear else ""
            self._refuse(row, name, f"a time that is not before {self._named(first)}, {other}{hint}")

    def _compare(self, name: str, length: pl.Series, last: str, first: str) -> None:
        """Add a note if run times or waits differ from what two times give: a unit may be another one."""
        run = self._values[name]
        differs = ((run - length).abs() > (0.01 * length).clip(2.0)).fill_null(False)
        count = int(differs.sum())
        if count:
            row = int(differs.arg_true()[0])
            self.notes.append(
                f"{self._named(name)} differs from {self._named(last)} less {self._named(first)} in {count:,} of "
                f"{len(run):,} rows, the first: {run[row]:.15g} s and {length[row]:.15g} s; the former is used"
            )

    def _refuse(self, row: int, name: str, expected: str) -> None:
        cell = quote(str(self._cells[name][row]))
        self._wrong.setdefault(row, f"{self._named(name)} is {cell}, expected {expected}")

    def _named(self, name: str) -> str:
        return self._chosen[name].column.strip()

    def bad_lines(self) -> list[BadLine]:
        """Return the rows that cannot be read."""
        return [BadLine(self._table.line_of(row), self._wrong[row]) for row in sorted(self._wrong)]

    def records(self) -> pl.DataFrame:
        """Return the good rows, with the fields under their own names."""
        used = {each.column for each in self._chosen.values()}
        fields = {name: self._values.get(name, cells) for name, cells in self._cells.items()}
        fields |= {name: values for name, values in self._values.items() if name not in fields}
        others = [
            column
            for column in self._table.records
            if column.name not in used and column.name.strip() not in fields
        ]
        columns = [series.alias(name) for name, series in fields.items()]
        records = with_identifiers(pl.DataFrame([*columns, *others]))
        whole = [pl.col(name).cast(pl.Int64, strict=False) for name in _WHOLE if name in records.columns]
        records = records.with_columns(whole)
        if not self._wrong:
            return records
        good = ~pl.int_range(pl.len()).is_in(list(self._wrong))
        return records.filter(good)


def _tidied(cells: pl.Series, name: str, kind: str) -> pl.Series:
    """Return cells without spaces around them, and null for empty ones."""
    if cells.dtype in (pl.Null, pl.Categorical, pl.Enum):
        cells = cells.cast(pl.String)
    if cells.dtype != pl.String:
        return cells.cast(pl.Int8) if cells.dtype == pl.Boolean else cells
    stripped = cells.str.strip_chars()
    empty = stripped.is_in(list(_missing(name, kind)))
    return stripped.set(empty.fill_null(False), None) if empty.any() else stripped


def _missing(name: str, kind: str) -> frozenset[str]:
    """Return the texts that mark a missing value of a field; NaN is one only of a time that may be unknown."""
    if kind == "text":
        return frozenset({""})
    if name in ("start", "end", "wait"):
        return UNKNOWN | _EXPORTED
    words = (UNKNOWN | _EXPORTED) - {"nan"}
    return words | _LIMITLESS if name == "request" else words


def _renamed(chosen: Sequence[ChosenColumn]) -> tuple[str, ...]:
    """Return a note on columns whose names are none of the documented ones."""
    found = [f"{each.role.name} is {quote(each.column)}" for each in chosen if not each.exact]
    return (f"columns: {', '.join(found)}",) if found else ()


def _from_first(file: str, records: pl.DataFrame, zone: str | None) -> tuple[pl.DataFrame, Calendar | None]:
    """Return times since the first submission if they are dates, and the calendar that begins with it."""
    begin = records["submit"].min()
    if not isinstance(begin, float) or begin < FIRST_DATE:
        return records, None
    if begin >= _NO_DATES:
        raise InputError(
            f"{file}: the first job is submitted {begin:g} s after 1970, expected a year of four digits"
        )
    moments = [pl.col(name) - begin for name in _MOMENTS if name in records.columns]
    return records.with_columns(moments), Calendar(begin, zone)


def _site(records: pl.DataFrame) -> int | None:
    """Return the processors of the site: the most that a row states, as tables of several times may be joined."""
    most = records["site_procs"].max() if "site_procs" in records.columns else None
    return most if isinstance(most, int) and most > 0 else None


def _filled(records: pl.DataFrame) -> pl.DataFrame:
    missing = {
        "job": pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("job"),
        "procs_allocated": pl.lit(None, pl.Int64).alias("procs_allocated"),
        "procs_requested": pl.lit(None, pl.Int64).alias("procs_requested"),
        "request": pl.lit(None, pl.Float64).alias("request"),
    }
    added = [expression for column, expression in missing.items() if column not in records.columns]
    return records.with_columns(added).select(*REQUIRED, pl.exclude(REQUIRED))
