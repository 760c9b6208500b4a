"""What jobs ask for beside processors is kept, and a run says what it leaves out, and which resource binds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.experiment.worlds.batch.resources import resource_notes
from windlass.experiment.worlds.batch.spec import BatchSetting
from windlass.io.traces import Trace, Workload, read_trace, to_workload
from windlass.io.traces.resources import ResourceRequest, most_at_once
from windlass.model import JobTable

GIB = 2.0**30
SACCT = """\
JobID|Submit|Start|End|Timelimit|AllocCPUS|AllocTRES|State
1|2024-05-01T12:00:00|2024-05-01T12:00:00|2024-05-01T12:10:00|00:20:00|4|cpu=4,gres/gpu=2,mem=8G|COMPLETED
2|2024-05-01T12:01:00|2024-05-01T12:05:00|2024-05-01T12:15:00|00:10:00|8|cpu=8,mem=4G|COMPLETED
3|2024-05-01T12:20:00|2024-05-01T12:20:00|2024-05-01T12:22:00|00:05:00|2|cpu=2,gres/gpu=3,mem=1G|COMPLETED
"""


def records(**columns: list[object]) -> Trace:
    rows = max(len(column) for column in columns.values())
    usual = {
        "job": list(range(1, rows + 1)),
        "submit": [10.0 * row for row in range(rows)],
        "run": [60.0] * rows,
        "procs_allocated": [2] * rows,
        "procs_requested": [4] * rows,
        "request": [90.0] * rows,
    }
    return Trace("log", pl.DataFrame(usual | columns, strict=False), 8)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "sacct.txt").write_text(SACCT)
    return tmp_path / "sacct.txt"


def test_a_log_of_slurm_keeps_gpus_and_memory(log):
    found = to_workload(read_trace(log))
    assert found.gpus.amount.tolist()[::2] == [2, 3]
    assert np.isnan(found.gpus.amount[1])
    assert (found.gpus.jobs, found.gpus.most) == (2, 3)
    assert (found.memory.amount / GIB).tolist() == [8, 4, 1]
    # Both of the first two ran from 12:05 to 12:10.
    assert found.memory.most == 12 * GIB


def test_a_log_without_them_knows_none():
    for table in (records(submit=[0.0]), records(gpus=[0, 0]), records(gpus=[None], memory=["4G"])):
        found = to_workload(table)
        assert (found.gpus, found.memory) == (None, None)


@pytest.mark.parametrize("amount", [-1.0, float("nan"), float("inf"), None])
def test_what_is_no_amount_is_not_known(amount):
    found = to_workload(records(gpus=[2.0, amount], memory=[amount, 5.0]))
    assert np.isnan([found.gpus.amount[1], found.memory.amount[0]]).all()
    assert (found.gpus.jobs, found.memory.jobs) == (1, 1)


def test_memory_of_swf_is_kib_for_each_processor():
    found = to_workload(records(memory_requested=[None, 512.0], procs_requested=[4, 3]))
    assert found.memory.amount[1] == 512 * 1024 * 3
    # Bytes of a job go before them.
    assert to_workload(records(memory_requested=[1.0], memory=[77.0])).memory.amount.tolist() == [77]


def test_rows_are_those_of_the_jobs_that_are_left():
    table = records(submit=[5.0, 0.0, 3.0], procs_requested=[1, 2, 99], gpus=[7, 8, 9], wait=[0.0, 0.0, 0.0])
    found = to_workload(table)
    assert found.gpus.amount.tolist() == [8, 7]
    assert found.gpus.most == 15
    part = found.take(np.array([False, True]))
    assert (part.gpus.amount.tolist(), part.gpus.most) == ([7], 15)


@pytest.mark.parametrize("wait", [None, float("nan"), -5.0])
def test_without_starts_nobody_knows_what_was_held_at_once(wait):
    assert np.isnan(to_workload(records(gpus=[2, 3], wait=[wait, wait])).gpus.most)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_most_at_once_is_that_of_some_start(jobs):
    start, run, amount = (np.array(column, float) for column in zip(*jobs, strict=True))
    held = [amount[(start <= at) & (at < start + run)].sum() for at in start]
    assert most_at_once(start, run, amount) == max(held)


def workload(gpus: object = None, memory: object = None, most: float = np.nan) -> Workload:
    jobs = JobTable.of(submit=[0, 10, 20, 100], run=[50, 50, 10, 10], procs=[1, 2, 3, 4])
    asked = [
        None if each is None else ResourceRequest(np.array(each, float), most) for each in (gpus, memory)
    ]
    return Workload(jobs, 10, gpus=asked[0], memory=asked[1])


def test_processors_alone_need_no_word():
    assert resource_notes(workload()) == ()


def test_processors_that_are_gpus_are_waited_for():
    assert resource_notes(workload(gpus=[1, 2, 3, 4])) == ()
    assert resource_notes(workload(gpus=[1, 2, 3, 3]))
    assert len(resource_notes(workload(gpus=[1, 2, 3, 4]), gpus=4)) == 2


def test_how_many_ask_and_which_binds():
    asked = workload([0, 4, np.nan, 0], [GIB] * 4)
    # 50 s × 4 of 1 × 100 s; 120 GiB s of 200; 220 processor-seconds of 1,000.
    binds = (
        "GPUs bind, not processors, by offered load: 2 of 1 GPUs, 0.6 of 2 GiB of memory, 0.22 of 10"
        " processors"
    )
    assert resource_notes(asked, gpus=1, memory=2 * GIB, waits=False) == (
        "GPUs and memory are not modelled, and no job waits for them: 25 % of the jobs request GPUs, 100 % of the"
        " jobs request memory",
        binds,
    )
    assert resource_notes(asked, gpus=1, memory=2 * GIB) == (
        "jobs wait for GPUs as for processors: 25 % of the jobs request some of 1 GPUs",
        "jobs wait for memory as for processors: 100 % of the jobs request some of 2 GiB of memory",
        binds,
    )
    assert resource_notes(asked, gpus=1)[:2] == (
        "jobs wait for GPUs as for processors: 25 % of the jobs request some of 1 GPUs",
        "memory is not modelled, and no job waits for it: 100 % of the jobs request some; cluster.memory would set"
        " the amount",
    )


def test_what_no_job_asks_for_is_said_to_have_no_effect():
    assert resource_notes(workload(), gpus=4, memory=GIB) == (
        "cluster.gpus is given, but the jobs request no GPUs: it has no effect",
        "cluster.memory is given, but the jobs request no memory: it has no effect",
    )


def test_processors_may_bind_and_be_as_short_as_others():
    assert resource_notes(workload(memory=[GIB] * 4), memory=64 * GIB)[1].startswith(
        "processors bind by offered load"
    )
    # Twice as many GPUs as processors, of twice as many: who are level stand behind processors.
    assert resource_notes(workload([2, 4, 6, 8]), gpus=20)[1] == (
        "processors bind by offered load: 0.22 of 10 processors, 0.22 of 20 GPUs"
    )


def test_what_there_is_may_be_taken_from_the_log_or_not_be_known():
    known = resource_notes(workload(gpus=[0, 4, 0, 0], most=5.0))
    assert known[1].endswith("0.4 of 5 GPUs (the most at once), 0.22 of 10 processors")
    unknown = resource_notes(workload(memory=[GIB] * 4))
    assert unknown == (
        "memory is not modelled, and no job waits for it: 100 % of the jobs request some; cluster.memory would set"
        " the amount",
    )


def test_jobs_of_one_instant_make_no_load():
    jobs = JobTable.of(submit=[0, 0], run=[5, 5], procs=[1, 1])
    assert len(resource_notes(Workload(jobs, 4, gpus=ResourceRequest(np.array([1.0, 2.0]), 3.0)))) == 1


def test_a_run_says_so(log):
    tree = {"workload": {"trace": str(log)}, "policies": {"order": ["fcfs", "easy"]}}
    said = [note for note in run(make_scenario(tree)).notes() if "GPUs" in note]
    assert said[0].startswith(
        "GPUs and memory are not modelled, and no job waits for them: 66.7 % of the jobs"
    )
    assert "of 12 GiB of memory (the most at once)" in said[1]
    assert len(said) == 2
    found = run(make_scenario(tree | {"cluster": {"processors": 8, "gpus": 8}}))
    said = [note for note in found.notes() if "GPUs" in note]
    assert said[0] == "jobs wait for GPUs as for processors: 66.7 % of the jobs request some of 8 GPUs"
    assert "of 8 GPUs" in said[1]
    # Job 2 waits where there are 8 processors, of which job 1 has 4.
    assert said[2:] == [
        f"under {policy}, jobs waited 100 % for processors alone, 0 % for GPUs alone, 0 % for several of them, and 0 %"
        " for their turn although their whole request was free: processors bind"
        for policy in ("fcfs", "easy")
    ]


@pytest.mark.parametrize("field", ["gpus", "memory"])
@pytest.mark.parametrize("value", [0, -1, "many"])
def test_what_the_site_has_is_a_number_above_0(field, value):
    tree = {"cluster": {field: value}, "workload": {"lublin": {}}, "policies": {"order": "easy"}}
    with pytest.raises(ValidationError, match=field):
        BatchSetting.model_validate(tree)
