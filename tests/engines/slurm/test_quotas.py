"""Quotas and cores of sharing Slurm jobs, on imitated groups."""

import contextlib
import math
from types import SimpleNamespace

import pytest

from tests.engines.linux.imitation import Kernel, tree_v1
from tests.engines.slurm.fake_commands import FakeCommands, job, jobs, node, nodes, over, running
from windlass.engines.batch.sharing_backend import JobEnding, Pair
from windlass.engines.linux import v1
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.v1 import V1
from windlass.engines.slurm import shares as module
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.journal import Journal
from windlass.engines.slurm.shares import SlurmShares
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem

GATHERS = "JobAcctGatherType = jobacct_gather/cgroup\n"
PAIR = {"comment": "windlass share", "cpus": 1}


class Bench:
    def __init__(self, tmp_path, *rows, cpus=2, **answers):
        self.kernel = Kernel(tmp_path / "groups")
        self.groups = V1(tree_v1(self.kernel.root), "mine", self.kernel, tmp_path / "proc", cores=4)
        details = "JobId=7\n   Nodes=w1 CPU_IDs=1 Mem=0 GRES=\n"
        known = {"squeue": jobs(*rows), "sinfo": nodes(node("w1", cpus=cpus) | {"hostname": "here"})}
        known |= {"scontrol_show_config": GATHERS, "scontrol_show_job": details, "scontrol": ""}
        self.fake, self.lines, self.kept, self.now = FakeCommands(**(known | answers)), [], [], [1100.0]
        client = Client(self.fake, 1.0, 1.0)
        self.journal = Journal(tmp_path / "journal")
        self.system = SlurmSystem(client, self.journal, SlurmOptions(), clock=lambda: self.now[0])
        self.system.poll(0.0)
        self.shares = SlurmShares(
            self.system,
            client,
            self.groups,
            keep=lambda pairs: self.kept.append(tuple(pairs)),
            notify=self.lines.append,
            mount=self.kernel.root,
            watch=lambda groups: contextlib.nullcontext(SimpleNamespace(poll=lambda: None)),
        )
        for number in (7, 8):
            self.shares.candidate(number)

    def value(self, controller, number, name):
        return (self.kernel.root / controller / "mine" / f"job_{number}" / name).read_text().strip()


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.setattr(module.os, "cpu_count", lambda: 4)
    monkeypatch.setattr("socket.gethostname", lambda: "here.there")
    return lambda *rows, **options: Bench(tmp_path, *rows, **options)


def two(bench, **options):
    return bench(running(7, **PAIR), running(8, **PAIR), **options)


def test_a_pair_has_quota_weights_and_the_host_s_cores_until_it_ends(bench):
    found = two(bench)
    found.shares.set_quotas([Pair(7, 8, 30)])
    assert (found.value("cpu", 8, "cpu.cfs_quota_us"), found.value("cpu", 7, "cpu.cfs_quota_us")) == (
        "30000",
        "-1",
    )
    assert [found.value("cpuset", number, "cpuset.cpus") for number in (7, 8)] == ["1", "1"]
    found.shares.set_quotas([])
    assert found.groups.jobs() == []
    assert list((found.kernel.root / "cpuset" / "mine").glob("job_*")) == []
    assert found.kept == [(Pair(7, 8, 30),), ()]


def test_jobs_are_not_pinned_if_slurm_has_more_processors_than_the_machine(bench):
    found = two(bench, cpus=64)
    found.shares.set_quotas([Pair(7, 8, 30)])
    assert found.value("cpu", 8, "cpu.cfs_quota_us") == "30000"
    assert not (found.kernel.root / "cpuset" / "mine").exists()


def test_a_group_that_fails_half_way_is_released(bench):
    found = two(bench)
    found.kernel.failing["cpu.shares"] = 22
    found.shares.set_quotas([Pair(7, 8, 30)])
    assert any("job 8" in line for line in found.lines)
    found.kernel.failing.clear()
    found.shares.set_quotas([])
    assert found.groups.jobs() == []


