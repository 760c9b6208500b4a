"""Jobs that cannot start: reported once by name with the reason, and out of the way of other jobs."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.slurm.fake_commands import ANN, free, job, jobs, running
from tests.engines.slurm.strict import Strict
from tests.engines.slurm.test_driver import driven
from tests.engines.slurm.test_system import Bench
from windlass.engines.batch import driver_lock as lock
from windlass.engines.batch.system import Cancelled, Holds, NoMore, Started, Submitted
from windlass.engines.slurm import driver
from windlass.engines.slurm.job_reader import read_jobs
from windlass.engines.slurm.models import JobRow, NodeRow
from windlass.engines.slurm.reasons import is_final
from windlass.engines.slurm.sizes import (
    PartitionSize,
    capacity_change,
    excess,
    partition_sizes,
    processors_up,
)
from windlass.engines.slurm.system import SlurmOptions
from windlass.engines.slurm.watch import SlurmWatch
from windlass.order.site.policies.fcfs import Fcfs

NEVER = "DependencyNeverSatisfied"


class Polls:
    """A watch of a site on which jobs of more than ``most`` processors do not fit."""

    def __init__(self, most=9):
        self.most = most
        self.watch = SlurmWatch(
            lambda row: False,
            lambda row: False,
            excess=lambda row: f"wider than {self.most}" if row.procs > self.most else "",
        )

    def at(self, now, *rows):
        return self.watch.update(read_jobs(jobs(*rows)), now - 0.01, now)


def test_a_job_that_is_too_large_is_not_queued_until_it_fits():
    polls = Polls()
    found = polls.at(1005.0, job(7, cpus=10), job(8))
    assert [event.job for event in found.events] == [8]
    assert found.stuck == {7: "wider than 9"}
    assert polls.at(1006.0, job(7, cpus=10), job(8)).stuck == {7: "wider than 9"}
    polls.most = 10
    found = polls.at(1007.0, job(7, cpus=10), job(8))
    assert (found.events, found.stuck) == ([Submitted(7, 1000.0, 10, 120.0, ANN)], {})
    # The site shrinks while it waits, and its user then reduces the request.
    polls.most = 9
    found = polls.at(1008.0, job(7, cpus=10), job(8))
    assert (found.events, found.stuck) == ([Cancelled(7, 1008.0)], {7: "wider than 9"})
    found = polls.at(1009.0, job(7, cpus=2), job(8))
    assert (found.events, found.stuck) == ([Submitted(7, 1000.0, 2, 120.0, ANN)], {})


def test_a_released_or_running_job_is_not_judged_by_its_size():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.watch.released(7, 1006.0)
    polls.most = 1
    assert polls.at(1007.0, free(7)).stuck == {}
    assert polls.at(1010.5, running(7)).events == [Started(7, 1010.0)]
    assert polls.at(1011.0, running(8, cpus=50)).stuck == {}


def test_a_job_whose_dependency_failed_is_held_and_tried_again_when_it_changes_or_after_long():
    polls, row = Polls(), {"dependency": "afterok:3(failed)"}
    polls.at(1005.0, job(7, **row))
    polls.watch.released(7, 1006.0)
    found = polls.at(1007.0, free(7, state_reason=NEVER, **row))
    assert (found.events, found.hold, found.stuck) == ([Cancelled(7, 1007.0)], {7: ""}, {7: NEVER})
    assert polls.at(1606.9, job(7, **row)).events == []
    found = polls.at(1607.0, job(7, **row))
    assert (found.events, found.stuck) == ([Submitted(7, 1000.0, 3, 120.0, ANN)], {})
    # The second time it rests twice as long, unless its user removes the dependency.
    polls.watch.released(7, 1608.0)
    polls.at(1609.0, free(7, state_reason=NEVER, **row))
    assert polls.at(2800.0, job(7, **row)).events == []
    assert len(polls.at(2801.0, job(7)).events) == 1


@pytest.mark.parametrize(
    "change",
    [{"cpus": 2}, {"time_limit": 9}, {"memory_per_node": 5}, {"partition": "other"}, {"dependency": "x"}],
)
def test_any_change_of_its_request_gives_a_job_another_try(change):
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.watch.released(7, 1006.0)
    polls.at(1007.0, free(7, state_reason="PartitionTimeLimit"))
    assert polls.at(1008.0, job(7)).events == []
    # It must be held again before it is tried.
    assert polls.at(1009.0, free(7, state_reason="PartitionTimeLimit", **change)).events == []
    assert [type(event) for event in polls.at(1010.0, job(7, **change)).events] == [Submitted]


def test_a_requeued_job_is_stuck_only_if_its_launch_failed():
    for fields, stuck in (
        ({"state_reason": "launch_failed_requeued_held"}, True),
        ({"state_reason": "JobHeldAdmin", "state_description": "launch failed requeued held"}, True),
        ({"state_reason": "JobHeldUser"}, False),
    ):
        polls = Polls()
        polls.at(1005.0, job(7))
        polls.watch.released(7, 1006.0)
        polls.at(1010.5, running(7))
        found = polls.at(1012.5, job(7, restart_cnt=1, submit_time=1011, **fields))
        assert found.stuck == ({7: "launch failed requeued held"} if stuck else {})
        # It waits for its user or an administrator, and holds no processors.
        assert [type(event) for event in found.events] == [Submitted, Cancelled]
        assert polls.at(9000.0, job(7, restart_cnt=1, submit_time=1011, **fields)).events == []


def test_a_stuck_job_that_its_user_releases_is_that_user_s():
    polls = Polls()
    polls.at(1005.0, job(7, cpus=10))
    assert polls.at(1006.0, free(7, cpus=10)).events == []
    found = polls.at(1010.5, running(7, cpus=10))
    assert (found.events, found.stuck) == ([Holds(7, 1010.0, 10, 120.0, ANN)], {})


def test_a_stuck_job_that_ran_after_all_and_is_requeued_is_not_stuck():
    polls = Polls()
    polls.at(1005.0, job(7))
    polls.watch.released(7, 1006.0)
    polls.at(1007.0, free(7, state_reason=NEVER))
    polls.at(1010.5, running(7))
    assert polls.at(1012.5, free(7, restart_cnt=1, submit_time=1011)).stuck == {}


REASONS = ["Resources", "Priority", "Dependency", NEVER, "QOSMaxWallDurationPerJobLimit", "BeginTime"]


@given(st.lists(st.tuples(st.sampled_from(REASONS), st.integers(1, 20), st.booleans(), st.integers(1, 700))))
def test_a_job_is_either_in_the_queue_or_stuck_or_waits_for_something(steps):
    polls, now, queued, released = Polls(), 1005.0, False, False
    for reason, cpus, held, seconds in [("Resources", 1, True, 1), *steps]:
        now += seconds
        row = job(7, cpus=cpus) if held else free(7, cpus=cpus, state_reason=reason)
        found = polls.at(now, row)
        for event in found.events:
            assert type(event) in (Submitted, Cancelled)
            queued = isinstance(event, Submitted)
        assert not (queued and found.stuck)
        # A job whose release failed is judged at the next poll.
        assert not (queued and held) or cpus <= 9 or released
        released = queued and held
        if released:
            polls.watch.released(7, now)
        if 7 in found.hold:
            assert not queued
            assert is_final(reason) == (found.hold[7] == "") == (7 in found.stuck)


def rows_of(**fields):
    return read_jobs(jobs(job(7, **fields)))[0]


def test_sizes_count_all_nodes_of_a_partition():
    sites = [
        NodeRow("n1", 4, True, ("a",), 8 << 20),
        NodeRow("n2", 2, False, ("a", "b"), 8 << 20, threads=2),
        NodeRow("n3", 1, True, ("c",)),
    ]
    sizes = partition_sizes(sites)
    assert sizes == {
        "a": PartitionSize(6, 16 << 20, (4, 2), 1),
        "b": PartitionSize(2, 8 << 20, (2,), 2),
        "c": PartitionSize(1, 0, (1,)),
    }
    assert processors_up(sites) == 5

    def why(partition, cpus=1, memory=None):
        row = rows_of(partition=partition, cpus=cpus, memory_per_node=memory, node_count=1)
        assert isinstance(row, JobRow)
        return excess(row, sizes)

    assert [why("a", 6), why("b", 2), why("a,b", 6), why("b,a", 6), why("none", 99)] == [""] * 5
    assert why("a", 7) == "it requests 7 processors, partition a has 6"
    assert why("a,b", 7) == "it requests 7 processors, partition b has 2"
    assert why("a,none", 7) == ""
    assert (why("a", 1, 16), why("c", 1, 500)) == ("", "")
    assert why("a", 1, 17) == "it requests 17 MiB of memory, partition a has 16"


def test_a_long_list_of_nodes_is_shortened_and_resized_nodes_are_named():
    up = [NodeRow(f"n{number}", 1, True, ()) for number in range(12)]
    assert capacity_change(up, up) == ""
    assert capacity_change(up, []).endswith("n8, n9 and 2 more not available")
    assert capacity_change(up[:10], []).endswith("n8, n9 not available")
    assert (
        capacity_change(up[:1], [NodeRow("n0", 3, True, ())])
        == "capacity rose from 1 to 3 processors: n0 resized"
    )
    swapped = capacity_change(up[:1], up[1:2])
    assert swapped == "capacity is still 1 processors: n0 not available; n1 available"


@pytest.fixture
def bench(tmp_path):
    return lambda **options: Bench(tmp_path, **options)


def test_stuck_jobs_are_reported_once_by_name(bench):
    wide = job(7, cpus=5, name="blast", user_name="bob")
    found = bench(squeue=[jobs(wide), jobs(wide), jobs(wide), jobs(), jobs(wide)])
    line = "job 7 (blast, user bob) cannot start: it requests 5 processors, partition share has 4"
    for polls, lines in ((3, [line]), (1, []), (1, [line])):
        for _ in range(polls):
            found.poll()
            found.sleep(2.0)
        assert found.lines == lines
        found.lines.clear()


def test_a_hold_is_reported_again_only_for_another_reason(bench):
    rest = jobs(job(7))
    rows = [rest, jobs(free(7, state_reason="Dependency"))]
    found = bench(squeue=[*rows, *rows, *[rest, jobs(free(7, state_reason="BeginTime"))]])
    seen = []
    for _ in range(3):
        found.poll()
        if found.system.start([7]):
            found.sleep(400.0)
            found.poll()
            found.system.start([7])
        found.sleep(400.0)
        found.poll()
        found.sleep(400.0)
        seen += found.lines
        found.lines.clear()
    why = "job 7 is held: Slurm cannot start it yet:"
    assert seen == [f"{why} Dependency", f"{why} BeginTime"]


def test_a_run_until_idle_ends_when_only_stuck_jobs_are_left(bench):
    found = bench(squeue=jobs(job(7, cpus=5)), options=SlurmOptions(until_idle=True))
    assert found.poll() == [NoMore()]
    assert len(found.lines) == 1


def test_a_stuck_job_does_not_block_the_queue(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_folder", lambda: tmp_path)
    monkeypatch.setattr(driver, "detect_groups", lambda name: None)
    slurm = Strict(cpus=4)
    slurm.submit(1, 5)
    for number in (2, 3):
        slurm.submit(number, 3)
    run, lines = driven(slurm, tmp_path, Fcfs())
    assert run.job.tolist() == [2, 3]
    assert lines[0] == "job 1 (wrap, user ann) cannot start: it requests 5 processors, partition share has 4"
    # At the end it is given back like any other job.
    assert slurm.states() == {1: "PENDING", 2: "COMPLETED", 3: "COMPLETED"}
    assert math.isfinite(run.end[0])
