"""Slurm as a batch system, with a fake Slurm of given outputs."""

import numpy as np
import pytest

from tests.engines.slurm.fake_commands import (
    ANN,
    NOBODY_THERE,
    FakeCommands,
    free,
    job,
    jobs,
    node,
    nodes,
    over,
    running,
)
from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.batch.system import Capacity, Ended, Holds, NoMore, Started, Submitted
from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.entries import Over, Refused, Released, Releasing
from windlass.engines.slurm.give_back import return_queue
from windlass.engines.slurm.journal import Journal, Unwritten, read_journal
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem
from windlass.model import InputError
from windlass.order.site.policies.fcfs import Fcfs

TWO = nodes(node("w1"), node("w2"))


class Bench:
    """A system on a fake Slurm, with a clock that advances only during sleeps."""

    def __init__(self, tmp_path, journal=None, options=None, patience=20.0, **answers):
        self.now, self.lines = 1100.0, []
        self.fake = FakeCommands(**({"sinfo": TWO, "scontrol": ""} | answers))
        self.path = tmp_path / "journal"
        self.journal = journal or Journal(self.path)
        self.client = Client(self.fake, patience, 1.0, self.lines.append, self.sleep, lambda: self.now)
        self.system = SlurmSystem(
            self.client,
            self.journal,
            options,
            notify=self.lines.append,
            clock=lambda: self.now,
            sleep=self.sleep,
        )

    def sleep(self, seconds):
        self.now += seconds

    def poll(self, seconds=0.0):
        return self.system.poll(seconds)

    def give_back(self, partition=None):
        return return_queue(self.client, self.journal, partition, self.lines.append, lambda: self.now)


@pytest.fixture
def bench(tmp_path):
    return lambda **options: Bench(tmp_path, **options)


def test_a_release_is_journalled_before_it_is_done(bench):
    def releases(command):
        assert [entry.job for entry in read_journal(found.path)] == [8, 7]
        return ""

    found = bench(squeue=jobs(job(7), job(8)), scontrol_release=releases)
    found.poll()
    assert found.system.start([8, 7]) == {}
    assert found.fake.commands_with("release") == [("release", "8,7")]
    assert found.journal.under_way[7] == Releasing(1100.0, 7, 1000.0, 0)


def test_jobs_that_slurm_does_not_release_are_named(bench):
    refusal = (1, "", "Access/permission denied for job 7")
    fake = [jobs(job(7), job(8)), jobs(job(7), free(8))]
    found = bench(squeue=fake, scontrol_release=refusal)
    found.poll()
    assert found.system.start([7, 8, 404]) == {7: refusal[2], 404: "no such job is held"}
    assert list(found.journal.under_way) == [8]
    assert [type(entry) for entry in read_journal(found.path)[-2:]] == [Refused, Released]


def test_a_job_that_slurm_keeps_refusing_is_set_aside_and_the_others_start(bench):
    """The driver goes on: the job is reported once, and tried again after 5 s, then 10 s, at most 5 minutes."""
    started, tries = [], []

    def squeue(command):
        return jobs(job(7, cpus=1), *([running(8, cpus=1)] if started else [job(8, cpus=1)]))

    def release(command):
        numbers = command[2].split(",")
        tries.extend([found.now] if "7" in numbers else [])
        started.extend(number for number in numbers if number == "8")
        return (1, "", "Requested operation is presently disabled for job 7") if "7" in numbers else ""

    found = bench(squeue=squeue, scontrol_release=release, options=SlurmOptions(pace=2.0))
    found.sleep = lambda seconds: setattr(found, "now", found.now + max(seconds, 0.01))
    site = LiveSite(found.system)

    class Ends:
        name = "ends"

        def decide(self, view):
            if found.now > 2400.0:
                raise StopIteration
            return Fcfs().decide(view)

    with pytest.raises(StopIteration):
        drive(site, {"order": Ends()})
    assert started == ["8"]
    waits = np.diff(tries)
    assert len(tries) > 8
    assert waits[-1] == pytest.approx(300.0, abs=4.0)
    assert (waits <= 304.0).all()
    assert found.lines == ["job 7 stays held: Requested operation is presently disabled"]
    assert found.system.status.refusals == len(tries)


def test_a_refused_job_that_is_released_later_begins_to_count_anew(bench):
    refusal = (1, "", "Access/permission denied for job 7")
    answers = [refusal] * 3 + [""] + [refusal] * 3
    found = bench(squeue=lambda command: jobs(job(7)), scontrol_release=lambda command: answers.pop(0))
    found.poll()
    for _ in range(3):
        assert found.system.start([7])
    assert found.system.start([7]) == {}
    for _ in range(3):
        assert found.system.start([7])
    assert found.system._polls.events == []


def test_only_held_jobs_are_released(bench):
    found = bench(squeue=jobs(free(7), running(8), job(9, comment="")))
    found.poll()
    assert set(found.system.start([7, 8, 9])) == {7, 8, 9}
    assert found.fake.commands_with("release") == []


