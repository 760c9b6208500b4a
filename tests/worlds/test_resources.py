"""Requests for GPUs and memory are kept, and a run notes ignored requests and the binding resource."""

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


def test_a_slurm_log_keeps_gpus_and_memory(log):
    found = to_workload(read_trace(log))
    assert found.gpus.amount.tolist()[::2] == [2, 3]
    assert np.isnan(found.gpus.amount[1])
    assert (found.gpus.jobs, found.gpus.most) == (2, 3)
    assert (found.memory.amount / GIB).tolist() == [8, 4, 1]
    # Both of the first two ran from 12:05 to 12:10.
    assert found.memory.most == 12 * GIB


def test_a_log_without_gpus_or_memory_has_no_requests():
    for table in (records(submit=[0.0]), records(gpus=[0, 0]), records(gpus=[None], memory=["4G"])):
        found = to_workload(table)
        assert (found.gpus, found.memory) == (None, None)


@pytest.mark.parametrize("amount", [-1.0, float("nan"), float("inf"), None])
def test_invalid_amounts_are_unknown(amount):
    found = to_workload(records(gpus=[2.0, amount], memory=[amount, 5.0]))
    assert np.isnan([found.gpus.amount[1], found.memory.amount[0]]).all()
    assert (found.gpus.jobs, found.memory.jobs) == (1, 1)


def test_memory_of_swf_is_kib_per_processor():
    found = to_workload(records(memory_requested=[None, 512.0], procs_requested=[4, 3]))
    assert found.memory.amount[1] == 512 * 1024 * 3
    # Bytes of a job take precedence.
    assert to_workload(records(memory_requested=[1.0], memory=[77.0])).memory.amount.tolist() == [77]


def test_requests_follow_the_selected_jobs():
    table = records(submit=[5.0, 0.0, 3.0], procs_requested=[1, 2, 99], gpus=[7, 8, 9], wait=[0.0, 0.0, 0.0])
    found = to_workload(table)
    assert found.gpus.amount.tolist() == [8, 7]
    assert found.gpus.most == 15
    part = found.take(np.array([False, True]))
    assert (part.gpus.amount.tolist(), part.gpus.most) == ([7], 15)


@pytest.mark.parametrize("wait", [None, float("nan"), -5.0])
def test_without_start_times_the_peak_is_unknown(wait):
    assert np.isnan(to_workload(records(gpus=[2, 3], wait=[wait, wait])).gpus.most)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_peak_occurs_at_the_start_of_a_job(jobs):
    start, run, amount = (np.array(column, float) for column in zip(*jobs, strict=True))
    held = [amount[(start <= at) & (at < start + run)].sum() for at in start]
    assert most_at_once(start, run, amount) == max(held)


def workload(gpus: object = None, memory: object = None, most: float = np.nan) -> Workload:
    jobs = JobTable.of(submit=[0, 10, 20, 100], run=[50, 50, 10, 10], procs=[1, 2, 3, 4])
    requests = [
        None if each is None else ResourceRequest(np.array(each, float), most) for each in (gpus, memory)
    ]
    return Workload(jobs, 10, gpus=requests[0], memory=requests[1])


def test_jobs_that_request_only_processors_have_no_note():
    assert resource_notes(workload()) == ()


def test_gpus_equal_to_processors_have_no_note():
    assert resource_notes(workload(gpus=[1, 2, 3, 4])) == ()
    assert resource_notes(workload(gpus=[1, 2, 3, 3]))
    assert len(resource_notes(workload(gpus=[1, 2, 3, 4]), gpus=4)) == 2


