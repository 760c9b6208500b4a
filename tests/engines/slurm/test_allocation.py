"""Jobs that get more processors than they request: what is released is what runs."""

import json

import msgspec
import pytest

from tests.engines.slurm.fake_commands import FakeCommands, free, job, jobs, node, nodes, running
from tests.engines.slurm.private import PATIENCE, private_slurm
from tests.engines.slurm.releases import RELEASES, job_of
from tests.engines.slurm.test_system import Bench
from tests.engines.slurm.test_watch import Polls
from windlass.engines.batch.system import Ended, Holds, Resized, Started, Submitted
from windlass.engines.slurm.allocation import allocation, gives_whole_cores
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.cluster import SlurmCluster
from windlass.engines.slurm.daemons import wait_until
from windlass.engines.slurm.driver import drive_slurm
from windlass.engines.slurm.job_reader import read_jobs
from windlass.engines.slurm.models import NodeRow, Phase
from windlass.engines.slurm.node_reader import read_nodes
from windlass.engines.slurm.observer import Unobserved
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.sizes import excess, partition_sizes
from windlass.engines.slurm.system import SlurmOptions
from windlass.order.site.policies.fcfs import Fcfs

#: Two partitions: nodes of 8 and 4 processors with two threads a core, and nodes of 6 without.
SIZES = partition_sizes(
    [
        NodeRow("n1", 8, True, ("a",), threads=2),
        NodeRow("n2", 4, True, ("a",), threads=2),
        NodeRow("n3", 6, False, ("b",)),
    ]
)


@pytest.mark.parametrize(
    ("fields", "plain", "by_core"),
    [
        ({"cpus": 3}, 3, 4),
        ({"cpus": 4}, 4, 4),
        ({"cpus": 3, "partition": "b"}, 3, 3),
        ({"cpus": 3, "partition": "b,a"}, 3, 4),
        ({"cpus": 3, "partition": "unknown"}, 3, 3),
        ({"cpus": 1, "node_count": 1, "shared": "none"}, 8, 8),
        ({"cpus": 1, "node_count": 2, "shared": "none"}, 12, 12),
        # More processors than that many nodes have.
        ({"cpus": 9, "node_count": 1, "shared": "none"}, 12, 12),
        # More nodes than the partition has: Slurm reports it.
        ({"cpus": 9, "node_count": 3, "shared": "none"}, 12, 12),
        ({"cpus": 1, "node_count": 1, "shared": "none", "partition": "b"}, 6, 6),
        ({"cpus": 1, "node_count": 1, "shared": "none", "partition": "unknown"}, 1, 1),
        ({"cpus": 1, "node_count": 2, "shared": "user"}, 1, 2),
    ],
)
def test_a_waiting_job_counts_as_what_slurm_will_give_it(fields, plain, by_core):
    (row,) = read_jobs(jobs(job(7, **({"partition": "a"} | fields))))
    assert [allocation(row, SIZES, each) for each in (False, True)] == [plain, by_core]


@pytest.mark.parametrize(
    ("fields", "partition", "down", "plain", "by_core"),
    [
        # Slurm has room for each of these jobs, on nodes of 64, 4 and 3 processors in "a", and of 5 and 3 in "b".
        ({"cpus": 3, "node_count": 3, "shared": "none"}, "a", "", 71, 71),
        ({"cpus": 65, "node_count": 1, "shared": "none"}, "a", "", 68, 68),
        ({"cpus": 1, "node_count": 1, "shared": "none"}, "a", "big", 4, 4),
        ({"cpus": 1, "node_count": 2, "shared": "none"}, "a", "big", 7, 7),
        ({"cpus": 71}, "a", "", 71, 71),
        ({"cpus": 8}, "b", "", 8, 8),
        ({"cpus": 3}, "b", "wide", 3, 3),
    ],
)
def test_a_job_that_fits_its_partition_is_never_counted_as_too_large(fields, partition, down, plain, by_core):
    rows = [
        ("big", 64, 2, "a"),
        ("mid", 4, 2, "a"),
        ("odd", 3, 1, "a"),
        ("wide", 5, 2, "b"),
        ("thin", 3, 1, "b"),
    ]
    sizes = partition_sizes(
        [NodeRow(name, procs, name != down, (of,), threads=threads) for name, procs, threads, of in rows]
    )
    (row,) = read_jobs(jobs(job(7, **(fields | {"partition": partition}))))
    found = [msgspec.structs.replace(row, procs=allocation(row, sizes, each)) for each in (False, True)]
    assert [each.procs for each in found] == [plain, by_core]
    assert [excess(each, sizes) for each in found] == ["", ""]