def test_an_unreachable_slurm_is_awaited_until_the_timeout(bench):
    found = bench(squeue=[jobs(job(7)), NOBODY_THERE, NOBODY_THERE, jobs(job(7))])
    assert len(found.poll()) == 1
    assert found.poll(5.0) == []
    found.fake.answers["squeue"] = NOBODY_THERE
    with pytest.raises(AwayError):
        found.poll(60.0)


def test_events_of_one_poll_are_decided_at_one_time(bench):
    found = bench(squeue=[jobs(), jobs(job(7))])
    found.poll(5.0)
    seen = found.system.now()
    assert seen == found.now
    found.sleep(0.01)
    assert found.system.now() == seen
    found.poll()
    assert found.system.now() == found.now > seen


def test_drained_nodes_change_the_capacity_once(bench):
    drained = nodes(node("w1"), node("w2", flags=["DRAIN"]))
    found = bench(squeue=jobs(), sinfo=[TWO, TWO, drained, drained, TWO])
    assert found.system.processors == 4
    lines = [event for _ in range(8) for event in found.poll(1.0)]
    assert lines == [Capacity(2), Capacity(4)]


def test_until_idle_ends_without_jobs_of_windlass(bench):
    fake = [jobs(job(7), free(3, comment="")), jobs(running(7)), jobs(over(7), running(3, comment=""))]
    found = bench(squeue=fake, options=SlurmOptions(until_idle=True))
    assert found.poll() == [Submitted(7, 1000.0, 3, 120.0, ANN)]
    assert [type(event) for event in found.poll(1.0)] == [Started]
    assert [type(event) for event in found.poll(1.0)] == [Holds, Ended, NoMore]
    assert found.poll(5.0) == []


def test_polling_is_less_frequent_without_held_jobs(bench):
    def polls(*rows):
        found = bench(squeue=jobs(*rows))
        found.poll()
        before = len(found.fake.commands_with("squeue"))
        end = found.now + 10.0
        while found.now < end:
            found.poll(end - found.now)
        return len(found.fake.commands_with("squeue")) - before

    assert 38 <= polls(job(7)) <= 41
    assert 9 <= polls(running(7, comment="")) <= 11


def test_a_requeued_job_is_held_and_a_failed_hold_is_reported(bench):
    back = free(7, restart_cnt=1, submit_time=1050)
    found = bench(squeue=[jobs(running(7)), jobs(back)], journal=None)
    found.journal.append(Releasing(1005.0, 7, 1000.0, 0))
    found.poll()
    assert [type(event) for event in found.poll(1.0)] == [Submitted]
    assert found.fake.commands_with("uhold") == [("uhold", "7")]
    assert list(found.journal.under_way) == []


@pytest.mark.parametrize("array", [{}, {"array_job_id": 5}])
def test_a_requeued_job_that_no_driver_started_is_left_to_slurm(bench, array):
    """It has the comment but was not submitted held, or is a task of an array: a node failed, and Slurm requeued it."""
    back = {"restart_cnt": 1, "submit_time": 1050, **array}
    for second, events in ((free(7, **back), [Ended]), (running(7, **back), [Ended, Holds])):
        found = bench(squeue=[jobs(running(7, **array)), jobs(second), jobs(second)])
        assert [type(event) for event in found.poll()] == [Holds]
        assert [type(event) for event in found.poll(1.0)] == events
        assert found.poll(5.0) == []
        assert [line for line in found.fake.recorded if line[0] == "scontrol"] == []


def test_a_job_that_another_requeued_and_held_is_left_alone(bench):
    """As ``scontrol requeuehold`` does; it counts again when it runs."""
    rows = [running(7)]
    found = bench(squeue=lambda command: jobs(*rows))
    found.poll()
    rows[:] = [job(7, restart_cnt=1, submit_time=1050)]
    assert [type(event) for event in found.poll(1.0)] == [Ended]
    assert found.poll(400.0) == []
    rows[:] = [running(7, restart_cnt=1, submit_time=1050)]
    assert [type(event) for event in found.poll(5.0)] == [Holds]
    assert [line for line in found.fake.recorded if line[0] == "scontrol"] == []


def test_a_held_task_of_an_array_is_left_alone(bench):
    """Its user held or changed this task, so that Slurm lists it apart from its array."""
    found = bench(squeue=jobs(job(12, array_job_id=11, array_task_string="")))
    assert found.poll() == []
    assert set(found.system.start([12])) == {12}
    assert found.give_back() == QueueReturn()
    assert found.fake.commands_with("release") == []
    assert found.lines == ["job 12 is a job array or heterogeneous job; left alone: release it with scontrol"]


def test_a_job_of_several_partitions_is_given_back(bench):
    rows = jobs(job(7), job(8, partition="other"), job(10, partition="other,share"))
    both = nodes(node("w1"), node("w2", partitions=["other"]))
    found = bench(squeue=rows, sinfo=both)
    assert found.give_back("share") == QueueReturn((7, 10))


