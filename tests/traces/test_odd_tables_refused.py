"""Tables of jobs that are unclear, cut short or damaged are refused in one line: where, which value, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.traces.test_odd_tables import COMPRESSED, written, zipped
from windlass.io.traces import read_trace
from windlass.model import InputError


def refusal(folder: Path, content: str | bytes, name: str = "jobs.csv", **options: Any) -> str:
    path = written(folder, content, name)
    with pytest.raises(InputError) as caught:
        read_trace(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), "FILE")


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_damaged_or_truncated_archive_is_refused(tmp_path, kind):
    for content in (COMPRESSED[kind][:-30], COMPRESSED[kind][:12] + b"\xff" * 40):
        message = refusal(tmp_path, content, "jobs.csv")
        assert message.startswith("FILE: the ")
        assert "damaged" in message or "truncated" in message


HEAD = "submit,run,procs,user\n"
GOOD = "0,60,4,ann\n"
A_TIME = "a time: a number of seconds, or a date such as 2024-05-01T12:00:00"
UNCLEAR_DATE = (
    "a date such as 2024-05-01T12:00:00; no date of this column shows whether the day or the month is first"
)
A_DURATION = "a duration: a number of seconds of 0 or more, 01:02:03 or 1-02:03:04"
UNCLEAR = "a number without separators of thousands and with a decimal point"
REFUSED: list[tuple[str | bytes, str]] = [
    ("", "FILE: the file is empty, expected a header and rows"),
    ("\n \n", "FILE: the file is empty, expected a header and rows"),
    ("\n".encode("utf-16"), "FILE: the file is empty, expected a header and rows"),
    (HEAD, "FILE: no jobs, only the names of columns"),
    (HEAD.strip(), "FILE: no jobs, only the names of columns"),
    (HEAD + HEAD, "FILE: no jobs, only the names of columns"),
    (GOOD, "FILE: no column 'submit' (or submit_time, "),
    ("submit run procs\n0 60 4\n", "FILE: columns are separated by spaces, expected a comma, "),
    (HEAD + GOOD + "5,60", "FILE, line 3: 2 fields, expected 4"),
    (HEAD + GOOD + "5,60,4", "FILE, line 3: 3 fields, expected 4"),
    (HEAD + GOOD + "5", "FILE, line 3: 1 field, expected 4"),
    (HEAD + GOOD + '5,60,4,"an', "FILE, line 3: cannot be read as CSV: unexpected end of data"),
    (HEAD + GOOD + "5,60,4,ann,9\n", "FILE, line 3: 5 fields, expected 4"),
    (HEAD + GOOD + "\n5,60,4,ann,\n", "FILE, line 4: 5 fields, expected 4"),
    (HEAD + '0,60,4,"a\nb"\n5,x,4,b\n', f"FILE, line 4: run is 'x', expected {A_DURATION}"),
    (HEAD + "0,60,4,a\x00n\n", "FILE, line 2: a NUL byte, expected a text file"),
    ((HEAD + "0,60,4,a\x00n\n").encode("utf-16"), "FILE, line 2: a NUL character, expected a text file"),
    ((HEAD + GOOD + "5,60,4,b").encode("utf-16")[:-1], "FILE, line 3: cannot be decoded as UTF-16"),
    (
        HEAD + GOOD + "submit,procs,run,user\n5,4,60,b\n",
        f"FILE, line 3: submit is 'submit', expected {A_TIME}",
    ),
    (
        HEAD + GOOD + "2026-01-02T03:04:05,60,4,b\n",
        "FILE, line 3: submit is '2026-01-02T03:04:05', expected a number as in line 2",
    ),
    (
        HEAD + "2026-01-02T03:04:05,60,4,b\n" + GOOD,
        "FILE, line 3: submit is '0', expected a date without a zone as in line 2",
    ),
    (
        HEAD + "2026-01-02 03:04:05,60,4,b\n2026-01-02 03:04:05Z,60,4,b\n",
        "FILE, line 3: submit is '2026-01-02 03:04:05Z', expected a date without a zone as in line 2",
    ),
    (
        "submit,start,end,procs\n1767322985,1767322986,1767322987,1\n1767322985000,1767322986,1767322987,1\n",
        "FILE, line 3: submit is '1767322985000', expected seconds since 1970, by the size of the number",
    ),
    (
        "submit,start,end,procs\n1767322985000,1767322986000,1767322987000,1\n5,1767322986000,1767322987000,1\n",
        "FILE, line 3: submit is '5', expected milliseconds since 1970, by the size of the number",
    ),
    (
        "submit,start,end,procs\n20260102030405,20260102030406,20260102030407,1\n",
        f"FILE, line 2: submit is '20260102030405', expected {A_TIME}; ",
    ),
    (
        HEAD + "1767322985000,60,4,b\n",
        "FILE: submit counts milliseconds, so the unit of run (60) is unclear, expected a name with a unit",
    ),
    (
        "submit,start,end,procs\n0,2026-01-02,2026-01-03,1\n",
        "FILE: start has dates without a zone, but submit has numbers, expected one form",
    ),
    (
        "submit,start,end,procs\n2026-01-02T00:00:00Z,2026-01-02T00:00:00,2026-01-02T00:00:00,1\n",
        "FILE: start has dates without a zone, but submit has dates with a zone, expected one form of time",
    ),
    (
        "submit,start,end,procs\n0,9,5,1\n",
        "FILE, line 2: end is '5', expected a time that is not before start, '9'",
    ),
    (
        "submit,start,end,procs\n9,5,12,1\n",
        "FILE, line 2: start is '5', expected a time that is not before submit, '9'",
    ),
    (
        HEAD + "01/02/2026 03:04,60,4,b\n",
        f"FILE, line 2: submit is '01/02/2026 03:04', expected {UNCLEAR_DATE}",
    ),
    (HEAD + "02.13.2026,60,4,b\n", f"FILE, line 2: submit is '02.13.2026', expected {A_TIME}"),
    (
        HEAD + "2026-02-30 00:00:00,60,4,b\n",
        f"FILE, line 2: submit is '2026-02-30 00:00:00', expected {A_TIME}",
    ),
    (HEAD + "yesterday,60,4,b\n", f"FILE, line 2: submit is 'yesterday', expected {A_TIME}"),
    (HEAD + "-5,60,4,b\n", "FILE, line 2: submit is '-5', expected a number of 0 or more"),
    (HEAD + "0,02:03,4,b\n", f"FILE, line 2: run is '02:03', expected {A_DURATION}"),
    (HEAD + "0,1:99:00,4,b\n", f"FILE, line 2: run is '1:99:00', expected {A_DURATION}"),
    (HEAD + "0,-00:01:00,4,b\n", f"FILE, line 2: run is '-00:01:00', expected {A_DURATION}"),
    (HEAD + "0,5 min,4,b\n", f"FILE, line 2: run is '5 min', expected {A_DURATION}"),
    (HEAD + "0,-1,4,b\n", "FILE, line 2: run is '-1', expected a number of 0 or more"),
    (HEAD + "0,inf,4,b\n", "FILE, line 2: run is 'inf', expected a number of 0 or more"),
    (HEAD + "0,NaN,4,b\n", "FILE, line 2: run is 'NaN', expected a number of 0 or more"),
    (HEAD + "0,60,4.5,b\n", "FILE, line 2: procs is '4.5', expected a whole number of 0 or more"),
    (HEAD + "0,60,-4,b\n", "FILE, line 2: procs is '-4', expected a whole number of 0 or more"),
    (HEAD + "0,60,four,b\n", "FILE, line 2: procs is 'four', expected a whole number of 0 or more"),
    (HEAD + "0,60,1e17,b\n", "FILE, line 2: procs is '1e17', expected a whole number of 0 or more"),
    (
        "submit;run;procs\n0;1,234;4\n",
        f"FILE, line 2: run is '1,234', expected {UNCLEAR}: 1,234 may be two numbers",
    ),
    ("submit;run;procs\n0;1,5;4\n0;1.5;4\n", f"FILE, line 2: run is '1,5', expected {UNCLEAR}"),
    ("submit;run;procs\n0;1.234,5;4\n", f"FILE, line 2: run is '1.234,5', expected {A_DURATION}"),
    ("submit;run;procs\n0;1 234;4\n", f"FILE, line 2: run is '1 234', expected {A_DURATION}"),
    ("submit;run;procs\n0;60;4\n5,60,4\n", "FILE, line 3: 1 field, expected 3"),
    (
        "Submit,SUBMIT,run,procs\n0,1,60,4\n",
        "FILE: columns 'Submit' and 'SUBMIT' both may hold submit, expected one; ",
    ),
    ("submit,submit,run,procs\n0,1,60,4\n", "FILE: column 'submit' occurs twice, expected different names"),
    ("submit,start,procs\n0,1,4\n", "FILE: no column 'run' (or runtime, "),
    ("sep=x\nsubmitxrunxprocs\n", "FILE: the separator is 'x', expected a comma, semicolon, tab or |"),
    (zipped(GOOD.encode(), "a.csv", "b.csv"), "FILE: the archive has 2 files (a.csv, b.csv), expected one; "),
    (
        zipped(b"x", "[Content_Types].xml", "xl/workbook.xml"),
        "FILE: is a spreadsheet or document of Office, expected text; ",
    ),
]


@pytest.mark.matrix
@pytest.mark.parametrize(("content", "message"), REFUSED)
def test_what_is_unclear_or_damaged_is_refused_in_one_line(tmp_path, content, message):
    assert refusal(tmp_path, content).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"submit": 0, "run": 60, "procs": 4}\n{"submit": 1, "ru',
            "FILE, line 2: cannot be read as JSON: Unterminated string",
        ),
        (
            '{"submit": 0, "run": 60, "procs": 4}\n{"submit": 1,',
            "FILE, line 2: cannot be read as JSON: Expecting property name",
        ),
        (
            '{"submit": 0, "run": 60, "procs": 4}\n[1]\n',
            "FILE, line 2: '[\"1\"]' is not an object, expected {…}",
        ),
        (
            '{"submit": 0, "run": NaN, "procs": 4}\n',
            "FILE, line 1: run is 'NaN', expected a number of 0 or more",
        ),
        ('{"submit": 0, "run": 60}\n', "FILE: no column 'procs_requested'"),
        ('{"submit": 0, "run": true, "procs": 4}\n', f"FILE, line 1: run is 'true', expected {A_DURATION}"),
        ('{"submit": 0, "run": [1], "procs": 4}\n', "FILE, line 1: run is '["),
        ("[1, 2]", "FILE, item 1: '\"1\"' is not an object, expected {…}"),
        ('[{"submit": 0}', "FILE, line 1: cannot be read as JSON: Expecting ',' delimiter"),
    ],
)
def test_json_that_is_cut_short_or_no_table_is_refused(tmp_path, text, message):
    assert refusal(tmp_path, text, "jobs.jsonl").startswith(message)


@pytest.mark.parametrize("name", ["jobs.json", "jobs.txt", "jobs"])
@pytest.mark.parametrize(
    "text", ['{"meta": {"submit, run": 1}, "jobs": []}', '{"nodes": [{"name": "a"}]}', "[1, 2]"]
)
def test_json_of_no_known_form_is_refused(tmp_path, name, text):
    assert refusal(tmp_path, text, name).startswith(
        "FILE: JSON of no known form, expected a job per line or a list"
    )


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"submt": "a"}, "columns: 'submt' is no field, expected job, submit, run, "),
        ({"submit": "Start"}, "FILE: no column 'Start' for submit, found 'submit', 'run', 'procs', 'user'"),
        (
            {"procs": "Procs"},
            "FILE: no column 'Procs' for procs, found 'submit', 'run', 'procs', 'user'; did you mean",
        ),
        ({"run": "run", "run_ms": "procs"}, "columns: run is given twice, expected one column of each field"),
        ({"procs_ms": "procs"}, "columns: 'procs_ms' is no field"),
    ],
)
def test_columns_that_the_file_lacks_are_refused(tmp_path, columns, message):
    assert refusal(tmp_path, HEAD + GOOD, columns=columns).startswith(message)


def test_columns_of_other_formats_are_fixed(tmp_path):
    message = refusal(tmp_path, "JobID|Submit\n", "a.txt", format="sacct", columns={"submit": "Submit"})
    assert message == "FILE: columns are given, but those of sacct are fixed, expected csv, parquet or jsonl"


def test_bad_lines_of_odd_tables_can_be_skipped(tmp_path):
    text = HEAD + GOOD + "x,60,4,b\n7,60\n" + HEAD + "9,61,5,c\n"
    trace = read_trace(written(tmp_path, text), skip_bad_lines=True)
    assert trace.records.select("submit", "run", "procs_requested", "user").rows() == [
        (0, 60, 4, "ann"),
        (9, 61, 5, "c"),
    ]
    assert [line.line for line in trace.bad_lines] == [3, 4]
    assert "line 5 repeats the column names and is left out" in trace.notes