@pytest.mark.parametrize(
    ("fields", "threads"),
    [({"cpus": 8}, 2), ({"cpus": 4}, 1), ({"cpus": 8, "effective_cpus": 4}, 2)],
)
def test_a_node_with_as_many_processors_as_cores_has_one_of_each(fields, threads):
    shape = node("w1") | {"sockets": 2, "cores": 2, "threads": 2} | fields
    assert [each.threads for each in read_nodes(nodes(shape))] == [threads]


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_says_that_a_job_takes_whole_nodes(release):
    rows = [job(7, shared="none"), job(8), running(9, shared="none")]
    found = read_jobs(json.dumps({"jobs": [job_of(release, row) for row in rows]}))
    # A job that runs has what Slurm allocated.
    assert [row.whole_nodes for row in found] == [2, 0, 0]


@pytest.mark.parametrize(
    ("threads", "setting", "whole"),
    [
        (2, "CR_CORE_MEMORY", True),
        (2, "CR_Core", True),
        (2, "CR_ONE_TASK_PER_CORE,CR_CORE", True),
        (2, "CR_CPU", False),
        (2, "CR_CPU,CR_CORE_DEFAULT_DIST_BLOCK", False),
        (1, "CR_CORE", False),
    ],
)
def test_whole_cores_are_given_where_slurm_selects_cores_with_threads(threads, setting, whole):
    slurm = FakeCommands(scontrol_show_config=f"SelectType = cons_tres\nSelectTypeParameters = {setting}\n")
    found = gives_whole_cores(
        Client(slurm), [NodeRow("n1", 8, True, ()), NodeRow("n2", 8, True, (), threads=threads)]
    )
    assert found is whole
    # No command is run if it makes no difference.
    assert len(slurm.recorded) == (threads > 1)


def test_the_system_submits_jobs_with_what_slurm_will_give_them(tmp_path):
    rows = [job(7, cpus=1), job(8, cpus=1, node_count=1, shared="none"), running(9, cpus=1)]
    bench = Bench(
        tmp_path,
        squeue=jobs(*rows),
        sinfo=nodes(node("w1", cpus=8) | {"threads": 2}),
        scontrol_show_config="SelectTypeParameters = CR_CORE\n",
    )
    assert [(each.job, each.procs) for each in bench.poll() if isinstance(each, Submitted | Holds)] == [
        (7, 2),
        (8, 8),
        (9, 1),
    ]


def test_a_job_that_runs_on_other_processors_than_it_requested_is_reported_once():
    polls = Polls(released=[8])
    polls.at(1005.0, job(7), free(8))
    polls.watch.released(7, 1006.0)
    wide = [running(number, tres_alloc_str="cpu=22,node=1") for number in (7, 8)]
    assert polls.events(1010.5, *wide) == [Resized(8, 1010.5, 22), Started(7, 1010.0), Resized(7, 1010.5, 22)]
    assert polls.events(1011.0, *wide) == []
    # While a job completes, some of its nodes may be free; Slurm starts others on them without a release.
    leaving = [row | {"job_state": "COMPLETING", "cpus": 1} for row in wide]
    assert polls.events(1012.0, *leaving) == []
    assert polls.events(1013.0) == [Ended(7, 1013.0), Ended(8, 1013.0)]


