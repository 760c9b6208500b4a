"""MapReduce and grid logs as jobs over sites, against values computed by hand."""

import math

import numpy as np
import polars as pl
import pytest

from windlass.experiment.workloads.grid import fixed_grid
from windlass.experiment.workloads.seconds import draw_seconds
from windlass.experiment.workloads.swim import FixedModel, SwimModel, fixed_swim, staged_swim
from windlass.io.traces import SwfLog, Trace
from windlass.io.traces.swim import SwimLog
from windlass.model import InputError
from windlass.model.fleet import Fleet


def rng(seed=1):
    return np.random.default_rng(seed)


HADOOP = pl.DataFrame(
    {
        "submit": [5600.0, 2000.0, 2010.0, 2010.0, 5599.0],
        "map_input": [1.0, 250.0, 0.0, 40.0, 1000.0],
        "shuffle": [0.0, 90.0, 7.0, 0.0, 50.0],
    }
)


def test_a_mapreduce_log_becomes_stages():
    model = SwimModel(block_bytes=100.0, reduce_bytes=40.0, bytes_per_s=10.0, least_task_s=2.5, scale=2.0)
    jobs = staged_swim(HADOOP, model, Fleet.of([1, 1, 1]), rng())
    # Jobs of the first hour in order of submission, without the job that reads nothing.
    assert jobs.submit.tolist() == [2000.0, 2010.0, 5599.0]
    assert jobs.notes == ("1 job of the log reads nothing and is left out",)
    assert jobs.tasks.tolist() == [5, 5, 1, 20, 3]
    assert jobs.job.tolist() == [0, 0, 1, 2, 2]
    assert jobs.task_bytes.tolist() == [100.0, 0.0, 80.0, 100.0, 0.0]
    assert jobs.ratio.tolist() == pytest.approx([0.36, 1.0, 0.0, 0.05, 1.0])
    assert jobs.task_s.tolist() == pytest.approx([10.0, 3.6, 8.0, 10.0, 100 / 3 / 10])
    slow = staged_swim(HADOOP, SwimModel(least_task_s=7.0, block_bytes=100.0), Fleet.of([1]), rng())
    assert set(slow.task_s.tolist()) == {7.0}
    mib = 2.0**20
    assert SwimModel() == SwimModel(1.0, 128 * mib, 256 * mib, 20e6, 1.0, 1.0, 1.0)
    later = staged_swim(HADOOP, SwimModel(hours=2.0), Fleet.of([1]), rng())
    assert len(later) == 4
    huge = pl.DataFrame({"submit": [0.0], "map_input": [1e9], "shuffle": [1e9]})
    found = staged_swim(huge, SwimModel(block_bytes=1.0, reduce_bytes=1.0), Fleet.of([1]), rng())
    assert found.tasks.tolist() == [20_000, 20_000]


def test_input_of_a_log_is_spread_over_sites_lognormally():
    one = pl.DataFrame({"submit": np.arange(100.0), "map_input": [4e3] * 100, "shuffle": [0.0] * 100})
    jobs = staged_swim(one, SwimModel(block_bytes=1.0, skew=0.5), Fleet.of([1] * 10), rng())
    assert np.log(jobs.here(10)).std() == pytest.approx(0.5, rel=0.1)
    none = pl.DataFrame({"submit": [0.0, 1.0, 2.0], "map_input": [0.0, 0.0, 1.0], "shuffle": [0.0] * 3})
    jobs = staged_swim(none, SwimModel(), Fleet.of([1]), rng())
    assert jobs.notes == ("2 jobs of the log read nothing and are left out",)
    assert staged_swim(none.tail(1), SwimModel(), Fleet.of([1]), rng()).notes == ()