def test_pairs_are_saved_for_the_next_driver_after_a_stop(bench):
    found = two(bench)
    found.shares.set_quotas([Pair(7, 8, 30)])
    found.shares.close()
    assert found.groups.jobs() == []
    assert found.kept[-1] == (Pair(7, 8, 30),)


def test_a_guest_s_time_limit_is_extended_only_if_necessary(bench):
    found = two(bench)
    # It has run for 90 of its 120 s.
    found.shares.allow(8, 30.0)
    assert found.fake.commands_with("update") == []
    found.shares.allow(8, 100.0)
    assert found.fake.commands_with("update") == [("update", "JobId=8", "TimeLimit=5")]


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        ("COMPLETED", JobEnding.DONE),
        ("TIMEOUT", JobEnding.KILLED),
        *((state, JobEnding.CUT) for state in ("CANCELLED", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY")),
    ],
)
def test_the_outcome_of_a_job_is_its_slurm_state(bench, state, outcome):
    found = bench(over(7, state), running(8))
    assert found.shares.outcome(7) is outcome
    assert found.shares.outcome(404) is JobEnding.CUT


def test_jobs_on_other_nodes_are_not_together(bench):
    hosts = {"scontrol_show_hostnames": lambda command: command[-1]}
    found = bench(running(7, **PAIR), running(8, nodes="w2", **PAIR), job(9), **hosts)
    assert not found.shares.together(7, 8)
    assert "job 8 was given other cores than those of job 7" in found.lines[-1]
    assert found.shares.together(7, 9)


@pytest.mark.parametrize(("cores", "together"), [("1", True), ("1-2", True), ("0", False), ("1,3", False)])
def test_jobs_on_other_cores_are_not_together(bench, cores, together):
    found = two(bench)
    for number, cpus in ((7, "1-2"), (8, cores)):
        folder = found.kernel.root / "cpuset" / "slurm_w1" / "uid_0" / f"job_{number}"
        folder.mkdir(parents=True)
        (folder / "cpuset.cpus").write_text(cpus)
    assert found.shares.together(7, 8) is together


def test_a_requeued_job_has_no_quota_and_is_journalled_first(bench):
    def requeues(command):
        assert 8 in found.journal.standing.returning
        assert found.groups.jobs() == [7]
        return ""

    found = two(bench, scontrol_requeuehold=requeues)
    found.shares.set_quotas([Pair(7, 8, 30)])
    assert found.shares.requeue(8, "the head can start") == ""
    assert found.fake.commands_with("requeuehold") == [("requeuehold", "8")]


def test_the_last_reading_of_a_job_has_its_tasks(bench, tmp_path):
    found, file = two(bench), tmp_path / "progress"
    before = found.shares.last_reading(7, "nothing known")
    assert before == "nothing known"
    from windlass.engines.linux.job_progress import JobProgress, report
    from windlass.share.usage import Reading

    report(file, JobProgress(2, 2, True, 30, 0))
    found.shares._measured[7] = SimpleNamespace(progress=file)
    last = found.shares.last_reading(7, Reading(5.0, 9.0, 100.0, 1, False, 20.0, 10.0, 3.0))
    assert (last.at, last.memory, last.stage, last.done, last.left) == (
        file.stat().st_mtime,
        100.0,
        2,
        30,
        0,
    )
    assert math.isnan(last.cpu)


def test_quotas_are_set_again_after_their_watchdog_ended(bench):
    found, dogs = two(bench), []
    found.shares.set_quotas([Pair(7, 8, 30)])

    class Watches:
        def __enter__(self):
            dogs.append(self)
            return SimpleNamespace(poll=lambda: None)

        def __exit__(self, *error):
            pass

    found.shares._watch = lambda groups: Watches()
    found.shares._dog = SimpleNamespace(poll=lambda: -9)
    (found.kernel.root / "cpu" / "mine" / "job_8" / "cpu.cfs_quota_us").write_text("-1")
    found.shares.set_quotas([Pair(7, 8, 30)])
    assert found.value("cpu", 8, "cpu.cfs_quota_us") == "30000"
    assert (len(dogs), found.lines) == (1, ["the watchdog of quotas has died; starting another one"])


