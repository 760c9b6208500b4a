"""The Standard Workload Format, version 2.2: the 18 columns of the Parallel Workloads Archive.

Each line is a job with 18 fields, separated by spaces or tabs, with -1 for unknown values. A line that begins with a
semicolon is a comment. Existing logs differ in details, for which these rules hold:

- Line ends may be LF or CRLF; blank lines are skipped.
- Comments may be anywhere; all of them form the header, in order, and are written at the top.
- Comments may contain any bytes (old logs are ISO 8859-1); a job may contain only ASCII numbers.
- Times, processor time and memory may have decimals; the other fields are whole numbers, including "4.0".
- No field may be negative except -1, and none may be NaN or infinite.
- A line that breaks a rule raises an error, or is listed and left out if the caller skips bad lines.

The format: S. Chapin, W. Cirne, D. Feitelson et al., "Benchmarks and Standards for the Evaluation of
Parallel Job Schedulers", JSSPP 1999; https://www.cs.huji.ac.il/labs/parallel/workload/swf.html.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import polars as pl

from windlass.io.traces.columns import TraceColumn, bad_lines, bad_rows, converted, numbers, refuse_or_note
from windlass.io.traces.files import read_text, stem, write_text
from windlass.io.traces.swf_header import SwfHeader
from windlass.io.traces.trace import BadLine, Trace, check_columns
from windlass.model import InputError

COLUMNS = (
    TraceColumn("job", whole=True, missing=-1),
    TraceColumn("submit", missing=-1),
    TraceColumn("wait", missing=-1),
    TraceColumn("run", missing=-1),
    TraceColumn("procs_allocated", whole=True, missing=-1),
    TraceColumn("cpu_used", missing=-1),
    TraceColumn("memory_used", missing=-1),
    TraceColumn("procs_requested", whole=True, missing=-1),
    TraceColumn("request", missing=-1),
    TraceColumn("memory_requested", missing=-1),
    TraceColumn("status", whole=True, missing=-1),
    TraceColumn("user", whole=True, missing=-1),
    TraceColumn("group", whole=True, missing=-1),
    TraceColumn("application", whole=True, missing=-1),
    TraceColumn("queue", whole=True, missing=-1),
    TraceColumn("partition", whole=True, missing=-1),
    TraceColumn("preceding_job", whole=True, missing=-1),
    TraceColumn("think_time", missing=-1),
)
_NAMES = [column.name for column in COLUMNS]
_LINES_AT_ONCE = 50_000  # limits the memory for the text of the fields


@dataclass(frozen=True, slots=True, eq=False)
class SwfLog(Trace):
    """A trace with all 18 columns, and the header of its file.

    Parameters
    ----------
    name, records, processors, notes, bad_lines
        As in :class:`Trace`.
    header
        The comment lines.

    Raises
    ------
    InputError
        One of the 18 columns is missing.
    """

    header: SwfHeader = SwfHeader()  # noqa: RUF009 - frozen, so it can be shared

    def __post_init__(self) -> None:
        check_columns(self.name, self.records, _NAMES)

    @classmethod
    def of(cls, trace: Trace) -> SwfLog:
        """Convert a trace to an SWF log: missing columns get missing values, columns that SWF lacks are dropped."""
        lacking = [name for name in _NAMES if name not in trace.records.columns]
        header = SwfHeader.of(**_entries(trace))
        records = trace.records.with_columns(pl.lit(None, pl.Float64).alias(name) for name in lacking).select(
            _NAMES
        )
        return cls(
            trace.name,
            records,
            trace.processors,
            trace.notes,
            trace.bad_lines,
            header,
            calendar=header.calendar,
        )


def _entries(trace: Trace) -> dict[str, object]:
    """Return the entries of a header; the start has whole seconds in SWF, so another one is left out."""
    found: dict[str, object] = {} if trace.processors is None else {"MaxProcs": trace.processors}
    calendar = trace.calendar
    if calendar is not None and calendar.origin.is_integer():
        found["UnixStartTime"] = int(calendar.origin)
        if calendar.zone is not None:
            found["TimeZoneString"] = calendar.zone
    return found


def looks_like_swf(head: str) -> bool:
    """Return whether the first line that is not a comment has 18 numbers.

    >>> looks_like_swf("; MaxProcs: 8\\n1 0 5 60 4 -1 -1 4 90 -1 1 17 3 -1 1 -1 -1 -1\\n"), looks_like_swf("a,b\\n")
    (True, False)
    """
    first = next((line for line in head.split("\n") if line.strip() and not line.startswith(";")), "")
    return len(first.split()) == len(COLUMNS) and set(first) <= set("0123456789.- \t\r")


def read_swf(path: str | PathLike[str], skip_bad_lines: bool = False) -> SwfLog:
    """Read a log, plain or ``.gz``.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.

    Returns
    -------
    SwfLog
        The records, with -1 as null, times in s and memory in KB; processors from ``MaxProcs``, otherwise ``MaxNodes``.

    Raises
    ------
    InputError
        The file cannot be read, has no jobs, or has a bad line and ``skip_bad_lines`` is False.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tiny.swf"
    >>> _ = path.write_text("; MaxProcs: 8\\n1 0 5 60 4 -1 -1 4 90 -1 1 17 3 -1 1 -1 -1 -1\\n")
    >>> log = read_swf(path)
    >>> log.processors, log.records["user"].to_list(), log.records["memory_used"].to_list()
    (8, [17], [None])
    """
    file = Path(path)
    lines = _numbered_lines(read_text(file))
    is_comment = pl.col("text").str.starts_with(";")
    header = SwfHeader(tuple(lines.filter(is_comment)["text"].str.slice(1).to_list()))
    jobs = lines.filter(~is_comment & (pl.col("text") != ""))
    if jobs.is_empty():
        raise InputError(f"{file}: no jobs, only comments, expected lines of {len(COLUMNS)} numbers")
    plain = _plain(jobs)
    parts = list(_parsed(jobs)) if plain is None else [_Part(plain, [])]
    bad = [line for part in parts for line in part.bad]
    notes = (*refuse_or_note(str(file), bad, skip_bad_lines), *header.notes)
    records = pl.concat(part.records for part in parts)
    if records.is_empty():
        raise InputError(f"{file}: no jobs, all lines are bad, line {bad[0].line}: {bad[0].reason}")
    return SwfLog(stem(file), records, header.processors, notes, tuple(bad), header, calendar=header.calendar)


def write_swf(log: SwfLog, path: str | PathLike[str]) -> None:
    """Write a log, compressed if the name ends in ``.gz``; reading it gives equal records and an equal header.

    Parameters
    ----------
    log
        The log; see :meth:`SwfLog.of` for traces of other formats.
    path
        The file, replaced if there is one.

    Raises
    ------
    InputError
        The format cannot represent a value (NaN, infinite, negative, or a fraction in a column of whole numbers), or
        the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from windlass.model import JobTable
    >>> path = Path(tempfile.mkdtemp()) / "tiny.swf"
    >>> write_swf(SwfLog.of(Trace.of_jobs(JobTable.of(submit=[0], run=[2.5], procs=[4]), "tiny", 8)), path)
    >>> print(path.read_text().rstrip())
    ; Version: 2.2
    ; MaxProcs: 8
    1 0 -1 2.5 4 -1 -1 4 2.5 -1 -1 -1 -1 -1 -1 -1 -1 -1
    """
    _check_writable(log)
    fields = [_field(column) for column in COLUMNS]
    jobs = log.records.select(pl.concat_str(fields, separator=" "))
    lines = [f";{line}" for line in log.header.lines] + jobs.to_series().to_list()
    write_text("".join(f"{line}\n" for line in lines), Path(path))


@dataclass(frozen=True, slots=True)
class _Part:
    records: pl.DataFrame
    bad: list[BadLine]


def _numbered_lines(text: str) -> pl.DataFrame:
    # Only LF ends a line: comments may contain the other characters at which str.splitlines() splits.
    lines = pl.DataFrame({"text": text.split("\n")}, schema={"text": pl.String})
    return lines.with_columns(pl.col("text").str.strip_chars(" \t\r")).with_row_index("line", offset=1)


def _plain(jobs: pl.DataFrame) -> pl.DataFrame | None:
    """Return the records of lines that are all good, which takes half of the time; None if some line is bad."""
    text = _single_spaced(jobs["text"])
    if (text.str.count_matches(" ", literal=True) != len(COLUMNS) - 1).any():
        return None
    source = io.BytesIO(text.str.join("\n")[0].encode("utf-8"))
    schema = dict.fromkeys(_NAMES, pl.Float64)
    try:
        values = pl.read_csv(source, has_header=False, separator=" ", quote_char=None, schema=schema)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    if len(values) != len(jobs) or any(values[name].null_count() for name in _NAMES):
        return None
    if len(bad_rows(values, values, COLUMNS)):
        return None
    return values.select(map(converted, COLUMNS))


def _parsed(jobs: pl.DataFrame) -> Iterator[_Part]:
    for lines in jobs.iter_slices(_LINES_AT_ONCE):
        yield _part(lines)


def _part(lines: pl.DataFrame) -> _Part:
    counted = lines.with_columns(_single_spaced(lines["text"])).with_columns(
        count=pl.col("text").str.count_matches(" ", literal=True) + 1
    )
    short = counted.filter(pl.col("count") != len(COLUMNS))
    whole = counted.filter(pl.col("count") == len(COLUMNS))
    split = pl.col("text").str.split_exact(" ", len(COLUMNS) - 1).struct.rename_fields(_NAMES)
    cells = whole.select(split.alias("cells")).unnest("cells")
    values = numbers(cells, COLUMNS)
    rows = bad_rows(cells, values, COLUMNS)
    bad = [_miscounted(line, count) for line, count in short.select("line", "count").iter_rows()]
    bad += bad_lines(rows, COLUMNS, line_of=lambda row: int(whole["line"][row]))
    good = values.with_row_index("row").join(rows, on="row", how="anti") if len(rows) else values
    return _Part(good.select(map(converted, COLUMNS)), sorted(bad, key=lambda line: line.line))


def _single_spaced(text: pl.Series) -> pl.Series:
    # Replacing pairs until none is left is twice as fast as one regular expression.
    text = text.str.replace_all("\t", " ", literal=True)
    while text.str.contains("  ", literal=True).any():
        text = text.str.replace_all("  ", " ", literal=True)
    return text


def _miscounted(line: int, count: int) -> BadLine:
    return BadLine(line, f"{count} field{'s' * (count != 1)}, expected {len(COLUMNS)}")


def _check_writable(log: SwfLog) -> None:
    rows = bad_rows(log.records, numbers(log.records, COLUMNS), COLUMNS)
    if len(rows):
        first = bad_lines(rows, COLUMNS, line_of=lambda row: row + 1)[0]
        raise InputError(f"{log.name}, record {first.line}: {first.reason}")


def _field(column: TraceColumn) -> pl.Expr:
    number = pl.col(column.name).cast(pl.Int64 if column.whole else pl.Float64)
    return number.cast(pl.String).str.strip_suffix(".0").fill_null("-1")
