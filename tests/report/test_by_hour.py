"""Utilisation by hour and weekday, and the schedule, equal those computed one job or one hour at a time."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.made import outcome, random_outcome, results
from tests.report.page import page_of
from windlass.model.calendar import DAY, HOUR, Calendar
from windlass.report.by_hour import utilisation_by_hour
from windlass.report.date_ticks import date_ticks
from windlass.report.gantt import MOST_JOBS, busiest_window, held_ranges
from windlass.report.job_columns import JobTimes

PARIS = Calendar(1_711_839_000.0, "Europe/Paris")  # twelve hours before summer time begins


def _known(count: int, seed: int) -> JobTimes:
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.uniform(0, 3 * DAY, count))
    start = submit + rng.exponential(2 * HOUR, count)
    return JobTimes(
        submit, start, start + rng.exponential(5 * HOUR, count), rng.integers(1, 9, count) * 1.0, 0
    )


@pytest.mark.parametrize("calendar", [PARIS, Calendar(1_700_000_123.0, "UTC-03:30"), None])
def test_utilisation_of_each_hour_is_the_overlap_of_the_jobs_with_it(calendar):
    known = _known(60, 3)
    begin, share = utilisation_by_hour(known, 50, calendar)
    for at, found in zip(begin, share, strict=True):
        overlap = np.clip(np.minimum(known.end, at + HOUR) - np.maximum(known.start, at), 0, None)
        assert found == pytest.approx(100 * (overlap * known.procs).sum() / (50 * HOUR))
    assert begin[0] >= known.submit[0]
    assert known.submit[-1] - HOUR < begin[-1] + HOUR <= known.submit[-1]
    if calendar is not None:
        assert set(np.round(calendar.local(begin) % HOUR)) <= {0.0, HOUR}


@pytest.mark.matrix(0)
def test_the_page_has_hours_on_the_clock_of_the_log(tmp_path: Path) -> None:
    made = random_outcome(300, 1, 50_000.0)
    made = replace(made, jobs=made.jobs.with_columns(submit_s=made.jobs["submit_s"].sort() * 20))
    made = replace(made, jobs=made.jobs.with_columns(start_s="submit_s", end_s=made.jobs["submit_s"] + 600.0))
    dated = page_of(results(("easy", [replace(made, calendar=PARIS)])), tmp_path)
    assert {"hour-utilisation", "hour-wait", "weekday-utilisation"} <= set(dated.ids())
    assert "Times are in the zone of the log, Europe/Paris." in dated.text()
    first = datetime.fromtimestamp(PARIS.origin + made.jobs["submit_s"].min(), ZoneInfo("Europe/Paris"))
    assert f"{first:%a %Y-%m-%d} to " in dated.text()
    plain = page_of(results(("easy", [made])), tmp_path)
    assert "weekday-utilisation" not in plain.ids()
    assert "Utilisation by hour of day" in dated.text()
    assert "Utilisation by hour since the start" in plain.text()
    assert "Wait by hour of submission since the start" in plain.text()
    assert "since the start" not in dated.text()
    assert "The jobs have no dates: they are drawn, the log does not state when it began" in plain.text()


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(1, 6)), min_size=1, max_size=25))
@settings(max_examples=150, deadline=None)
def test_jobs_hold_the_lowest_free_processors(jobs):
    start, run, procs = (np.array(each) for each in zip(*jobs, strict=True))
    found = held_ranges(start * 1.0, (start + run) * 1.0, procs)
    taken: dict[int, set[int]] = {}
    for job in sorted(range(len(jobs)), key=lambda row: (start[row], row)):
        running = [other for other in taken if start[other] + run[other] > start[job]]
        busy = set().union(*(taken[other] for other in running))
        free = (number for number in range(10**6) if number not in busy)
        taken[job] = {next(free) for _ in range(procs[job])}
    ranges: dict[int, set[int]] = {}
    for each in found:
        ranges.setdefault(each.job, set()).update(range(each.first, each.first + each.count))
        assert (each.start, each.end) == (start[each.job], start[each.job] + run[each.job])
    assert ranges == taken


@pytest.mark.parametrize("most", [5, 20, 1000])
def test_the_window_has_the_longest_queue_and_few_jobs(most):
    known = _known(200, 5)
    low, high = busiest_window(known, most)
    instants = np.unique(np.concatenate((known.submit, known.start)))
    waiting = [(known.procs * ((known.submit <= at) & (known.start > at))).sum() for at in instants]
    peak = instants[int(np.argmax(waiting))]
    assert low <= peak <= high
    running = int(((known.start < high) & (known.end > low)).sum())
    at_peak = int(((known.start <= peak) & (known.end > peak)).sum())
    assert running <= max(most, at_peak)
    if most == 1000:
        assert (low, high) == (known.start.min(), known.end.max())


@pytest.mark.parametrize(
    ("waits", "runs", "shown"),
    [((0.0, 0.0), (60.0, 60.0), False), ((0.0, 60.0), (60.0, 60.0), True)],
)
def test_the_schedule_is_shown_only_where_jobs_wait(tmp_path, waits, runs, shown):
    """The first variant may have no queue: the window is that of another one."""
    at_once = outcome([0.0, 0.0], [0.0, 0.0], runs)
    page = page_of(results(("a", [at_once]), ("b", [outcome([0.0, 0.0], waits, runs)])), tmp_path)
    assert ("schedule" in page.ids()) == shown
    assert "Jobs of all sites" not in page.text()


@pytest.mark.parametrize(("sites", "several"), [(["a", "b"], True), (["a", "a"], False)])
def test_the_schedule_of_several_sites_is_described_as_one_panel(tmp_path, sites, several):
    made = outcome([0.0, 0.0], [0.0, 60.0], [60.0, 60.0])
    made = replace(made, jobs=made.jobs.with_columns(site=pl.Series(sites)))
    assert (
        "Jobs of all sites are in one panel." in page_of(results(("a", [made])), tmp_path).text()
    ) == several


def test_the_schedule_is_left_out_where_more_jobs_run_at_once_than_a_panel_has(tmp_path):
    count = MOST_JOBS + 1
    made = outcome([0.0] * (count + 1), [0.0] * count + [60.0], [60.0] * (count + 1))
    page = page_of(results(("a", [replace(made, processors=count)])), tmp_path)
    assert "schedule" not in page.ids()
    assert f"Not shown: more than {MOST_JOBS} jobs run at once at the longest queue." in page.text()
    # Where no job waits, there is no sentence either.
    made = outcome([0.0] * (count + 1), [0.0] * (count + 1), [60.0] * (count + 1))
    assert "Not shown" not in page_of(results(("a", [replace(made, processors=count)])), tmp_path).text()


def test_steps_of_all_hours_are_equally_wide(tmp_path):
    made = random_outcome(300, 1, 50_000.0)
    made = replace(made, jobs=made.jobs.with_columns(submit_s=made.jobs["submit_s"].sort() * 20))
    made = replace(made, jobs=made.jobs.with_columns(start_s="submit_s", end_s=made.jobs["submit_s"] + 600.0))
    page = page_of(results(("easy", [replace(made, calendar=PARIS)])), tmp_path)
    for key, count in (("hour-utilisation", 24), ("weekday-utilisation", 7)):
        (trace,) = json.loads(page.scripts["plots"])[key]["data"]
        edges = np.array(trace["x"])
        edges = np.concatenate((edges[:1], (edges[1:-2] + edges[2:-1]) / 2, edges[-1:]))
        np.testing.assert_allclose(np.diff(edges), np.ones(count))
        values = np.frombuffer(b64decode(trace["y"]["bdata"]), trace["y"]["dtype"])
        np.testing.assert_array_equal(values[[0, -1]], values[[1, -2]])
        assert (len(values), trace["text"][0], trace["text"][-1]) == (
            count + 2,
            *trace["text"][1:-1][:: count - 1],
        )


def test_jobs_without_processors_have_submissions_by_hour_and_weekday(tmp_path):
    made = random_outcome(300, 1, 50_000.0)
    table = made.jobs.with_columns(submit_s=made.jobs["submit_s"].sort() * 20).drop("procs")
    table = table.with_columns(start_s="submit_s", end_s=table["submit_s"] + 600.0)
    page = page_of(results(("a", [replace(made, jobs=table, calendar=PARIS)])), tmp_path)
    assert {"hour-arrivals", "hour-wait", "weekday-arrivals"} <= page.ids()
    assert not {"hour-utilisation", "weekday-utilisation"} & page.ids()
    clock = [datetime.fromtimestamp(PARIS.origin + at, ZoneInfo("Europe/Paris")) for at in table["submit_s"]]
    for key, group, count in (("hour-arrivals", "hour", 24), ("weekday-arrivals", "weekday", 7)):
        (trace,) = json.loads(page.scripts["plots"])[key]["data"]
        values = np.frombuffer(b64decode(trace["y"]["bdata"]), trace["y"]["dtype"])[1:-1]
        of = [at.hour if group == "hour" else at.weekday() for at in clock]
        np.testing.assert_allclose(values, 100 * np.bincount(of, minlength=count) / len(of), atol=1e-4)


@pytest.mark.parametrize("span", [4 * HOUR, 1.5 * DAY, 6 * DAY, 20 * DAY, 90 * DAY, 800 * DAY, 9000 * DAY])
@pytest.mark.parametrize("calendar", [PARIS, Calendar(1_700_000_123.0, "UTC-03:30"), Calendar(3e8)])
def test_dates_on_an_axis_are_round_and_few(calendar, span):
    first = 12_345.0
    ticks = date_ticks(calendar, first, span, 1 / HOUR)
    assert 2 <= len(ticks.at) == len(ticks.text) <= 9
    at = first + np.array(ticks.at) * HOUR
    assert first <= at[0]
    assert at[-1] <= first + span + 1
    clock = [datetime.fromtimestamp(each, UTC) for each in np.round(calendar.local(at))]
    for each, words in zip(clock, ticks.text, strict=True):
        assert (each.minute, each.second) == (0, 0)
        hour = f"{each:%H:%M}"
        assert words in (f"{each.day} {each:%b}", f"{each:%b %Y}", hour, f"{hour}<br>{each.day} {each:%b}")
        assert each.hour == 0 or hour in words


def test_time_axes_have_dates_where_the_log_has_a_calendar(tmp_path):
    made = random_outcome(300, 1, 50_000.0)
    for calendar, title in ((PARIS, "date, Europe/Paris"), (None, "time since the first submit")):
        page = page_of(results(("easy", [replace(made, calendar=calendar)])), tmp_path)
        axis = json.loads(page.scripts["plots"])["utilisation"]["layout"]["xaxis"]
        assert axis["title"]["text"] == title
        assert ("ticktext" in axis) == (calendar is not None)