def test_the_next_driver_knows_the_released_jobs(bench, tmp_path):
    with Journal(tmp_path / "journal") as before:
        before.append(*(Releasing(1005.0, number, 1000.0, 0) for number in (6, 7, 8, 9)))
    found = bench(squeue=jobs(over(6), free(7), job(8), free(10)))
    assert found.poll() == [Holds(7, 1100.0, 3, 120.0, ANN), Submitted(8, 1000.0, 3, 120.0, ANN)]
    ended = [entry.job for entry in read_journal(found.path) if isinstance(entry, Over)]
    assert sorted(ended) == [6, 8, 9]


def test_only_jobs_left_to_windlass_are_given_back(bench):
    found = bench(squeue=jobs(job(7), job(8, comment=""), free(9), job(10, array_task_string="1-3")))
    assert found.give_back() == QueueReturn((7,))
    assert found.fake.commands_with("release") == [("release", "7")]
    refused = bench(squeue=jobs(job(8)), scontrol_release=(1, "", "Access/permission denied"))
    assert refused.give_back() == QueueReturn((), {8: "Access/permission denied"})


def test_only_nodes_and_jobs_of_the_partition_count(bench):
    both = nodes(node("w1"), node("w2", partitions=["other"]), node("w3", partitions=["share", "other"]))
    several = job(10, partition="other,share")
    rows = jobs(job(7), job(8, partition="other"), running(9, partition="other"), several)
    found = bench(squeue=rows, sinfo=both, options=SlurmOptions(partition="share"))
    assert found.system.processors == 4
    assert [event.job for event in found.poll()] == [7, 10]
    with pytest.raises(InputError, match=r"--partition: 'none' has no nodes"):
        bench(sinfo=both, options=SlurmOptions(partition="none"))


def test_a_dry_run_changes_nothing(bench, tmp_path):
    with Journal(tmp_path / "journal") as before:
        before.append(Releasing(1005.0, 7, 1000.0, 0), Releasing(1005.0, 6, 1000.0, 0))
    was = (tmp_path / "journal").read_bytes()
    polls = SlurmOptions(dry_run=True)
    rows = jobs(free(7, restart_cnt=1), job(8))
    found = bench(squeue=rows, journal=Unwritten(tmp_path / "journal"), options=polls)
    plan = LiveSite(found.system).plan(Fcfs())
    assert plan.jobs == (7,)
    assert plan.command == "scontrol release 7"
    assert {command[1] for command in found.fake.recorded if command[0] == "scontrol"} == set()
    assert (tmp_path / "journal").read_bytes() == was


def test_arrays_are_left_alone_and_reported_once(bench):
    found = bench(squeue=jobs(job(7, array_task_string="1-3")))
    assert found.poll() + found.poll(5.0) == []
    assert found.lines == ["job 7 is a job array or heterogeneous job; left alone: release it with scontrol"]


def test_the_system_offers_what_sharing_needs(bench):
    found = bench(
        squeue=jobs(job(7, memory_per_node=100), running(8, nodes="w[1-2]")),
        scontrol_show_hostnames="w1\nw2\n",
    )
    found.poll()
    system = found.system
    assert (system.details(7).memory, system.details(7).name, system.details(7).limit) == (
        200 << 20,
        "wrap",
        120.0,
    )
    assert (system.nodes_of(8), system.nodes_of(7)) == (("w1", "w2"), ())
    found.client.set_time_limit(8, 61.0)
    found.client.set_time_limit(8, float("inf"))
    assert system.release_shared(7, 8, 30, 300.0, 1400.0) == ""
    assert [command[1:] for command in found.fake.recorded if command[1] in ("update", "release")] == [
        ("update", "JobId=8", "TimeLimit=2"),
        ("update", "JobId=8", "TimeLimit=UNLIMITED"),
        ("update", "JobId=7", "TimeLimit=5"),
        ("update", "JobId=7", "ReqNodeList=w1,w2"),
        ("release", "7"),
    ]
    with pytest.raises(InputError, match="job 404: Slurm lists no such job"):
        system.details(404)
    found.fake.answers["scontrol update"] = (1, "", "Invalid node name specified")
    found.poll(1.0)
    system.start = lambda jobs: {}
    assert "Invalid node name specified" in system.release_shared(7, 8, 30, 300.0, 1400.0)


def test_a_policy_drives_the_system(bench):
    fake = [jobs(job(7), job(8)), jobs(free(7), job(8)), jobs(running(7), job(8)), jobs(over(7), job(8))]
    fake += [jobs(over(7), running(8)), jobs(over(7), over(8))]
    found = bench(squeue=fake, options=SlurmOptions(until_idle=True))
    run = drive(LiveSite(found.system), {"order": Fcfs()})
    assert run.job.tolist() == [7, 8]
    assert found.fake.commands_with("release") == [("release", "7"), ("release", "8")]
    assert found.journal.under_way == {}