@pytest.mark.parametrize("accuracy", [1.0, 0.5])
def test_a_mapreduce_log_becomes_tasks_fixed_to_sites(accuracy):
    log = SwimLog("log", HADOOP, ("read at night",))
    model = FixedModel(utilisation=0.5, skew="one-site", longest_s=9.0, accuracy=accuracy, block_bytes=100.0)
    case = fixed_swim(log, model, Fleet.of([2, 3]), rng())
    jobs = case.jobs
    assert jobs.job_tasks.tolist() == [3, 1, 1, 10, 1]
    assert len(jobs.site) == 5
    wanted = jobs.duration.sum() / (5 * 0.5)
    assert jobs.submit == pytest.approx(np.array([0.0, 10.0, 10.0, 3599.0, 3600.0]) * wanted / 3600.0)
    assert jobs.duration.max() <= 9.0
    _, for_seconds, _, for_errors = rng().spawn(4)
    assert sorted(jobs.duration) == pytest.approx(sorted(draw_seconds(16, for_seconds, longest=9.0)))
    factor = for_errors.uniform(accuracy, 2 - accuracy, 5)
    assert jobs.error == pytest.approx(factor)
    assert jobs.notes[0] == "read at night"
    speed = f"{3600 / wanted:.3g}"
    assert jobs.notes[1] == (
        f"5 jobs of 16 tasks of {100 / 2**20:g} MiB; the log's clock runs at {speed} times its speed"
    )
    assert FixedModel() == FixedModel(0.78, 2.0, 20.0, 1.0, 128 * 2.0**20, 120.0)
    once = fixed_swim(SwimLog("log", HADOOP.head(1)), model, Fleet.of([2, 3]), rng())
    assert once.jobs.submit.tolist() == [0.0]


def grid_log(rows):
    names = ("job", "submit", "run", "procs_requested", "user", "partition", "queue")
    table = pl.DataFrame(rows, dict.fromkeys(names, pl.Int64), orient="row").with_columns(
        pl.col("submit", "run").cast(pl.Float64),
        procs_allocated=pl.lit(None, pl.Int64),
        request=pl.lit(None, pl.Float64),
    )
    return SwfLog.of(Trace("grid", table, 16))


def test_a_grid_log_becomes_bags_of_tasks(tmp_path):
    rows = [
        (1, 0, 10, 2, 7, 1, 9),
        (2, 50, 20, 1, 7, 2, 9),
        (3, 60, 5, 3, 8, None, 2),
        (4, 110, 30, 1, 7, 1, 9),  # 60 s after this user's previous job: the same bag
        (5, 171, 40, 1, 7, 1, 9),  # 61 s: a new bag
        (6, 180, 8, 1, 8, None, None),
        (7, 200, 6, 4, 9, 3, 9),
        (8, 200, 4, 1, 9, 3, 9),
    ]
    model = FixedModel(utilisation=0.5, bag_gap_s=60.0)
    case = fixed_grid(grid_log(rows), tmp_path / "grid.swf", model, None, rng())
    jobs = case.jobs
    # The bag of user 8, the first and second bag of user 7, and the bag of user 9; sites are named 1, 2 and 3.
    assert jobs.submit.tolist() == [60.0, 110.0, 171.0, 200.0]
    assert jobs.part0.tolist() == [0, 1, 3, 4, 5]
    assert jobs.site.tolist() == [1, 0, 1, 0, 2]
    assert np.diff(jobs.task0).tolist() == [3, 3, 1, 1, 5]
    assert jobs.duration.tolist() == [5.0] * 3 + [30.0, 10.0, 10.0] + [20.0] + [40.0] + [6.0] * 4 + [4.0]
    span = 140.0
    work = {0: 2 * 10 + 30 + 40, 1: 20 + 3 * 5, 2: 4 * 6 + 4}
    assert case.fleet.slots.tolist() == [max(1, math.ceil(work[at] / (span * 0.5))) for at in range(3)]
    assert "1 jobs name no site and are left out" in jobs.notes
    assert jobs.notes[-1] == "7 log entries make 4 jobs over 3 sites of 1 to 2 slots"
    some = fixed_grid(grid_log(rows), tmp_path / "grid.swf", model, "partition = 3", rng())
    # All jobs are submitted at once, so the span counts as one second.
    assert (len(some.jobs), some.fleet.slots.tolist()) == (1, [56])
    rough = fixed_grid(grid_log(rows), tmp_path / "a", FixedModel(accuracy=0.5), None, rng())
    assert ((rough.jobs.error >= 0.5) & (rough.jobs.error <= 1.5)).all()
    assert len(set(rough.jobs.error.tolist())) == len(rough.jobs)
    with pytest.raises(InputError, match="a job number appears twice"):
        fixed_grid(grid_log([rows[0], rows[0]]), tmp_path / "a", model, None, rng())
    with pytest.raises(InputError, match="no job has a partition or queue"):
        fixed_grid(grid_log([rows[5]]), tmp_path / "a", model, None, rng())
