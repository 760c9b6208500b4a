"""Dates and hours of logs equal those of the standard library, also across daylight saving changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.io.traces import SwfHeader, SwfLog, Trace, read_swf, read_trace, to_workload, write_swf
from windlass.model import InputError, JobTable
from windlass.model.calendar import Calendar, known_zone, offset_name

_ZONES = {
    "Europe/Paris": ZoneInfo("Europe/Paris"),
    "America/St_Johns": ZoneInfo("America/St_Johns"),
    "UTC+05:45": timezone(timedelta(hours=5, minutes=45)),
    "UTC-03:30": timezone(-timedelta(hours=3, minutes=30)),
    "UTC": UTC,
}


@given(
    st.sampled_from(sorted(_ZONES)),
    st.integers(10**8, 4 * 10**9),
    st.lists(st.floats(-1e7, 1e8), min_size=1, max_size=20),
)
@settings(max_examples=100, deadline=None)
def test_hours_and_weekdays_equal_those_of_datetime(zone, origin, times):
    calendar = Calendar(float(origin), zone)
    dates = [datetime.fromtimestamp(origin + time, _ZONES[zone]) for time in times]
    assert calendar.hour_of_day(np.array(times)).tolist() == [date.hour for date in dates]
    assert calendar.weekday(np.array(times)).tolist() == [date.weekday() for date in dates]
    assert calendar.text(times[0]) == dates[0].strftime("%a %Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("zone", "change"),
    [
        ("Europe/Paris", datetime(2024, 10, 27, 1, 0, tzinfo=UTC)),
        ("America/St_Johns", datetime(2005, 10, 30, 2, 31, tzinfo=UTC)),
        ("Australia/Lord_Howe", datetime(2024, 10, 5, 15, 30, tzinfo=UTC)),
        ("Africa/Monrovia", datetime(1972, 1, 7, 0, 44, 30, tzinfo=UTC)),
    ],
)
def test_a_zone_changes_its_offset_to_the_second(zone, change):
    times = np.array([-86400.0, -3600.0, -1860.0, -1.0, 0.0, 1.0, 899.0, 1740.0, 3599.0, 3600.0, 90_000.0])
    dates = [datetime.fromtimestamp(change.timestamp() + time, ZoneInfo(zone)) for time in times.tolist()]
    assert dates[3].utcoffset() != dates[4].utcoffset()
    shown = Calendar(change.timestamp(), zone).local(times)
    assert shown.tolist() == [date.replace(tzinfo=UTC).timestamp() for date in dates]


@pytest.mark.parametrize(
    ("origin", "zone"), [(1e12, "UTC"), (0.0, "Mars/Olympus"), (0.0, "../etc/passwd"), (0.0, "")]
)
def test_other_calendars_are_rejected(origin, zone):
    with pytest.raises(InputError, match=r"^calendar: "):
        Calendar(origin, zone)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (
            {"UnixStartTime": 1132444805, "TimeZoneString": "Europe/London"},
            Calendar(1132444805.0, "Europe/London"),
        ),
        (
            {"UnixStartTime": 1132444805, "TimeZoneString": "Elsewhere", "TimeZone": 3600},
            Calendar(1132444805.0, "UTC+01:00"),
        ),
        ({"UnixStartTime": 1132444805, "TimeZone": -12600}, Calendar(1132444805.0, "UTC-03:30")),
        ({"UnixStartTime": 1132444805, "TimeZone": 46800}, Calendar(1132444805.0, "UTC+13:00")),
        ({"UnixStartTime": 1132444805, "TimeZone": 50460}, Calendar(1132444805.0, "UTC")),
        ({"UnixStartTime": 1132444805, "TimeZone": 999999}, Calendar(1132444805.0, "UTC")),
        ({"UnixStartTime": 0, "TimeZoneString": "Europe/London"}, None),
        ({"UnixStartTime": 10**15 - 1}, None),
        ({"TimeZoneString": "Europe/London"}, None),
        ({"UnixStartTime": "unknown"}, None),
    ],
)
def test_the_header_of_a_log_gives_its_calendar(entries, expected):
    assert SwfHeader.of(**entries).calendar == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("2024-03-04T08:00:00", "2024-03-05T08:00:00"), Calendar(1709539200.0, None)),
        (("2024-03-04T08:00:00Z", "2024-03-05T08:00:00Z"), Calendar(1709539200.0, "UTC")),
        (("2024-03-04T08:00:00+02:00", "2024-03-05T08:00:00+02:00"), Calendar(1709532000.0, "UTC+02:00")),
        (("2024-03-04T08:00:00+01:00", "2024-08-05T08:00:00+02:00"), Calendar(1709535600.0, "UTC")),
        (("1709539200", "1709539300"), Calendar(1709539200.0, "UTC")),
        (("1709539200000", "1709539300000"), Calendar(1709539200.0, "UTC")),
        (("0", "60"), None),
    ],
)
def test_the_times_of_a_table_give_its_calendar(rows, expected, tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("submit,run_s,procs\n" + "".join(f"{time},5,1\n" for time in rows))
    assert to_workload(read_trace(file)).calendar == expected


@pytest.mark.parametrize(("zone", "expected"), [("", None), ("Z", "UTC")])
def test_the_accounting_of_slurm_has_the_calendar_of_its_dates(zone, expected, tmp_path):
    file = tmp_path / "sacct.txt"
    times = [f"2024-05-01T12:0{minute}:00{zone}" for minute in (0, 1, 2)]
    file.write_text("JobID|Submit|Start|End|AllocCPUS|State\n1|" + "|".join(times) + "|4|COMPLETED\n")
    assert read_trace(file).calendar == Calendar(1714564800.0, expected)


@pytest.mark.parametrize(
    "calendar", [Calendar(1714564800.0, "Europe/Paris"), Calendar(1714564800.0, "UTC+05:45"), None]
)
def test_a_log_that_is_written_keeps_its_calendar(calendar, tmp_path):
    jobs = JobTable.of(submit=[0], run=[2], procs=[4])
    trace = Trace("log", Trace.of_jobs(jobs, "log", 8).records, 8, calendar=calendar)
    write_swf(SwfLog.of(trace), tmp_path / "log.swf")
    assert read_swf(tmp_path / "log.swf").calendar == calendar


def test_names_of_offsets_are_known_zones():
    assert all(known_zone(offset_name(away)) for away in (0.0, 3600.0, -12_600.0, 20_700.0))
