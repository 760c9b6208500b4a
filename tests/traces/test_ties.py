"""Simultaneous items keep their given order, also in long tables."""

import numpy as np
import polars as pl
import pytest

from windlass.io.traces import Trace, to_workload
from windlass.io.traces.demands import read_demands
from windlass.io.traces.openb import read_openb_pods
from windlass.io.traces.philly import read_philly
from windlass.model.timetable import NodeTimetable, WorkerTimetable
from windlass.results.verdict.measures import jobs_of, measure_of

COUNT = 400


@pytest.fixture
def times():
    return np.random.default_rng(1).integers(0, 4, COUNT)


def in_order(times):
    return sorted(range(COUNT), key=lambda row: times[row])


def test_simultaneous_jobs_of_a_log_keep_their_order(times):
    columns = {"submit": times, "run": 1.0, "procs_allocated": 1, "procs_requested": 1, "request": 1.0}
    table = pl.DataFrame({"job": range(COUNT), "submit": times}).with_columns(
        **{name: pl.lit(value) for name, value in columns.items() if name != "submit"}
    )
    assert to_workload(Trace("log", table, 4)).jobs.job.tolist() == in_order(times)


def test_simultaneous_rows_of_tables_keep_their_order(tmp_path, times):
    path = tmp_path / "table.csv"
    path.write_text("submit,run,cores\n" + "".join(f"{at},1,1\n" for at in times))
    assert (read_demands(path).jobs.job - 1).tolist() == in_order(times)
    head = "cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\n"
    path.write_text(head + "".join(f"{row + 1}000,1,1,1,LS,{at},9,9\n" for row, at in enumerate(times)))
    assert (read_demands(path).jobs.job - 1).tolist() == in_order(times)
    assert (read_openb_pods(path).resources[:, 1] - 1).tolist() == in_order(times)
    rows = "".join(f"a,{at},{row + 1},1\n" for row, at in enumerate(times))
    path.write_text("vc,arrival_s,gpus,duration_s\n" + rows)
    assert (read_philly(path).gpus - 1).tolist() == in_order(times)


def test_simultaneous_changes_of_workers_and_nodes_keep_their_order(times):
    steps = WorkerTimetable.speeds(times, np.zeros(COUNT), np.arange(COUNT))
    assert steps.value.tolist() == in_order(times)
    none, rows = np.zeros(COUNT, np.int64), np.arange(COUNT)
    half = COUNT // 2
    first, second = np.sort(times[:half]), np.sort(times[half:])
    one = NodeTimetable(first * 1.0, none[:half], rows[:half], none[:half] > 0)
    other = NodeTimetable(second * 1.0, none[:half], rows[half:], none[:half] > 0)
    both = np.concatenate((first, second))
    assert (one + other).cores.tolist() == sorted(range(COUNT), key=lambda row: both[row])


def test_simultaneous_measured_jobs_keep_their_order(times):
    table = pl.DataFrame({"submit_s": times, "start_s": times + np.arange(COUNT), "end_s": times + 500.0})
    found = jobs_of(table, measure_of("mean_wait_s"), 8)
    assert found.value.tolist() == in_order(times)
