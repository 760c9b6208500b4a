"""Logs that are damaged: every fault is named in one line, and bad lines can be skipped."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from windlass.io.traces import BadLine, read_swf
from windlass.io.traces.swf import COLUMNS
from windlass.model import InputError

LINE = "1 0 5 60 4 1.5 -1 8 90 -1 1 17 3 -1 2 -1 -1 -1"
PACKED = gzip.compress(LINE.encode(), mtime=0)


def with_field(name: str, value: str) -> str:
    fields = LINE.split()
    fields[[column.name for column in COLUMNS].index(name)] = value
    return " ".join(fields)


def error_of(path: Path, skip: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        read_swf(path, skip_bad_lines=skip)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "FILE: the file is empty, expected a header and rows"),
        (b" \n\r\n", "FILE: the file is empty, expected a header and rows"),
        (b"; MaxProcs: 8\n; Note: x\n", "FILE: no jobs, only comments, expected lines of 18 numbers"),
        (b"; ok\n\x00\x01\x02", "FILE, line 2: a NUL byte, expected a text file"),
        (b"\x93\xfa\x96\x7b\n", "FILE, line 1: 1 field, expected 18"),
        (LINE.replace("17", "\xb2").encode("latin-1"), "FILE, line 1: user is '²', expected a whole number"),
    ],
)
def test_a_file_that_is_not_a_log_is_rejected(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes(content)
    assert error_of(path).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PACKED[:-12], "FILE: the gzip file is truncated, expected more bytes"),
        (PACKED[:10] + b"\xff" * 30, "FILE: the gzip file is damaged: "),
        (PACKED[:-8] + b"\xff" * 8, "FILE: the gzip file is damaged: "),
        (gzip.compress(b"", mtime=0), "FILE: the file is empty"),
        (b"", "FILE: the file is empty"),
    ],
)
def test_a_damaged_gzip_file_is_rejected(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "log.swf.gz"
    path.write_bytes(content)
    assert error_of(path).startswith(message)


def test_a_missing_file_and_a_directory_are_rejected(tmp_path: Path) -> None:
    assert error_of(tmp_path / "none.swf") == "FILE: no such file"
    assert error_of(tmp_path) == "FILE: is a directory, expected a file"


ANY = "expected a number of 0 or more, or -1 for missing"
WHOLE = "expected a whole number of 0 or more, or -1 for missing"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (LINE + " 7", "19 fields, expected 18"),
        (LINE[:-3], "17 fields, expected 18"),
        ("1", "1 field, expected 18"),
        (with_field("run", "abc"), f"run is 'abc', {ANY}"),
        (with_field("run", "nan"), f"run is 'nan', {ANY}"),
        (with_field("submit", "inf"), f"submit is 'inf', {ANY}"),
        (with_field("submit", "-5"), f"submit is '-5', {ANY}"),
        (with_field("run", "-0.5"), f"run is '-0.5', {ANY}"),
        (with_field("run", "1e999"), f"run is '1e999', {ANY}"),
        (with_field("run", "0x10"), f"run is '0x10', {ANY}"),
        (with_field("run", "1,5"), f"run is '1,5', {ANY}"),
        (with_field("procs_requested", "-2"), f"procs_requested is '-2', {WHOLE}"),
        (with_field("procs_allocated", "2.5"), f"procs_allocated is '2.5', {WHOLE}"),
        (with_field("job", "9" * 17), f"job is '{'9' * 17}', {WHOLE}"),
        (with_field("user", "\x07" + "u" * 99), f"user is '\\x07{'u' * 38}…', {WHOLE}"),
        (with_field("think_time", "?"), f"think_time is '?', {ANY}"),
    ],
)
def test_a_bad_line_is_named_or_skipped(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "log.swf"
    path.write_text(f"; header\n\n{LINE}\n{line}\n{LINE}\n")
    assert error_of(path) == f"FILE, line 4: {reason}"
    log = read_swf(path, skip_bad_lines=True)
    assert log.bad_lines == (BadLine(4, reason),)
    assert log.notes == ("1 bad line is left out: line 4",)
    assert len(log) == 2


def test_bad_lines_are_listed_in_order_with_their_first_fault(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text(
        "\n".join([LINE, with_field("run", "x").replace("-1", "?"), "2 3", LINE, "a " + LINE[2:]])
    )
    log = read_swf(path, skip_bad_lines=True)
    assert [(bad.line, bad.reason[:8]) for bad in log.bad_lines] == [
        (2, "run is '"),
        (3, "2 fields"),
        (5, "job is '"),
    ]
    assert log.notes == ("3 bad lines are left out: lines 2, 3, 5",)


def test_a_file_of_bad_lines_only_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("a\nb c\n")
    assert error_of(path, skip=True) == "FILE: no jobs, all lines are bad, line 1: 1 field, expected 18"


def test_bad_lines_far_down_are_found(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text(f"{LINE}\n" * 60_000 + "x\n" + f"{LINE}\n" * 60_000 + with_field("status", "y"))
    log = read_swf(path, skip_bad_lines=True)
    assert [bad.line for bad in log.bad_lines] == [60_001, 120_002]
    assert len(log) == 120_000


WORDS = ["-1", "0", "7", "1.5", "nan", "inf", "-2", "x", "1e5", "+3", "-0", "٣"]

lines = st.lists(
    st.just(LINE.encode())
    | st.binary(max_size=60)
    | st.lists(st.sampled_from(WORDS), max_size=19).map(lambda fields: " ".join(fields).encode()),
    max_size=6,
).map(b"\n".join)


@given(
    st.binary(max_size=200) | lines,
    st.sampled_from(["fuzz.swf", "fuzz.swf.gz"]),
    st.booleans(),
    st.booleans(),
)
@example(LINE.encode(), "fuzz.swf.gz", False, False)
def test_any_bytes_give_a_log_or_a_one_line_error(
    tmp_path_factory: pytest.TempPathFactory, outcome, content: bytes, name: str, packed: bool, skip: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(gzip.compress(content) if packed else content)
    found = outcome(read_swf, path, skip)
    assert "\n" not in found if isinstance(found, str) else len(found) >= 1
