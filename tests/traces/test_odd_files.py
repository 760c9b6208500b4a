"""Files as people have them, and files that are no logs: each is read as meant, or refused in a line with advice."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import tarfile

import polars as pl
import pytest

from tests.traces.test_odd_tables import written
from tests.traces.test_odd_tables_refused import refusal
from windlass.io.traces import read_trace, to_workload

TABLE = b"submit,run,procs\n0,60,4\n5,30,8\n"
#: Long enough that a compressed file is no text.
LONG = TABLE + b"7,30,8\n" * 200


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("jobs.csv")
        member.size = len(TABLE)
        archive.addfile(member, io.BytesIO(TABLE))
    return buffer.getvalue()


def arrow() -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame({"submit": [0], "run": [60.0], "procs": [4]}).write_ipc(buffer)
    return buffer.getvalue()


OTHERS: list[tuple[bytes, str]] = [
    (tarred(), "a tar archive, expected a log; extract the log first"),
    (gzip.compress(tarred()), "a tar archive, expected a log; extract the log first"),
    (
        gzip.compress(gzip.compress(LONG)),
        "a gzip file, compressed twice, expected a log; decompress it once first",
    ),
    (
        lzma.compress(LONG, lzma.FORMAT_ALONE),
        "a file of lzma, expected a log; decompress it with unlzma first",
    ),
    (b"7z\xbc\xaf\x27\x1c\0\4" + b"x" * 99, "a 7-Zip archive, expected a log; extract the log first"),
    (b"Rar!\x1a\x07\x01\0" + b"x" * 99, "an RAR archive, expected a log; extract the log first"),
    (
        b"\x1f\x9d\x90" + b"abc" * 99,
        "a file of compress (.Z), expected a log; decompress it with uncompress first",
    ),
    (b"\x04\x22\x4d\x18" + b"abc\0" * 9, "an LZ4 file, expected a log; decompress it with lz4 -d first"),
    (
        b"SQLite format 3\0" + b"\0" * 99,
        "a database of SQLite, expected a log; export the table of jobs as CSV first",
    ),
    (arrow(), "an Arrow or Feather file, expected a log; save the table as Parquet first"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "a spreadsheet or document of Office, expected a log"),
    (b"%PDF-1.7\n%\xe2\xe3\n", "a PDF document, expected a log; export the table of jobs as CSV first"),
    (b"\n<!DOCTYPE html>\n<html>404</html>\n", "a web page (HTML), expected a log; download the log itself"),
    (
        b"version https://git-lfs.github.com/spec/v1\n",
        "a pointer of Git LFS, expected a log; fetch the log with",
    ),
]


@pytest.mark.matrix
@pytest.mark.parametrize("name", ["jobs.csv", "jobs.swf", "jobs.bin", "jobs"])
@pytest.mark.parametrize(("content", "message"), OTHERS, ids=[message[:25] for _, message in OTHERS])
def test_a_file_that_is_no_log_is_named_by_what_it_is(tmp_path, content, message, name):
    assert refusal(tmp_path, content, name).startswith(f"FILE: is {message}")


def test_columns_between_spaces_are_refused_with_the_remedy(tmp_path):
    expected = "FILE: columns are separated by spaces, expected a comma, semicolon, tab or |"
    for name in ("jobs.csv", "jobs.txt"):
        assert refusal(tmp_path, "submit   run  procs\n0   60   4\n", name) == expected
        sacct = "JobID  User  Submit   Start   End  State\n------ ------\n"
        assert refusal(tmp_path, sacct, name) == f"{expected} (sacct prints | with --parsable2)"


@pytest.mark.parametrize("name", ["jobs.json", "jobs.txt", "jobs"])
def test_a_list_of_objects_needs_no_suffix(tmp_path, name):
    jobs = [{"submit": 0, "run": 60, "procs": 4}, {"submit": 5, "run": 30, "procs": 8}]
    trace = read_trace(written(tmp_path, json.dumps(jobs, indent=1), name))
    assert trace.records.select("submit", "run", "procs_requested").rows() == [(0, 60, 4), (5, 30, 8)]


@pytest.mark.parametrize("name", ["jobs.json", "jobs.jsonl", "jobs"])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_of_objects_may_be_the_first_value_of_an_object(tmp_path, name, indent):
    jobs = [{"submit": 0, "run": 60, "procs": 4}, {"submit": 5, "run": 30, "procs": 8}]
    trace = read_trace(written(tmp_path, json.dumps({"jobs": jobs, "version": 2}, indent=indent), name))
    assert trace.records.select("submit", "run", "procs_requested").rows() == [(0, 60, 4), (5, 30, 8)]


def test_json_lines_may_begin_with_a_list(tmp_path):
    lines = (
        '{"tags": [], "submit": 0, "run": 60, "procs": 4}\n{"tags": [], "submit": 5, "run": 30, "procs": 8}\n'
    )
    trace = read_trace(written(tmp_path, lines, "jobs.jsonl"))
    assert trace.records["submit"].to_list() == [0, 5]


MARKS = ("", "NA", "NULL", "None", "N/A", "<NA>", "\\N", "-", "(null)")


@pytest.mark.parametrize("mark", [*MARKS, "UNLIMITED", "Partition_Limit"])
def test_marks_of_a_missing_request_are_no_request(tmp_path, mark):
    trace = read_trace(written(tmp_path, f"submit,run,procs,request\n0,60,4,{mark}\n5,30,8,90\n"))
    assert trace.records["request"].to_list() == [None, 90.0]


@pytest.mark.parametrize("mark", MARKS)
def test_a_job_of_unknown_run_time_is_left_out_with_a_note(tmp_path, mark):
    trace = read_trace(written(tmp_path, f"submit,run,procs,user\n0,{mark},4,ann\n5,30,8,NA\n"))
    assert trace.records["user"].to_list() == ["ann", "NA"]
    workload = to_workload(trace)
    assert len(workload.jobs) == 1
    assert "1 job has no run time and is left out: job 1" in workload.notes


def test_minus_one_is_refused_with_the_remedy(tmp_path):
    message = refusal(tmp_path, "submit,run,procs\n0,-1,4\n")
    assert (
        message
        == "FILE, line 2: run is '-1', expected a number of 0 or more; the cell of an unknown value is empty"
    )


def test_names_in_windows_1252(tmp_path):
    content = "submit,run,procs,user\n0,60,4,O’Neill\n5,60,4,Zoë\n".encode("cp1252")
    assert read_trace(written(tmp_path, content)).records["user"].to_list() == ["O’Neill", "Zoë"]
    # Five bytes are no characters of Windows-1252.
    content = "submit,run,procs,user\n0,60,4,\x81é\n".encode("latin-1")
    assert read_trace(written(tmp_path, content)).records["user"].to_list() == ["\x81é"]


def test_one_large_number_among_seconds_is_refused_in_terms_of_the_others(tmp_path):
    message = refusal(tmp_path, "submit,run,procs\n0,60,4\n1e18,60,4\n")
    assert (
        message
        == "FILE, line 3: submit is '1e18', expected a number of seconds of the size of that in line 2"
    )


NOTE = "1 job ended after the clock was set back by an hour; its stated run time is used"
D = "2026-10-25T02"


def test_a_job_of_sacct_may_end_in_the_hour_that_is_repeated(tmp_path):
    head = "JobID|User|Submit|Start|End|ElapsedRaw|State|AllocCPUS\n"
    line = f"1|ann|{D}:50:00|{D}:55:00|{D}:05:00|600|COMPLETED|4\n"
    trace = read_trace(written(tmp_path, head + line, "sacct.txt"))
    assert trace.records.select("wait", "run").row(0) == (300.0, 600.0)
    assert NOTE in trace.notes
    message = refusal(tmp_path, head + line.replace("600", "60"), "sacct.txt")
    assert message == f"FILE, line 2: End is '{D}:05:00', expected a time that is not before Start"


def test_a_job_of_a_table_may_end_in_the_hour_that_is_repeated(tmp_path):
    text = f"submit,start,end,run,procs\n{D}:50:00,{D}:55:00,{D}:05:00,600,4\n"
    trace = read_trace(written(tmp_path, text))
    assert trace.records.select("wait", "run").row(0) == (300.0, 600.0)
    assert NOTE in trace.notes
    hint = "; times need a zone if the clock was set back"
    assert refusal(tmp_path, text.replace("600", "60")).endswith(hint)
    without = text.replace(",run", "").replace(",600", "")
    assert refusal(tmp_path, without).endswith(f"'{D}:55:00'{hint}")
    assert not refusal(tmp_path, without.replace("02:05", "01:05")).endswith(hint)
    assert not refusal(tmp_path, text.replace(":00,", ":00Z,").replace("600", "60")).endswith(hint)


def test_columns_of_a_log_with_fixed_ones_are_refused(tmp_path):
    message = refusal(tmp_path, "; MaxProcs: 8\n", "log.swf", columns={"submit": "a"})
    assert message == "FILE: columns are given, but those of swf are fixed, expected csv, parquet or jsonl"


def test_a_key_that_occurs_twice_is_an_error(tmp_path):
    line = '{"submit": 0, "submit": 7, "run": 60, "procs": 4}\n'
    good = '{"submit": 0, "run": 60, "procs": 4}\n'
    expected = "cannot be read as JSON: the key 'submit' appears twice"
    assert refusal(tmp_path, good + line, "jobs.jsonl") == f"FILE, line 2: {expected}"
    assert refusal(tmp_path, f"[{good}, {line}]", "jobs.jsonl") == f"FILE: {expected}"


def test_a_wait_that_contradicts_the_start_is_noted(tmp_path):
    trace = read_trace(written(tmp_path, "submit,wait,start,run,procs\n5,3,100,60,4\n6,4,10,60,4\n"))
    assert trace.records["wait"].to_list() == [3.0, 4.0]
    expected = (
        "wait differs from start less submit in 1 of 2 rows, the first: 3 s and 95 s; the former is used"
    )
    assert expected in trace.notes
