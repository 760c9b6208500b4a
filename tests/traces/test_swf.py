"""The Standard Workload Format: reading logs, and lossless writing."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.io.traces import SwfHeader, SwfLog, Trace, read_swf, write_swf
from windlass.io.traces.swf import COLUMNS
from windlass.model import InputError, JobTable
from windlass.model.calendar import Calendar

LINE = "1 0 5 60 4 1.5 -1 8 90 -1 1 17 3 -1 2 -1 -1 -1"
NAMES = [column.name for column in COLUMNS]


def write(folder: Path, text: str | bytes, name: str = "log.swf") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_every_column_is_read_and_minus_one_is_missing(tmp_path: Path) -> None:
    log = read_swf(write(tmp_path, LINE))
    assert log.records.columns == NAMES
    assert log.records.row(0) == (1, 0, 5, 60, 4, 1.5, None, 8, 90, None, 1, 17, 3, None, 2, None, None, None)
    whole = {name for name, kind in log.records.schema.items() if kind == pl.Int64}
    assert whole == set(NAMES) - {"submit", "wait", "run", "cpu_used", "memory_used", "request"} - {
        "memory_requested",
        "think_time",
    }


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        LINE + "\n",
        LINE + "\r\n",
        "\n\n" + LINE + "\n \t\n",
        "  " + LINE.replace(" ", " \t  ") + "\t",
        LINE.replace("60", "60.0").replace("17", "1.7e1"),
        "\ufeff" + LINE,
        LINE + "\n; said in the middle",
    ],
)
def test_white_space_and_number_formats_do_not_matter(tmp_path: Path, text: str) -> None:
    assert read_swf(write(tmp_path, text)).records.equals(
        read_swf(write(tmp_path, LINE, "plain.swf")).records
    )


def test_comments_anywhere_are_the_header_in_order(tmp_path: Path) -> None:
    log = read_swf(write(tmp_path, f"; MaxProcs: 8\r\n;\n{LINE}\n  ;Note: late\n{LINE}"))
    assert log.header.lines == (" MaxProcs: 8", "", "Note: late")
    assert len(log) == 2


def test_comments_may_be_latin_1(tmp_path: Path) -> None:
    log = read_swf(write(tmp_path, "; Installation: Universität\n".encode("latin-1") + LINE.encode()))
    assert log.header.get("Installation") == "Universität"


def test_comments_may_contain_other_unicode_line_ends(tmp_path: Path) -> None:
    log = read_swf(write(tmp_path, f"; one\u2028line\x0c\x85only\n{LINE}"))
    assert len(log.header.lines) == 1


@pytest.mark.parametrize(
    ("lines", "processors"),
    [
        ((" MaxNodes: 4", " MaxProcs: 8"), 8),
        ((" MaxNodes: 4",), 4),
        ((" MaxProcs: -1", " MaxNodes: 4"), 4),
        ((" MaxProcs: 0",), None),
        ((" maxprocs: 8 (of 16)",), 8),
        ((" MaxProcs: many",), None),
        ((" MaxProcs: " + "9" * 5000,), None),
        ((), None),
    ],
)
def test_processors_come_from_the_header(lines: tuple[str, ...], processors: int | None) -> None:
    assert SwfHeader(lines).processors == processors


def test_all_values_of_a_repeated_key_are_kept() -> None:
    header = SwfHeader((" Queue: 1 day", " Note: http://x", "    more", " Queue: 2 night"))
    assert header.entries == (("Queue", "1 day"), ("Note", "http://x"), ("Queue", "2 night"))
    assert header.all("Queue") == ("1 day", "2 night")
    assert header.get("Partition") is None


@pytest.mark.parametrize("name", ["again.swf", "again.swf.gz"])
def test_a_log_round_trips(tmp_path: Path, name: str) -> None:
    log = read_swf(write(tmp_path, f"; MaxProcs: 8\n;  Partition: 1 a\n; free\n{LINE}\n{LINE}\n"))
    write_swf(log, tmp_path / name)
    again = read_swf(tmp_path / name)
    assert again.records.equals(log.records)
    assert again.header == log.header
    assert again.processors == 8


def test_compressed_bytes_do_not_depend_on_the_time(tmp_path: Path) -> None:
    log = read_swf(write(tmp_path, LINE))
    write_swf(log, tmp_path / "a.swf.gz")
    assert (tmp_path / "a.swf.gz").read_bytes()[4:8] == b"\0\0\0\0"
    assert gzip.decompress((tmp_path / "a.swf.gz").read_bytes()).decode() == LINE + "\n"


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("run", float("nan"), "run is 'nan'"),
        ("submit", float("inf"), "submit is 'inf'"),
        ("request", -7.0, "request is '-7.0'"),
        ("procs_allocated", 2.5, "procs_allocated is '2.5'"),
    ],
)
def test_values_that_cannot_be_read_are_not_written(
    tmp_path: Path, column: str, value: float, message: str
) -> None:
    log = SwfLog.of(Trace.of_jobs(JobTable.of([0, 1], [5, 5], [1, 1]), "two"))
    cells = pl.Series(column, [None, value], pl.Float64)
    with pytest.raises(InputError, match=f"^two, record 2: {message}"):
        write_swf(SwfLog("two", log.records.with_columns(cells)), tmp_path / "no.swf")


def test_a_header_line_has_no_line_end() -> None:
    with pytest.raises(InputError, match=r"contains a line end"):
        SwfHeader(("one\ntwo",))


def test_a_log_requires_all_columns() -> None:
    with pytest.raises(InputError, match=r"^part: no column 'wait', found job, submit"):
        SwfLog("part", Trace.of_jobs(JobTable.of([0], [5], [1]), "part").records)


def cells(whole: bool) -> st.SearchStrategy[float | None]:
    if whole:
        return st.none() | st.integers(0, 2**53)
    return st.none() | st.floats(0, allow_nan=False, allow_infinity=False)


rows = st.lists(st.tuples(*(cells(column.whole) for column in COLUMNS)), min_size=1, max_size=5)
comments = st.lists(
    st.text(st.characters(exclude_characters="\n\x00", exclude_categories=["Cs"]), max_size=20)
)


@given(rows, comments, st.booleans())
def test_any_valid_log_round_trips(tmp_path_factory: pytest.TempPathFactory, table, header, packed) -> None:
    schema = {column.name: pl.Int64 if column.whole else pl.Float64 for column in COLUMNS}
    records = pl.DataFrame(table, schema, orient="row").with_columns(pl.col(pl.Float64) + 0.0)
    log = SwfLog("any", records, header=SwfHeader(tuple(line.rstrip(" \t\r") for line in header)))
    path = tmp_path_factory.getbasetemp() / ("any.swf.gz" if packed else "any.swf")
    write_swf(log, path)
    again = read_swf(path)
    assert again.records.equals(records)
    assert again.header == log.header


def test_an_unknown_zone_is_a_note_and_not_a_silent_fallback(tmp_path):
    job = "1 0 5 60 4 -1 -1 4 90 -1 1 17 3 -1 1 -1 -1 -1\n"
    file = tmp_path / "log.swf"
    file.write_text(f"; UnixStartTime: 1132444805\n; TimeZoneString: Mars/Olympus\n; TimeZone: 3600\n{job}")
    log = read_swf(file)
    assert log.notes == (
        "TimeZoneString: unknown zone 'Mars/Olympus', expected one such as Europe/Paris; dates are in UTC+01:00",
    )
    assert log.calendar == Calendar(1132444805.0, "UTC+01:00")
    # Without a start there are no dates, and with a known zone there is no doubt.
    file.write_text(f"; TimeZoneString: Mars/Olympus\n{job}")
    assert read_swf(file).notes == ()
    file.write_text(f"; UnixStartTime: 1132444805\n; TimeZoneString: Europe/Paris\n{job}")
    assert read_swf(file).notes == ()