def test_a_group_that_cannot_be_released_is_reported(bench, monkeypatch):
    found = two(bench)
    found.shares.set_quotas([Pair(7, 8, 30)])

    def refuses(groups, number):
        raise GroupError("busy")

    monkeypatch.setattr(type(found.groups), "release", refuses)
    found.shares.set_quotas([])
    assert found.lines == ["job 7: busy", "job 8: busy"]


def test_a_pair_that_ends_while_no_watchdog_runs_is_released(bench):
    """The watchdog was killed, and did not lift the quotas."""
    found = two(bench)
    found.shares.set_quotas([Pair(7, 8, 30)])
    found.shares._dog = SimpleNamespace(poll=lambda: -9)
    found.shares.set_quotas([])
    assert found.groups.jobs() == []


def test_a_group_that_cannot_be_removed_is_tried_again_and_reported_once(bench, monkeypatch):
    found = two(bench)
    found.shares.set_quotas([Pair(7, 8, 30)])
    release, failing = V1.release, [True]

    def busy(groups, job):
        if failing[0] and job == 8:
            raise GroupError("the group is busy")
        release(groups, job)

    monkeypatch.setattr(V1, "release", busy)
    for _ in range(3):
        found.shares.set_quotas([])
    assert found.groups.jobs() == [8]
    assert found.lines == ["job 8: the group is busy"]
    failing[0] = False
    found.shares.set_quotas([])
    assert found.groups.jobs() == []


def test_cores_are_released_although_the_group_of_processors_is_busy(bench, monkeypatch):
    found = two(bench)
    found.shares.set_quotas([Pair(7, 8, 30)])
    released = []
    monkeypatch.setattr(type(found.groups._cores), "release", lambda cores, job: released.append(job))
    monkeypatch.setattr(v1, "leave", lambda *given: (_ for _ in ()).throw(GroupError("busy")))
    with pytest.raises(GroupError, match="busy"):
        found.groups.release(8)
    assert released == [8]


def test_a_host_that_also_runs_elsewhere_takes_no_guest(bench):
    """No quota can be set on the other machine."""
    both = nodes(node("w1") | {"hostname": "here"}, node("w2") | {"hostname": "there"})
    found = bench(
        running(7, **PAIR | {"nodes": "w[1-2]"}),
        job(9, comment="windlass share"),
        sinfo=both,
        scontrol_show_hostnames="w1\nw2\n",
    )
    error = found.shares.take_in(Pair(7, 9, 30), 900.0, 1400.0)
    assert error == "job 7 also runs on w2, where no quota can be set"
    assert found.fake.commands_with("release") == found.fake.commands_with("update") == []


@pytest.mark.parametrize(
    ("places", "agree"),
    [
        ([(0, 0), (0, 1), (0, 2), (0, 3)], True),
        ([(0, 0), (0, 1), (1, 0), (1, 1)], True),
        ([(0, 0), (1, 0), (0, 1), (1, 1)], False),
        ([(0, 0), (0, 1), (0, 0), (0, 1)], False),
        ([(0, 0), (0, 0), (0, 1), (0, 1)], True),
        ([], False),
    ],
)
def test_numbers_of_processors_agree_if_linux_counts_socket_by_socket(tmp_path, places, agree):
    for number, (socket, core) in enumerate(places):
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{socket}\n")
        (folder / "core_id").write_text(f"{core}\n")
    assert module.numbers_agree(tmp_path) is agree
    (tmp_path / "cpu7").mkdir()
    assert module.numbers_agree(tmp_path) is False
