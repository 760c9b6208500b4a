"""Records of logged jobs, and parsing of numbers and times in logs."""

import time

import pytest

from windlass.io.traces import read_csv
from windlass.io.traces.fields import UnreadableError, duration, instant, memory, number, whole
from windlass.io.traces.logs.record import STEP, LoggedJob, LogReading, trace_of
from windlass.model import InputError

GIB = 2.0**30


def test_logged_jobs_become_records_and_notes():
    reading = LogReading()
    reading.take(LoggedJob(submit=50.0, run=10.0, start=60.0, procs_allocated=4, procs_requested=9, gpus=1.0))
    reading.take(LoggedJob(submit=40.0, run=30.0, start=45.0, procs_requested=6))
    reading.take(LoggedJob(submit=45.0, run=1.0, procs_requested=1))
    for _ in range(1200):
        reading.take(STEP)
    trace = trace_of("file", "name", reading, False, notes=("more",))
    assert trace.records["submit"].to_list() == [50.0, 40.0, 45.0]
    assert trace.records["wait"].to_list() == [10.0, 5.0, None]
    assert (trace.processors, trace.peak, trace.name) == (10, True, "name")
    assert trace.notes == (
        "1,200 records are of steps of jobs and are left out",
        "the log does not state the number of processors; jobs held at most 10 at once",
        "more",
    )
    assert trace.records.columns == [
        *("job", "submit", "run", "procs_allocated", "procs_requested", "request", "gpus", "wait"),
    ]
    alone = LogReading([LoggedJob(submit=1e8, run=1.0, procs_requested=1)])
    trace = trace_of("file", "name", alone, False)
    assert (trace.processors, trace.peak, trace.records["submit"][0]) == (None, False, 0.0)
    assert trace.notes == ("times count from 1973-03-03T09:46:40Z, the first submission",)
    before = trace_of("file", "name", LogReading([LoggedJob(submit=1e8 - 1, run=1.0)]), False)
    assert (before.notes, before.records["submit"][0]) == ((), 1e8 - 1)
    held = LogReading([LoggedJob(submit=0.0, start=0.0, run=1.0, procs_allocated=0)])
    assert (trace_of("f", "n", held, False).processors, trace_of("f", "n", held, False).peak) == (None, False)
    largest = LogReading([LoggedJob(submit=0.0, start=0.0, run=1.0, procs_allocated=2, procs_requested=5)])
    assert trace_of("f", "n", largest, False).processors == 5
    late = LogReading([LoggedJob(submit=253_402_300_800.0, run=1.0)])
    with pytest.raises(InputError, match="expected a year of four digits"):
        trace_of("file", "name", late, False)
    with pytest.raises(InputError, match="file: no jobs that ran: the log has none"):
        trace_of("file", "name", LogReading(), False)


def test_numbers_times_and_durations_are_parsed():
    assert number("f", "-0.0") == 0.0
    assert str(number("f", "-0.0")) == "0.0"
    assert whole("f", str(2**53)) == 2**53
    for bad in (str(2**53 + 1), "-1", "1.0", "", "²"):
        with pytest.raises(UnreadableError):
            whole("f", bad)
    for bad in ("-1", "inf", "1_0", "x"):
        with pytest.raises(UnreadableError, match="a number of 0 or more"):
            number("f", bad)
    units = {"": 2**20, "K": 2**10, "m": 2**20, "G": 2**30, "t": 2**40, "P": 2**50, "E": 2**60}
    for unit, size in units.items():
        assert memory("f", f"1.5{unit}") == 1.5 * size
    assert memory("f", "3", "") == 3.0
    assert memory("f", "3", "G") == 3 * GIB
    assert [memory("f", text) for text in ("2GB", "2GiB", "2gw", "2b")] == [2 * GIB] * 3 + [2.0]
    for bad in ("", "G", "1X", "-1G", "1 G"):
        with pytest.raises(UnreadableError, match="an amount of memory"):
            memory("f", bad)
    assert instant("f", "1970-01-02") == 86_400.0
    assert instant("f", "1970-01-01T00:00:01-01:00") == 3601.0
    assert duration("f", "2-00:00:01") == 172_801.0
    assert duration("f", "PT1M") == 60.0


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_times_without_a_zone_are_utc_in_any_local_zone(monkeypatch, tmp_path, zone):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert instant("f", "2024-05-01T12:00:00") == 1_714_564_800.0
        reading = LogReading([LoggedJob(submit=1_714_564_800.0, run=1.0)])
        notes = trace_of("f", "n", reading, False).notes
        assert notes == ("times count from 2024-05-01T12:00:00Z, the first submission",)
        path = tmp_path / "a.csv"
        path.write_text("submit,run,procs\n2024-05-01T12:00:00,1,1\n")
        assert read_csv(path).notes == ("times count from 2024-05-01T12:00:00, the first submission",)
    finally:
        monkeypatch.undo()
        time.tzset()