def test_notes_give_the_share_of_requests_and_the_binding_resource():
    requests = workload([0, 4, np.nan, 0], [GIB] * 4)
    # 50 s × 4 of 1 × 100 s; 120 GiB s of 200; 220 processor-seconds of 1,000.
    binds = (
        "GPUs bind, not processors, by offered load: 2 of 1 GPUs, 0.6 of 2 GiB of memory, 0.22 of 10"
        " processors"
    )
    assert resource_notes(requests, gpus=1, memory=2 * GIB, waits=False) == (
        "GPUs and memory are not modelled, and no job waits for them: 25 % of the jobs request GPUs, 100 % of the"
        " jobs request memory",
        binds,
    )
    assert resource_notes(requests, gpus=1, memory=2 * GIB) == (
        "jobs wait for GPUs as for processors: 25 % of the jobs request some of 1 GPUs",
        "jobs wait for memory as for processors: 100 % of the jobs request some of 2 GiB of memory",
        binds,
    )
    assert resource_notes(requests, gpus=1)[:2] == (
        "jobs wait for GPUs as for processors: 25 % of the jobs request some of 1 GPUs",
        "memory is not modelled, and no job waits for it: 100 % of the jobs request some; cluster.memory would set"
        " the amount",
    )


def test_a_resource_that_no_job_requests_has_no_effect():
    assert resource_notes(workload(), gpus=4, memory=GIB) == (
        "cluster.gpus is given, but the jobs request no GPUs: it has no effect",
        "cluster.memory is given, but the jobs request no memory: it has no effect",
    )


def test_processors_bind_alone_or_in_a_tie():
    assert resource_notes(workload(memory=[GIB] * 4), memory=64 * GIB)[1].startswith(
        "processors bind by offered load"
    )
    # Twice the GPUs, of twice as many: with equal loads, processors come first.
    assert resource_notes(workload([2, 4, 6, 8]), gpus=20)[1] == (
        "processors bind by offered load: 0.22 of 10 processors, 0.22 of 20 GPUs"
    )


def test_the_capacity_is_the_recorded_peak_or_unknown():
    known = resource_notes(workload(gpus=[0, 4, 0, 0], most=5.0))
    assert known[1].endswith("0.4 of 5 GPUs (the most at once), 0.22 of 10 processors")
    unknown = resource_notes(workload(memory=[GIB] * 4))
    assert unknown == (
        "memory is not modelled, and no job waits for it: 100 % of the jobs request some; cluster.memory would set"
        " the amount",
    )


def test_jobs_of_one_instant_have_no_offered_load():
    jobs = JobTable.of(submit=[0, 0], run=[5, 5], procs=[1, 1])
    assert len(resource_notes(Workload(jobs, 4, gpus=ResourceRequest(np.array([1.0, 2.0]), 3.0)))) == 1


def test_a_run_prints_its_resource_notes(log):
    tree = {"workload": {"trace": str(log)}, "policies": {"order": ["fcfs", "easy"]}}
    notes = [note for note in run(make_scenario(tree)).notes() if "GPUs" in note]
    assert notes[0].startswith(
        "GPUs and memory are not modelled, and no job waits for them: 66.7 % of the jobs"
    )
    assert "of 12 GiB of memory (the most at once)" in notes[1]
    assert len(notes) == 2
    found = run(make_scenario(tree | {"cluster": {"processors": 8, "gpus": 8}}))
    notes = [note for note in found.notes() if "GPUs" in note]
    assert notes[0] == "jobs wait for GPUs as for processors: 66.7 % of the jobs request some of 8 GPUs"
    assert "of 8 GPUs" in notes[1]
    # Job 2 waits while job 1 holds 4 of the 8 processors.
    assert notes[2:] == [
        f"under {policy}, jobs waited 100 % for processors alone, 0 % for GPUs alone, 0 % for several of them, and 0 %"
        " for their turn although their whole request was free: processors bind"
        for policy in ("fcfs", "easy")
    ]


@pytest.mark.parametrize("field", ["gpus", "memory"])
@pytest.mark.parametrize("value", [0, -1, "many"])
def test_capacities_must_be_positive_numbers(field, value):
    tree = {"cluster": {field: value}, "workload": {"lublin": {}}, "policies": {"order": "easy"}}
    with pytest.raises(ValidationError, match=field):
        BatchSetting.model_validate(tree)
