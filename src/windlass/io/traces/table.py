"""A plain table of jobs, one per row, as CSV or Parquet.

Columns may be in any order and have these names. If a table has several names for one column, the first listed is used:

- submit (s): submit, submit_s, submit_time, arrival, arrival_s, arrival_time
- run (s): run, run_s, runtime, run_time, duration, duration_s
- procs_requested: procs_requested, procs, processors, cpus, cores, gpus, nodes
- procs_allocated: procs_allocated
- request (s): request, request_s, walltime, walltime_s, time_limit
- job (a number, or an identifier such as 102_7): job, job_id, jobid, id
- site_procs (whole number): site_procs

submit, run and one of the two numbers of processors are required. Without a column of job numbers, jobs are numbered
1, 2, … by row. The largest site_procs is the number of processors of the site. All other columns are preserved
unchanged. An empty cell is a missing value; all other cells of the columns above must be numbers of 0 or more.

Times may be ISO 8601 dates such as 2024-05-01T12:00:00Z (UTC if there is no zone), which are then converted to seconds
since the first one. Durations may be written as 01:02:03, 1-02:03:04 (days first) or PT1H2M.

A CSV file has the column names in the first line, separated by commas. Blank lines are skipped. In a line with fewer
fields than names, the last cells are empty; a line with more fields is bad.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import polars as pl

from windlass.io import tables
from windlass.io.traces.clock import in_seconds
from windlass.io.traces.columns import (
    TraceColumn,
    bad_lines,
    bad_rows,
    converted,
    numbers,
    quote,
    refuse_or_note,
)
from windlass.io.traces.csv_text import TextTable, csv_names, read_csv_text
from windlass.io.traces.files import check_is_file, read_text, stem, write_bytes
from windlass.io.traces.identifiers import with_identifiers
from windlass.io.traces.trace import REQUIRED, Trace
from windlass.model import InputError

_SITE = "site_procs"


@dataclass(frozen=True, slots=True)
class Role:
    column: TraceColumn
    names: tuple[str, ...]


ROLES = (
    Role(TraceColumn("job", whole=True), ("job", "job_id", "jobid", "id")),
    Role(
        TraceColumn("submit"), ("submit", "submit_s", "submit_time", "arrival", "arrival_s", "arrival_time")
    ),
    Role(TraceColumn("run"), ("run", "run_s", "runtime", "run_time", "duration", "duration_s")),
    Role(TraceColumn("procs_allocated", whole=True), ("procs_allocated",)),
    Role(
        TraceColumn("procs_requested", whole=True),
        ("procs_requested", "procs", "processors", "cpus", "cores", "gpus", "nodes"),
    ),
    Role(TraceColumn("request"), ("request", "request_s", "walltime", "walltime_s", "time_limit")),
    Role(TraceColumn(_SITE, whole=True), (_SITE,)),
)


def read_csv(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read a table of jobs from CSV, plain or ``.gz``; the module's documentation lists the columns.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.

    Returns
    -------
    Trace
        The records; times in s.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column or has no jobs, or has a bad line and ``skip_bad_lines`` is False.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "jobs.csv"
    >>> _ = path.write_text("arrival_s,gpus,duration_s,team\\n0,4,60,vision\\n")
    >>> read_csv(path).records.select("submit", "run", "procs_requested", "team").row(0)
    (0.0, 60.0, 4, 'vision')
    """
    file = Path(path)
    text = read_text(file)
    chosen = _chosen(str(file), csv_names(str(file), text))
    return _trace(file, read_csv_text(str(file), text, as_text=chosen), chosen, skip_bad_lines, "line")