# -- on a real Slurm


@pytest.fixture(scope="module")
def cores():
    """A Slurm of two nodes with two cores of two threads each, which selects cores."""
    with private_slurm(nodes=2, cpus=4) as shell:
        conf = shell.cluster.conf
        text = conf.read_text(encoding="utf-8")
        for old, new in (
            ("SelectTypeParameters=CR_CPU", "SelectTypeParameters=CR_Core"),
            (" CPUs=4 ", " CPUs=4 Sockets=1 CoresPerSocket=2 ThreadsPerCore=2 "),
            ("OverSubscribe=FORCE:2", "OverSubscribe=NO"),
        ):
            assert old in text
            text = text.replace(old, new)
        conf.write_text(text, encoding="utf-8")
        cluster = SlurmCluster.load(shell.cluster.folder)
        names = ("slurmctld", "slurmd w1", "slurmd w2")
        for name in reversed(names):
            cluster.stop(name)
        for name in names:
            cluster = cluster.start(name)
        states = ("sinfo", "--noheader", "--Node", "--format=%T")
        assert wait_until(lambda: shell(*states).split() == ["idle", "idle"], PATIENCE)
        yield shell


class Operator(Unobserved):
    """An operator who drains a node when the first jobs run, and looks at each poll at what was reported until then."""

    def __init__(self, shell, lines):
        self.shell, self.lines, self.drained = shell, lines, False
        #: At each poll: released jobs that Slurm has no room for, and the processors of jobs that run.
        self.seen = []
        #: Whether a job that cannot start, and a drained node, were reported at the poll that showed them first.
        self.stuck, self.fell = [], []

    def polled(self, poll):
        mine = [row for row in poll.jobs if row.opted_in and not row.held]
        late = [row.job for row in mine if row.phase is Phase.WAITS and row.reason == "Resources"]
        self.seen.append((late, sum(row.procs for row in mine if row.state == "RUNNING")))
        self.stuck += [any(f"{job} " in str(each) for each in self.lines) for job in poll.stuck]
        up = {node.name for node in poll.nodes if node.up}
        if self.drained and not self.fell and "w2" not in up:
            self.fell.append(any("capacity fell from 8 to 4" in str(each) for each in self.lines))
            self.shell("scontrol", "update", "NodeName=w2", "State=RESUME")
        elif not self.drained and self.seen[-1][1] == 8:
            self.drained = True
            self.shell("scontrol", "update", "NodeName=w2", "State=DRAIN", "Reason=test")


@pytest.mark.slow
def test_what_is_released_is_what_runs_and_what_is_wrong_is_reported_within_a_poll(cores, tmp_path):
    failed = cores.submit("false", ours=False)
    cores.until(lambda rows: rows[failed].phase is Phase.OVER)
    for _ in range(2):
        cores.submit("sleep 3", "--exclusive")
    never = cores.submit("true", f"--dependency=afterok:{failed}")
    for procs in (1, 1, 1, 1, 3, 1, 1):
        cores.submit("sleep 3", procs=procs)
    lines = []
    operator = Operator(cores, lines)
    driving = Driving({"order": Fcfs()}, tmp_path / "journal", SlurmOptions(until_idle=True))
    run = drive_slurm(cores.client, driving, lines.append, observer=operator)
    assert [late for late, _ in operator.seen if late] == []
    assert max(used for _, used in operator.seen) == 8
    assert operator.stuck
    assert all(operator.stuck)
    assert operator.fell
    assert all(operator.fell)
    rows = cores.rows()
    assert {job: row.state for job, row in rows.items() if row.opted_in and row.state != "COMPLETED"} == {
        never: "PENDING"
    }
    # Whole nodes, and both threads of a core.
    assert sorted(run.procs[run.job != never].tolist()) == [2] * 6 + [4] * 3
