"""Small files of jobs in which every column, unit and default shows, and what a workload keeps of them."""

import gzip

import numpy as np
import polars as pl
import pytest

from windlass.io.traces import SwfLog, Trace, read_csv, to_workload
from windlass.io.traces.columns import TraceColumn, quote, refuse_or_note
from windlass.io.traces.files import read_head, read_text, stem
from windlass.io.traces.resources import ResourceRequest, gpus_of, memory_of, most_at_once, resource_columns
from windlass.io.traces.series import amounts_held, on_grid, read_series
from windlass.io.traces.trace import BadLine
from windlass.model import InputError, JobTable

GIB = 2.0**30


def written(folder, text, name="file.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def assert_rejected(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def log(**columns):
    rows = {
        **{"job": [1, 2, 3], "submit": [0.0, 5.0, 9.0], "run": [10.0, 20.0, 30.0]},
        **{"procs_allocated": [4, 4, 4], "procs_requested": [2, 3, 4], "request": [50.0] * 3},
    }
    return pl.DataFrame({**rows, **columns})


def test_a_workload_has_the_processors_of_its_log():
    known, peak = Trace("log", log(), 16), Trace("log", log(), 16, peak=True)
    assert (to_workload(known).processors, to_workload(known).logged_processors) == (16, 16)
    assert (to_workload(known, 8).processors, to_workload(known, 8).logged_processors) == (8, 16)
    assert (to_workload(peak, 8).processors, to_workload(peak, 8).logged_processors) == (8, 8)
    assert to_workload(peak).logged_processors == 16
    nothing = Trace("log", log())
    assert (to_workload(nothing).processors, to_workload(nothing).logged_processors) == (4, None)
    assert to_workload(nothing, 4).logged_processors == 4
    assert_rejected(lambda: to_workload(known, 0), "processors is 0, expected at least 1")
    assert to_workload(Trace("log", log(procs_requested=[1, 1, 1])), 1).processors == 1


def test_a_workload_keeps_waits_owners_and_resources_of_its_jobs():
    table = log(
        wait=[1.0, -1.0, float("inf")],
        user=[7, 8, 9],
        queue=["a", "b", "a"],
        gpus=["1", "x", "3"],
        memory=[1e9, -1.0, 3e9],
    )
    found = to_workload(Trace("log", table, 16))
    np.testing.assert_equal(found.wait, [1.0, np.nan, np.nan])
    assert found.users.tolist() == [7, 8, 9]
    assert found.of.queues == ("a", "b")
    np.testing.assert_equal(found.gpus.amount, [1.0, np.nan, 3.0])
    np.testing.assert_equal(found.memory.amount, [1e9, np.nan, 3e9])
    assert (found.gpus.jobs, found.gpus.most) == (2, 3.0)
    part = found.take(np.array([0, 2]))
    np.testing.assert_equal(part.wait, [1.0, np.nan])
    assert (part.gpus.amount.tolist(), part.memory.amount.tolist()) == ([1.0, 3.0], [1e9, 3e9])
    assert (part.users.tolist(), part.of.queue.number.tolist()) == ([7, 9], [0, 0])
    plain = to_workload(Trace("log", log(), 16))
    assert (plain.wait, plain.gpus, plain.memory, plain.users, plain.of.queues) == (
        None,
        None,
        None,
        None,
        (),
    )
    owners = found.of.owners(3)
    assert (owners.user.tolist(), owners.queue.tolist(), owners.group.tolist()) == (
        [0, 1, 2],
        [0, 1, 0],
        [-1] * 3,
    )
    only = to_workload(Trace("log", log(partition=["p", "q", None]), 16))
    assert (only.of.queues, only.of.owners(3).queue.tolist()) == (("p", "q"), [0, 1, -1])


def test_jobs_wider_than_the_smallest_site_are_dropped():
    table = log(procs_requested=[2, 3, 9])
    found = to_workload(Trace("log", table, 16), widest=2)
    assert found.jobs.procs.tolist() == [2]
    lost = 100 * (3 * 20 + 9 * 30) / (2 * 10 + 3 * 20 + 9 * 30)
    assert found.notes == (
        "2 jobs request more than 2 processors, the size of the smallest compared site, and are left out, "
        "the first: job 2 (3)",
        f"so all sites run the same 1 jobs, without {lost:.2g} % of the work",
    )
    assert to_workload(Trace("log", table, 16), widest=9).notes == ()
    assert to_workload(Trace("log", table, 8), widest=16).jobs.procs.tolist() == [2, 3]
    idle = to_workload(Trace("log", log(run=[0.0] * 3), 16), widest=3)
    assert idle.notes[1] == "so all sites run the same 2 jobs"


@pytest.mark.parametrize("seed", range(10))
def test_the_peak_equals_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    start, run, amount = (rng.integers(low, 9, 12).astype(float) for low in (0, 1, 0))
    at_once = [
        sum(n for s, r, n in zip(start, run, amount, strict=True) if s <= at < s + r) for at in range(20)
    ]
    assert most_at_once(start, run, amount) == max(at_once)
    assert most_at_once(start[:0], run[:0], amount[:0]) == 0.0


def test_gpu_and_memory_requests_are_read():
    jobs = pl.DataFrame({"submit": [0.0, 5.0, 6.0], "run": [9.0, 9.0, 9.0], "procs": [2, 1, 1]})
    gpus = jobs.with_columns(gpus=pl.Series([2.0, 4.0, None]), wait=pl.Series([0.0, 9.0, 0.0]))
    assert gpus_of(gpus).most == 4.0
    assert gpus_of(gpus.with_columns(wait=pl.Series([0.0, 3.0, 0.0]))).most == 6.0
    assert gpus_of(gpus.with_columns(wait=pl.Series([0.0, None, 0.0]))).most == 4.0
    assert np.isnan(gpus_of(gpus.with_columns(wait=pl.lit(None, pl.Float64))).most)
    assert gpus_of(gpus.with_columns(gpus=pl.Series([0.0, 0.0, None]))) is None
    assert memory_of(jobs) is None
    kib = jobs.with_columns(memory_requested=pl.Series([3.0, 1.0, None]))
    np.testing.assert_equal(memory_of(kib).amount, [3 * 1024.0 * 2, 1024.0, np.nan])
    both = kib.with_columns(memory=pl.Series([7.0, 8.0, 9.0]))
    assert memory_of(both).amount.tolist() == [7.0, 8.0, 9.0]
    assert ResourceRequest(np.array([0.0, 1.0]), 5.0).take(np.array([1])).amount.tolist() == [1.0]
    kept = resource_columns(
        pl.DataFrame({"gpus": ["-1", "0"], "memory": [float("inf"), 0.0], "nodes": [1, 1]})
    )
    assert [each.to_list() for each in kept] == [[None, 0.0], [None, 0.0]]
    assert resource_columns(pl.DataFrame({"gpus": [[1]]})) == []


def test_dates_and_durations_of_tables_become_seconds(tmp_path):
    text = "submit,run,request,procs\n2024-05-01T00:01:00Z,01:00:00,PT2H,1\n2024-05-01T00:00:00Z,60,,2\n"
    found = read_csv(written(tmp_path, text))
    assert found.records.select("submit", "run", "request").rows() == [
        (60.0, 3600.0, 7200.0),
        (0.0, 60.0, None),
    ]
    assert found.notes == ("times count from 2024-05-01T00:00:00Z, the first submission",)


def test_table_columns_are_found_by_their_names(tmp_path):
    head = "id,arrival_time,run_time,nodes,procs_allocated,time_limit"
    found = read_csv(written(tmp_path, f"{head}\n4,1,2,3,5,6\n"))
    assert found.records.rows() == [(4, 1.0, 2.0, 5, 3, 6.0)]
    every = {
        "submit": ("submit", "submit_s", "submit_time", "arrival", "arrival_s", "arrival_time"),
        "run": ("run", "run_s", "runtime", "run_time", "duration", "duration_s"),
        "procs_requested": ("procs_requested", "procs", "processors", "cpus", "cores", "gpus", "nodes"),
        "request": ("request", "request_s", "walltime", "walltime_s", "time_limit"),
        "job": ("job", "job_id", "jobid", "id"),
    }
    usual = {"submit": 1, "run": 2, "procs": 3, "request": 4, "job": 5}
    for role, names in every.items():
        for first, second in zip(names, (*names[1:], "other"), strict=True):
            rest = {key: value for key, value in usual.items() if key not in (role, role.partition("_")[0])}
            # Of two names that mean the same, the one listed first counts, wherever it stands.
            cells = {second: 8, **rest, first: 7}
            text = ",".join(cells) + "\n" + ",".join(map(str, cells.values())) + "\n"
            assert read_csv(written(tmp_path, text)).records[role].to_list() == [7], (role, first)
    only = read_csv(written(tmp_path, "submit,run,procs_allocated\n1,2,3\n"))
    assert to_workload(only).jobs.procs.tolist() == [3]


def test_notes_and_errors_of_bad_lines():
    bad = [BadLine(number, "why") for number in range(3, 15)]
    assert refuse_or_note("f", bad[:1], True, "row") == ("1 bad row is left out: row 3",)
    assert refuse_or_note("f", bad[:10], True) == (
        "10 bad lines are left out: lines 3, 4, 5, 6, 7, 8, 9, 10, 11, 12",
    )
    assert refuse_or_note("f", bad, True)[0].endswith("11, 12, …")
    assert refuse_or_note("f", [], False) == ()
    assert_rejected(lambda: refuse_or_note("f", bad, False), "f, line 3: why")
    assert quote("a" * 40) == repr("a" * 40)
    assert quote("a" * 41) == repr("a" * 39 + "…")
    assert (
        TraceColumn("a", whole=True, missing=-1).expected == "a whole number of 0 or more, or -1 for missing"
    )
    assert TraceColumn("a").expected == "a number of 0 or more"


def test_text_files_are_decoded_and_limited(tmp_path, monkeypatch):
    assert read_text(written(tmp_path, b"\xef\xbb\xbfa\r\n")) == "a\r\n"
    assert read_text(written(tmp_path, b"\xe9")) == "é"
    packed = written(tmp_path, gzip.compress(b"abc"), "A.GZ")
    assert read_text(packed) == "abc"
    assert (stem(packed), stem(written(tmp_path, "x", "b.c.csv"))) == ("A", "b.c")
    assert read_head(packed, 2) == "ab"
    assert read_head(written(tmp_path, b"a\x00b"), 9) == ""
    assert read_head(written(tmp_path, b"abc", "x.gz"), 9) == "abc"
    assert read_head(written(tmp_path, b"\x1f\x8babc", "x.gz"), 9) == ""
    monkeypatch.setenv("WINDLASS_MAX_TEXT", "4")
    assert read_text(written(tmp_path, "abcd")) == "abcd"
    assert_rejected(lambda: read_text(written(tmp_path, "abcde")), "over 5 bytes of text, expected at most 4")


def test_other_logs_are_converted_to_swf():
    trace = Trace("two", log(user=[1, 2, 3], other=["a", "b", "c"]), 8, ("n",), (BadLine(1, "x"),))
    found = SwfLog.of(trace)
    assert found.header.lines == (" Version: 2.2", " MaxProcs: 8")
    assert (found.notes, found.bad_lines, found.processors) == (("n",), (BadLine(1, "x"),), 8)
    assert found.records["user"].to_list() == [1, 2, 3]
    assert found.records["status"].to_list() == [None] * 3
    assert "other" not in found.records.columns
    assert SwfLog.of(Trace.of_jobs(JobTable.of([0], [1], [1]), "x")).header.lines == (" Version: 2.2",)


def test_series_are_averaged_on_a_grid(tmp_path):
    found = on_grid("x", [100.0, 104.0, 110.0, 135.0], [[1.0], [np.nan], [4.0], [2.0]], 10.0, ("a",))
    np.testing.assert_equal(found.rows.ravel(), [1.0, 4.0, np.nan, 2.0])
    assert (found.begin, found.period, found.columns, found.name) == (100.0, 10.0, ("a",), "x")
    assert found.notes == ("4 rows are averaged in 3 periods", "1 of 4 periods has no row")
    gaps = on_grid("x", [0.0, 30.0], [[1.0], [2.0]], 10.0, ("a",))
    assert gaps.notes == ("2 of 4 periods have no row",)
    # A time that is as good as the next period belongs to it.
    assert len(on_grid("x", [0.0, 10.0 - 1e-9], [[1.0], [2.0]], 10.0, ("a",)).rows) == 2
    assert_rejected(
        lambda: on_grid("x", [0.0, 1e7], [[1.0], [2.0]], 1.0, ("a",)), "x: 10,000,001 periods of 1 s"
    )
    assert amounts_held([0.0, 10.0, 20.0], [10.0, np.inf, 25.0], [1.0, 2.0, 4.0], 10.0).tolist() == [2.0, 6.0]
    for text, begin in (
        ("2020-04-01 00:00:00.5", 1_585_699_200.5),
        ("2020-04-01T01:00:00", 1_585_702_800.0),
        ("2020-04-01 00:02", 1_585_699_320.0),
        ("2020/04/01 00:00:03", 1_585_699_203.0),
        ("2020-04-02", 1_585_785_600.0),
        ("77.5", 77.5),
    ):
        assert read_series(written(tmp_path, f"a,Time \n5,{text}\n"), 60.0).begin == begin
    # By preference, whichever stands first.
    assert read_series(written(tmp_path, "ds,time,a\n5,9,1\n"), 60.0).begin == 9.0
    nan = read_series(written(tmp_path, "t,a\n0,NaN\n60,0\n"), 60.0)
    np.testing.assert_equal(nan.rows.ravel(), [np.nan, 0.0])
    for period in (0.0, np.inf):
        assert_rejected(
            lambda period=period: read_series(written(tmp_path, "t,a\n0,1\n"), period), "period is"
        )
    assert_rejected(
        lambda: read_series(written(tmp_path, "x,a\nb,c\n"), 1.0), "no column of times among x, a"
    )
    assert_rejected(
        lambda: read_series(written(tmp_path, "t,a\n,1\n"), 1.0),
        "line 2: t is '', expected a time as a date or in seconds",
    )


@pytest.mark.parametrize("column", ["procs_allocated", "procs_requested"])
def test_numbers_of_processors_are_whole(tmp_path, column):
    cells = {
        "job": "7",
        "submit": "0",
        "run": "1",
        "procs_allocated": "2",
        "procs_requested": "3",
        column: "1.5",
    }
    path = written(tmp_path, ",".join(cells) + "\n" + ",".join(cells.values()) + "\n")
    assert_rejected(
        lambda: read_csv(path), f"line 2: {column} is '1.5', expected a whole number of 0 or more"
    )