def read_parquet(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read a table of jobs from Parquet, as :func:`read_csv` does; messages count rows (from 1) instead of lines.

    Raises
    ------
    InputError
        See :func:`read_csv`.
    """
    file = Path(path)
    check_is_file(file)
    records = tables.read_parquet(file)
    chosen = _chosen(str(file), records.columns)
    return _trace(file, TextTable(records, line_of=lambda row: row + 1), chosen, skip_bad_lines, "row")


def write_table(trace: Trace, path: str | PathLike[str]) -> None:
    """Write all records as ``.csv``, ``.csv.gz`` or ``.parquet``, by the suffix; the readers return equal records.

    Raises
    ------
    InputError
        The suffix is none of the three, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from windlass.model import JobTable
    >>> path = Path(tempfile.mkdtemp()) / "jobs.parquet"
    >>> write_table(Trace.of_jobs(JobTable.of(submit=[0], run=[60], procs=[4]), "one"), path)
    >>> len(read_parquet(path))
    1
    """
    file = Path(path)
    name = file.name.lower()
    buffer = io.BytesIO()
    if name.endswith(".parquet"):
        trace.records.write_parquet(buffer)
    elif name.endswith((".csv", ".csv.gz")):
        trace.records.write_csv(buffer)
    else:
        raise InputError(f"{file}: unknown suffix, expected .csv, .csv.gz or .parquet")
    write_bytes(buffer.getvalue(), file)


def _trace(file: Path, table: TextTable, chosen: Mapping[str, str], skip: bool, unit: str) -> Trace:
    renamed = table.records.rename(chosen)
    records, dated = in_seconds(with_identifiers(_tidied(str(file), renamed)))
    columns = [role.column for role in ROLES if role.column.name in records.columns]
    values = numbers(records, columns)
    rows = bad_rows(records, values, columns)
    bad = sorted(
        [*table.bad, *bad_lines(rows, columns, table.line_of)],
        key=lambda line: line.line,
    )
    notes = refuse_or_note(str(file), bad, skip, unit)
    good = records.with_columns(values.select(map(converted, columns)).get_columns())
    good = good.filter(~pl.int_range(pl.len()).is_in(rows["row"].to_list()))
    if good.is_empty():
        why = f", all are bad, {unit} {bad[0].line}: {bad[0].reason}" if bad else ""
        raise InputError(f"{file}: no jobs{why}")
    return Trace(stem(file), _filled(good), _site(good), notes + dated, tuple(bad))


def _site(records: pl.DataFrame) -> int | None:
    """Return the processors of the site: the most that a row states, as tables of several times may be joined."""
    most = records[_SITE].max() if _SITE in records.columns else None
    return most if isinstance(most, int) and most > 0 else None


def _chosen(name: str, columns: list[str]) -> Mapping[str, str]:
    """Return the known column for each of the file's column names."""
    found = {column.strip(): column for column in reversed(columns)} | {column: column for column in columns}
    chosen = {}
    for role in ROLES:
        known = [found[alias] for alias in role.names if alias in found]
        if known:
            chosen[known[0]] = role.column.name
    for needed in ("submit", "run"):
        if needed not in chosen.values():
            raise _no_column(name, needed, columns)
    if not {"procs_requested", "procs_allocated"} & set(chosen.values()):
        raise _no_column(name, "procs_requested", columns)
    return chosen


def _no_column(name: str, needed: str, columns: list[str]) -> InputError:
    names = next(role.names for role in ROLES if role.column.name == needed)
    found = ", ".join(quote(column) for column in columns) or "none"
    return InputError(f"{name}: no column {needed!r} (or {', '.join(names[1:])}), found {found}")


def _tidied(name: str, records: pl.DataFrame) -> pl.DataFrame:
    for role in ROLES:
        column = role.column.name
        kind = records.schema.get(column, pl.Float64())
        if kind == pl.String:
            cells = pl.col(column).str.strip_chars()
            records = records.with_columns(pl.when(cells != "").then(cells).alias(column))
        elif not (kind.is_numeric() or kind == pl.Null):
            raise InputError(f"{name}: column {column!r} holds {kind}, expected numbers")
    return records


def _filled(records: pl.DataFrame) -> pl.DataFrame:
    job = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("job")
    missing = {
        "job": job,
        "procs_allocated": pl.lit(None, pl.Int64).alias("procs_allocated"),
        "procs_requested": pl.lit(None, pl.Int64).alias("procs_requested"),
        "request": pl.lit(None, pl.Float64).alias("request"),
    }
    added = [expression for column, expression in missing.items() if column not in records.columns]
    return records.with_columns(added).select(*REQUIRED, pl.exclude(REQUIRED))
