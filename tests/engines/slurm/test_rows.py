"""Jobs and nodes in the output of Slurm's commands are parsed, or rejected."""

import math

import pytest

from tests.engines.slurm.fake_commands import NOBODY_THERE, free, job, jobs, node, nodes, over, running
from windlass.engines.slurm.job_reader import read_jobs
from windlass.engines.slurm.models import Phase
from windlass.engines.slurm.node_reader import read_nodes
from windlass.model import BatchError


def one(row):
    (found,) = read_jobs(jobs(row))
    return found


def test_a_job_is_read_with_its_units():
    row = one(job(7, memory_per_node=100, time_limit=3))
    assert (row.job, row.limit, row.procs, row.memory) == (7, 180.0, 3, 200 << 20)
    assert one(job(7, memory_per_cpu=10)).memory == 30 << 20
    assert one(job(7)).memory == 0
    assert one(job(7, time_limit=None)).limit == math.inf


def test_jobs_are_sorted_by_number():
    assert [row.job for row in read_jobs(jobs(job(9), job(7), job(8)))] == [7, 8, 9]


@pytest.mark.parametrize(
    ("state", "phase"),
    [
        ("PENDING", Phase.WAITS),
        ("REQUEUE_HOLD", Phase.WAITS),
        ("RUNNING", Phase.RUNS),
        ("SUSPENDED", Phase.RUNS),
        # Its processors are busy until its nodes have finished with it.
        ("COMPLETING", Phase.RUNS),
        ("COMPLETED", Phase.OVER),
        ("TIMEOUT", Phase.OVER),
        ("CANCELLED", Phase.OVER),
    ],
)
def test_a_state_determines_whether_processors_are_held(state, phase):
    assert one(job(7, state)).phase is phase


def test_a_cancelled_array_has_no_processors():
    row = one(over(7, "CANCELLED", array_task_string="1-2", cpus=None, nodes=""))
    assert (row.procs, row.phase) == (0, Phase.OVER)


def test_a_held_job_is_a_waiting_one_without_priority():
    assert one(job(7)).held
    assert not one(free(7)).held
    assert not one(running(7, priority=0)).held


@pytest.mark.parametrize(
    ("fields", "ours"),
    [
        ({}, True),
        ({"comment": "windlass class=3"}, True),
        ({"comment": ""}, False),
        ({"comment": "windlasses"}, False),
        ({"comment": "not windlass"}, False),
        ({"array_task_string": "1-3"}, False),
        ({"het_job_id": 7}, False),
    ],
)
def test_the_comment_leaves_a_job_to_windlass(fields, ours):
    assert one(job(7, **fields)).opted_in is ours


def test_an_ended_job_ran_if_it_had_nodes():
    assert one(over(7)).ran
    # Slurm gives a job that was cancelled while it waited a start, and no nodes.
    assert not one(over(7, "CANCELLED", nodes="", start_time=1020)).ran


@pytest.mark.parametrize(
    ("row", "up"),
    [
        (node("w1"), True),
        (node("w1", "mixed"), True),
        (node("w1", "allocated"), True),
        (node("w1", "idle", ["DRAIN"]), False),
        (node("w1", "allocated", ["DRAIN"]), False),
        (node("w1", "idle", ["NOT_RESPONDING"]), False),
        (node("w1", "down"), False),
        (node("w1", "unknown"), False),
    ],
)
def test_a_node_s_state_determines_whether_jobs_may_start(row, up):
    (found,) = read_nodes(nodes(row))
    assert (found.up, found.procs) == (up, 2)


def test_an_unreachable_controller_is_not_an_empty_queue():
    with pytest.raises(BatchError, match="Failed while looking for jobs"):
        read_jobs(NOBODY_THERE)
    with pytest.raises(BatchError, match="Unspecified error"):
        read_nodes(nodes(errors=[{"error": "Unspecified error", "errno": -1}]))


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"jobs": [{}]}', '{"jobs": [7]}', '{"jobs": 7}'])
def test_output_that_is_not_slurm_s_is_an_error(text):
    with pytest.raises(BatchError, match="squeue --json"):
        read_jobs(text)
