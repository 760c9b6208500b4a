"""Dates and durations in tables and logs, and that a log that is written reads back."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.io.traces import read_csv, read_trace
from windlass.io.traces.fields import UnreadableError, duration, instant, memory
from windlass.io.traces.logs.sacct import read_sacct
from windlass.model import InputError

SECONDS = st.integers(0, 400 * 86_400)
DATES = st.datetimes(datetime.datetime(1971, 1, 1), datetime.datetime(2100, 1, 1))
TIMES = DATES.map(lambda at: at.replace(microsecond=0))


def clock(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3600)
    return f"{days}-" * (days > 0) + f"{hours:02}:{rest // 60:02}:{rest % 60:02}"


@given(SECONDS, TIMES)
def test_times_and_durations_round_trip(seconds: int, at: datetime.datetime) -> None:
    assert duration("Elapsed", clock(seconds)) == seconds
    assert instant("Start", at.isoformat()) == at.replace(tzinfo=datetime.UTC).timestamp()
    west = at.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=-7)))
    assert instant("Start", west.isoformat()) == at.replace(tzinfo=datetime.UTC).timestamp() + 7 * 3600


@given(st.lists(st.tuples(TIMES, SECONDS, SECONDS, st.integers(1, 9999)), min_size=1, max_size=20))
def test_a_written_log_round_trips(
    tmp_path_factory: pytest.TempPathFactory,
    jobs: list[tuple[datetime.datetime, int, int, int]],
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.txt"
    lines = ["JobID|Submit|Start|End|Elapsed|AllocCPUS|State"]
    for number, (submit, wait, run, procs) in enumerate(jobs):
        start = submit + datetime.timedelta(seconds=wait)
        end = start + datetime.timedelta(seconds=run)
        lines.append(
            f"{number}|{submit.isoformat()}|{start.isoformat()}|{end.isoformat()}|{clock(run)}|{procs}|COMPLETED"
        )
    path.write_text("\n".join(lines))
    begin = min(submit for submit, *_ in jobs)
    if begin.replace(tzinfo=datetime.UTC).timestamp() < 1e8:
        begin = datetime.datetime(1970, 1, 1)
    expected = [((at - begin).total_seconds(), wait, run, procs) for at, wait, run, procs in jobs]
    assert read_sacct(path).records.select("submit", "wait", "run", "procs_allocated").rows() == expected


@pytest.mark.parametrize(
    "text", ["02:03", "1:2:3:4", "-00:00:01", "1e999", "nan", "", "1_0", "99", "25:61:00"]
)
def test_invalid_durations_are_rejected(text: str) -> None:
    if text == "99":
        assert duration("run", text) == 99
        return
    with pytest.raises(
        UnreadableError, match=r"^run is '.*', expected a duration such as 01:02:03 or 1-02:03:04$"
    ):
        duration("run", text)


@pytest.mark.parametrize(
    ("text", "unit", "found"),
    [("4", "M", 2**22), ("4", "", 4), ("1.5g", "M", 1.5 * 2**30), ("16kb", "", 2**14), ("2GiB", "", 2**31)],
)
def test_memory_amounts_are_parsed(text: str, unit: str, found: float) -> None:
    assert memory("mem", text, unit) == found


A_TIME = "a time: a number of seconds, or a date such as 2024-05-01T12:00:00"
A_DURATION = "a duration: a number of seconds of 0 or more, 01:02:03 or 1-02:03:04"


def test_dates_and_durations_in_a_table_are_read(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(
        "submit,run,procs,walltime,user\n"
        "2024-05-01T12:00:00Z,01:02:03,4,1-00:00:00,ann\n"
        "2024-05-01 11:59:00Z,PT1H,2,,bob\n"
        "2024-05-01T14:00:30+02:00,90.5,1,120,ann\n"
    )
    trace = read_csv(path)
    assert trace.records.select("submit", "run", "request", "user").rows() == [
        (60.0, 3723.0, 86_400.0, "ann"),
        (0.0, 3600.0, None, "bob"),
        (90.0, 90.5, 120.0, "ann"),
    ]
    assert trace.notes == ("times count from 2024-05-01T11:59:00Z, the first submission",)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ("yesterday,1,1", f"submit is 'yesterday', expected {A_TIME}"),
        ("2024-05-01T12:00:00Z,02:03,1", f"run is '02:03', expected {A_DURATION}"),
        ("2024-13-01T12:00:00Z,1,1", f"submit is '2024-13-01T12:00:00Z', expected {A_TIME}"),
        (
            "2024-05-01T12:00:00,1,1",
            "submit is '2024-05-01T12:00:00', expected a date with a zone as in line 2",
        ),
        ("1714564800,1,1", "submit is '1714564800', expected a date with a zone as in line 2"),
    ],
)
def test_a_bad_date_is_named_or_skipped(tmp_path: Path, cells: str, reason: str) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(f"submit,run,procs\n2024-05-01T12:00:00Z,00:00:05,1\n{cells}\n")
    with pytest.raises(InputError) as caught:
        read_trace(path)
    assert str(caught.value) == f"{path}, line 3: {reason}"
    assert read_trace(path, skip_bad_lines=True).bad_lines[0].reason == reason


def test_a_bad_cell_does_not_change_the_other_numbers(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("submit,run,procs\n100,1,1\nx,1,1\n50,1,1\n")
    assert read_trace(path, skip_bad_lines=True).records["submit"].to_list() == [100, 50]
