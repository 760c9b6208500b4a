"""A plain table of jobs, one per row, as CSV, JSON lines or Parquet.

:data:`~windlass.io.traces.roles.ROLES` lists the fields of a job and the names of columns that hold them; capitals,
spaces and other signs in a name do not matter, and columns may be in any order. If a table has several names for one
field, the first listed is used. A user may name the columns.

Required are submit, a number of processors, and run, or else start and end. Without a column of jobs, these are
numbered 1, 2, … by row. All other columns are preserved unchanged. An empty cell is a missing value.

- Times are seconds, or dates such as 2024-05-01T12:00:00Z (UTC if there is no zone). Times from 1973 on
  are converted to seconds since the first submission. Numbers from 1e11 on are milliseconds or less since 1970.
- Durations are seconds, 01:02:03, 1-02:03:04 (days first) or PT1H2M.
- Numbers may have a decimal comma if it cannot be a separator of thousands.

A CSV file has the column names in the first line, separated by commas, semicolons, tabs or vertical bars. Blank lines
are skipped. A line with more or fewer fields than names is bad.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from windlass.io import tables
from windlass.io.traces.csv_text import TextTable, csv_names, first_fields, read_csv_text
from windlass.io.traces.files import check_is_file, read_text, stem, write_bytes
from windlass.io.traces.jobs_of_table import trace_of_table
from windlass.io.traces.jsonl import read_json_lines
from windlass.io.traces.roles import choose_columns, known_names
from windlass.io.traces.separators import SEPARATORS, separator_of, without_preamble
from windlass.io.traces.trace import Trace
from windlass.model import InputError


def looks_like_table(head: str) -> bool:
    """Return whether the first line names several fields of a job.

    >>> looks_like_table("Submit Time;Run;CPUs\\n"), looks_like_table("JobID|Elapsed\\n")
    (True, False)
    """
    text, given = without_preamble(head)
    line = text.lstrip().partition("\n")[0]
    return known_names(line.split(given or separator_of(text)), {}) > 2 or known_names(line.split(), {}) > 2


def read_csv(
    path: str | PathLike[str], skip_bad_lines: bool = False, columns: Mapping[str, str] | None = None
) -> Trace:
    """Read a table of jobs from CSV; the module's documentation lists the columns.

    Parameters
    ----------
    path
        The file; it may be compressed.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.
    columns
        Columns of the file by field, such as ``{"submit": "Queued at"}``; a field may end in a unit, as in ``run_ms``.

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
    text, given = without_preamble(read_text(file))
    separator = given or separator_of(text, columns)
    if separator not in SEPARATORS:
        raise InputError(f"{file}: the separator is {separator!r}, expected a comma, semicolon, tab or |")
    names = _names(str(file), text, separator)
    if not columns and known_names(names, {}) == 0 and known_names(" ".join(names).split(), {}) > 2:
        slurm = " (sacct prints | with --parsable2)" if "JobID" in names[0] else ""
        raise InputError(
            f"{file}: columns are separated by spaces, expected a comma, semicolon, tab or |{slurm}"
        )
    chosen = choose_columns(str(file), names, columns)
    as_text = [each.column for each in chosen]
    table = read_csv_text(str(file), text, as_text, separator, exact=True)
    return trace_of_table(str(file), stem(file), table, chosen, skip_bad_lines, "line")


def read_jsonl(
    path: str | PathLike[str], skip_bad_lines: bool = False, columns: Mapping[str, str] | None = None
) -> Trace:
    """Read a table of jobs from JSON, an object per line or a list of objects, as :func:`read_csv` does.

    Raises
    ------
    InputError
        See :func:`read_csv`.
    """
    file = Path(path)
    text = read_text(file)
    table = read_json_lines(str(file), text)
    if not table.records.columns and table.bad:
        unit = "item" if text.lstrip().startswith("[") else "line"
        raise InputError(f"{file}, {unit} {table.bad[0].line}: {table.bad[0].reason}")
    chosen = choose_columns(str(file), table.records.columns, columns)
    unit = "item" if text.lstrip().startswith("[") else "line"
    return trace_of_table(str(file), stem(file), table, chosen, skip_bad_lines, unit)


def read_parquet(
    path: str | PathLike[str], skip_bad_lines: bool = False, columns: Mapping[str, str] | None = None
) -> Trace:
    """Read a table of jobs from Parquet, as :func:`read_csv` does; messages count rows (from 1) instead of lines.

    Raises
    ------
    InputError
        See :func:`read_csv`.
    """
    file = Path(path)
    check_is_file(file)
    records = tables.read_parquet(file)
    chosen = choose_columns(str(file), records.columns, columns)
    table = TextTable(records, line_of=lambda row: row + 1)
    return trace_of_table(str(file), stem(file), table, chosen, skip_bad_lines, "row")


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


def _names(file: str, text: str, separator: str) -> list[str]:
    """Return the names of the columns, and check that none occurs twice."""
    fields = [name for name in first_fields(text, separator) if name]
    twice = next((name for place, name in enumerate(fields) if name in fields[:place]), None)
    if twice is not None and known_names([twice], {}):
        raise InputError(f"{file}: column {twice!r} occurs twice, expected different names")
    return csv_names(file, text, separator)
