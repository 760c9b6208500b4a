"""Each release of Slurm, in its own spelling of jobs and nodes, gives the same rows and drives the same way."""

import json
import math

import pytest

from tests.engines.slurm.fake_commands import FakeCommands, free, job, node, over, running
from tests.engines.slurm.releases import (
    RELEASES,
    AsRelease,
    before,
    flagged,
    groups_of,
    job_of,
    meta,
    node_of,
    nodes_of,
    queue_of,
)
from tests.engines.slurm.strict import Strict
from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.job_reader import JobReader, read_jobs
from windlass.engines.slurm.journal import Journal
from windlass.engines.slurm.models import NodeRow, Phase
from windlass.engines.slurm.node_reader import lists_groups, read_nodes
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem
from windlass.model import BatchError, InputError
from windlass.order.site.policies.easy import Easy

ROWS = (
    job(9, memory_per_node=100, time_limit=3, comment="windlass share", submit_time=1234),
    free(7, time_limit=None, memory_per_cpu=10, name="a }, { b", restart_cnt=2, requeue=False),
    running(8, nodes="w[1-2]", suspend_time=1060, pre_sus_time=10, state_reason="None", user_name=None),
    over(6, "TIMEOUT", state_reason="TimeLimit", name='"jobs": [{"account":'),
    job(4, array_task_string="412-9999", comment=None),
    job(5, het_job_id=5, partition="a,b"),
    over(3, "COMPLETING"),
)
NODES = (
    node("w1", cpus=4, partitions=("a", "b")) | {"real_memory": 100, "hostname": "here"},
    node("w2", "mixed", cpus=8, partitions=("b",)) | {"real_memory": 200, "hostname": "here"},
    node("w3", "idle", ["DRAIN"], partitions=("b",)) | {"real_memory": 300, "hostname": "there"},
)


def one(release, row, **changes):
    spelled = job_of(release, row) | changes
    (found,) = read_jobs(json.dumps({"jobs": [spelled], "meta": meta(release), "errors": []}))
    return found


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_gives_the_same_jobs(release):
    found = read_jobs(queue_of(release, ROWS))
    assert found == read_jobs(queue_of("22.05.9", ROWS))
    assert [row.job for row in found] == [3, 4, 5, 6, 7, 8, 9]
    assert [row.state for row in found] == [
        "COMPLETING", "PENDING", "PENDING", "TIMEOUT", "PENDING", "RUNNING", "PENDING"
    ]  # fmt: skip
    assert [row.held for row in found] == [False, True, True, False, False, False, True]
    assert [row.many for row in found] == [False, True, True, False, False, False, False]
    assert [row.limit for row in found] == [120.0] * 4 + [math.inf, 120.0, 180.0]
    (released, runs, held) = found[4:]
    assert (released.memory, released.name, released.restarts, released.requeues) == (
        30 << 20, "a }, { b", 2, False
    )  # fmt: skip
    assert (runs.nodes, runs.suspended, runs.ran_before, runs.user) == ("w[1-2]", 1060.0, 10.0, "")
    assert (held.memory, held.submit, held.shares, held.reason) == (200 << 20, 1234.0, True, "JobHeldUser")
    assert found[0].phase is Phase.RUNS


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_gives_the_same_nodes(release):
    assert read_nodes(nodes_of(release, NODES)) == [
        NodeRow("w1", 4, True, ("a", "b"), 100 << 20, "here"),
        NodeRow("w2", 8, True, ("b",), 200 << 20, "here"),
        NodeRow("w3", 2, False, ("b",), 300 << 20, "there"),
    ]


@pytest.mark.parametrize("release", [each for each in RELEASES if not before(each, "23.02")])
def test_groups_of_nodes_are_read_without_hosts(release):
    text = groups_of(release, NODES)
    assert lists_groups(text)
    assert not lists_groups(nodes_of(release, NODES))
    assert read_nodes(text) == [
        NodeRow("w1", 4, True, ("a", "b"), 100 << 20),
        NodeRow("w2", 8, True, ("b",), 200 << 20),
        NodeRow("w3", 2, False, ("b",), 300 << 20),
    ]


def group(names, minimum, maximum, partition="p"):
    return {
        "node": {"state": ["IDLE"]},
        "nodes": {"nodes": names},
        "cpus": {"minimum": minimum, "maximum": maximum},
        "memory": {"minimum": 5, "maximum": 9},
        "partition": {"name": partition},
    }


def test_a_group_of_unlike_nodes_is_an_error_and_an_empty_one_is_skipped():
    again, alone = group(["w1"], 4, 4, "q"), group(["w1"], 4, 4) | {"partition": None}
    groups = [group(["w1", "w2"], 4, 4), group([], 0, 9), again, again, alone]
    assert read_nodes(json.dumps({"sinfo": groups})) == [
        NodeRow("w1", 4, True, ("p", "q"), 5 << 20), NodeRow("w2", 4, True, ("p",), 5 << 20)
    ]  # fmt: skip
    with pytest.raises(
        BatchError, match=r"sinfo --json of Slurm 25\.11\.4 cannot be read: nodes w1, w2: cpus are 4 to 8"
    ):
        read_nodes(json.dumps({"sinfo": [group(["w1", "w2"], 4, 8)], "meta": meta("25.11.4")}))


@pytest.mark.matrix
@pytest.mark.parametrize("release", RELEASES)
def test_the_driver_runs_on_every_release(release, tmp_path):
    slurm = Strict(cpus=4)
    for number, procs in ((7, 3), (8, 4), (9, 1)):
        slurm.submit(number, procs, looks=2)
    slurm.submit(10, array_task_string="1-3")
    fake = AsRelease(release, slurm)
    client = Client(fake, 1.0, 1.0, sleep=lambda seconds: None)
    lines = []
    with Journal(tmp_path / "journal") as journal:
        system = SlurmSystem(client, journal, SlurmOptions(pace=0.0, until_idle=True), notify=lines.append)
        assert system.processors == 4
        run = drive(LiveSite(system), {"order": Easy()})
        # Job 9 fits next to job 7 and is done when job 8 can start.
        assert run.job.tolist() == [7, 8, 9]
    assert slurm.states() == {7: "COMPLETED", 8: "COMPLETED", 9: "COMPLETED", 10: "held"}
    assert slurm.changes() == [("release", "7,9"), ("release", "8")]
    assert len(lines) == 1
    assert client.traits.grouped is not before(release, "23.02")


def test_after_groups_of_nodes_only_single_nodes_are_listed():
    fake = FakeCommands(sinfo=groups_of("25.11.4", NODES), scontrol_show_nodes=nodes_of("25.11.4", NODES))
    client = Client(fake, 1.0, 1.0)
    assert (
        [row.host for row in client.nodes()]
        == [row.host for row in client.nodes()]
        == ["here", "here", "there"]
    )
    assert [command[0] for command in fake.recorded] == ["sinfo", "scontrol", "scontrol"]


@pytest.mark.parametrize("release", ["23.11.10", "26.05.4"])
@pytest.mark.parametrize(
    ("states", "phase", "state"),
    [
        (["PENDING"], Phase.WAITS, "PENDING"),
        (["RUNNING", "COMPLETING"], Phase.RUNS, "COMPLETING"),
        (["COMPLETED", "COMPLETING"], Phase.RUNS, "COMPLETING"),
        (["RUNNING", "CONFIGURING"], Phase.RUNS, "CONFIGURING"),
        (["RUNNING", "CONFIGURING", "POWER_UP_NODE"], Phase.RUNS, "CONFIGURING"),
        (["RUNNING", "SIGNALING"], Phase.RUNS, "RUNNING"),
        (["SUSPENDED", "STOPPED"], Phase.RUNS, "SUSPENDED"),
        (["COMPLETED", "STAGE_OUT"], Phase.RUNS, "STAGE_OUT"),
        (["COMPLETED", "SIGNALING"], Phase.OVER, "COMPLETED"),
        (["PENDING", "REQUEUE_HOLD"], Phase.WAITS, "REQUEUE_HOLD"),
        (["PENDING", "SPECIAL_EXIT", "REQUEUE_HOLD"], Phase.WAITS, "REQUEUE_HOLD"),
        (["PENDING", "SPECIAL_EXIT"], Phase.WAITS, "SPECIAL_EXIT"),
        (["PENDING", "LAUNCH_FAILED"], Phase.WAITS, "PENDING"),
        (["PENDING", "EXPEDITING"], Phase.WAITS, "PENDING"),
        (["NODE_FAIL", "REQUEUED"], Phase.WAITS, "REQUEUED"),
        (["RUNNING", "REQUEUED", "COMPLETING"], Phase.RUNS, "COMPLETING"),
        (["PENDING", "REVOKED"], Phase.OVER, "REVOKED"),
        (["RUNNING", "A_FLAG_OF_2030"], Phase.RUNS, "RUNNING"),
        (["OUT_OF_MEMORY"], Phase.OVER, "OUT_OF_MEMORY"),
    ],
)
def test_a_list_of_states_is_one_state(release, states, phase, state):
    row = one(release, job(7), job_state=states)
    assert (row.phase, row.state) == (phase, state)
    assert row.held is (phase is Phase.WAITS)


@pytest.mark.parametrize(
    ("states", "up"),
    [
        (["IDLE"], True),
        (["MIXED", "PLANNED"], True),
        (["ALLOCATED", "COMPLETING"], True),
        (["IDLE", "CLOUD", "POWERED_DOWN"], True),
        (["MIXED", "CLOUD", "POWERING_UP"], True),
        (["ALLOCATED", "CLOUD", "POWER_DOWN"], False),
        (["IDLE", "CLOUD", "POWERING_DOWN"], False),
        (["IDLE", "RESERVED", "DRAIN"], False),
        (["MIXED", "NOT_RESPONDING"], False),
        (["DOWN", "DYNAMIC_NORM"], False),
        (["UNKNOWN"], False),
        (["FUTURE"], False),
        ([], False),
    ],
)
def test_a_list_of_states_says_whether_jobs_may_start(states, up):
    row = node_of("25.11.4", node("w1")) | {"state": states}
    (found,) = read_nodes(json.dumps({"nodes": [row]}))
    assert found.up is up


def test_processors_that_are_reserved_for_the_system_do_not_count():
    for effective, procs in ((6, 6), (flagged(6), 6), (0, 8), (None, 8), (flagged(None), 8)):
        row = node_of("25.11.4", node("w1", cpus=8)) | {"effective_cpus": effective}
        assert read_nodes(json.dumps({"nodes": [row]}))[0].procs == procs


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("row", "allocated", "procs"),
    [
        # One task on a whole node, or on one of two threads: Slurm allocates more than was requested.
        (running(7, cpus=1), "cpu=22,mem=87054M,node=1,billing=22", 22),
        (running(7, cpus=22), "cpu=22,mem=87054M,node=1", 22),
        (running(7, cpus=2), "mem=4G,billing=99,license/cpu=9,cpu=3", 3),
        (running(7, cpus=2), "mem=4G,billing=99", 2),
        (running(7, cpus=2), None, 2),
        (running(7, cpus=None), "billing=9,cpu=4", 4),
        # Some of its nodes are free again.
        (running(7, cpus=3, job_state="COMPLETING"), "cpu=22,node=2", 3),
        (running(7, cpus=None, job_state="COMPLETING"), "cpu=22,node=2", 22),
        # A requeued job waits with the allocation of its last run.
        (job(7, cpus=3), "cpu=22,node=1", 3),
        (job(7, cpus=None), "cpu=22,node=1", 5),
    ],
)
def test_a_job_that_runs_has_the_processors_that_slurm_allocated(release, row, allocated, procs):
    row = row | {"tres_alloc_str": allocated, "tres_req_str": "cpu=5,node=1"}
    assert one(release, row).procs == procs


@pytest.mark.parametrize("release", [each for each in RELEASES if not before(each, "23.02")])
@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("time_limit", flagged(None), math.inf),
        ("time_limit", flagged(None, unlimited=True), math.inf),
        ("time_limit", {"set": True, "infinite": True, "number": 0}, math.inf),
        ("time_limit", flagged(0), 0.0),
        ("time_limit", 5, 300.0),
        ("time_limit", 4294967294, math.inf),
        ("time_limit", 4294967295, math.inf),
        ("start_time", flagged(None), 0.0),
        ("start_time", 77, 77.0),
        ("start_time", 4294967294, 0.0),
        ("priority", flagged(0), True),
        ("priority", flagged(None), False),
        ("priority", flagged(4294881265), False),
        ("priority", None, False),
        ("het_job_id", flagged(3), True),
        ("het_job_id", flagged(None), False),
        ("cpus", flagged(None), 0),
        ("cpus", {"set": True, "infinite": True, "number": 7}, 0),
        ("restart_cnt", flagged(3), 3),
    ],
)
def test_numbers_may_be_unset_or_unlimited(release, field, value, found):
    names = {
        "time_limit": "limit",
        "start_time": "start",
        "priority": "held",
        "het_job_id": "many",
        "cpus": "procs",
    }
    row = one(release, job(7), **{field: value})
    assert getattr(row, names.get(field, "restarts")) == found


ACCOUNTING = {
    "description": "Slurmdb query failed",
    "error": "Header lengths differ",
    "source": "slurmdb_qos_get",
}
CONTROLLER = {
    "description": "Unable to query jobs",
    "error": "Protocol authentication error",
    "source": "slurm_load_jobs()",
}


def test_errors_that_come_with_jobs_are_reported_once():
    lines = []
    text = queue_of("24.05.5", ROWS, [ACCOUNTING, ACCOUNTING])
    client = Client(
        FakeCommands(squeue=[text, text, queue_of("24.05.5", (), [ACCOUNTING])]), 1.0, 1.0, lines.append
    )
    assert [len(client.jobs()) for _ in range(3)] == [7, 7, 0]
    assert lines == ["squeue --json: Slurmdb query failed: Header lengths differ"]


def test_errors_without_jobs_are_raised():
    with pytest.raises(
        BatchError, match=r"^squeue --json: Unable to query jobs: Protocol authentication error$"
    ):
        read_jobs(queue_of("25.11.4", (), [ACCOUNTING, CONTROLLER][1:]))
    with pytest.raises(BatchError, match="Unable to query jobs"):
        read_jobs(queue_of("25.11.4", (), [ACCOUNTING, CONTROLLER]))
    with pytest.raises(BatchError, match=r"^sinfo --json: x$"):
        read_nodes(json.dumps({"errors": ["x"]}))
    # Jobs that are listed are used, whatever came with them.
    assert len(read_jobs(queue_of("25.11.4", ROWS, [CONTROLLER]))) == len(ROWS)
    with pytest.raises(BatchError, match=r"^squeue --json: same$"):
        read_jobs(queue_of("25.11.4", (), [{"description": "same", "error": "same"}]))
    assert read_nodes(json.dumps({"nodes": [], "errors": [ACCOUNTING]})) == []
    with pytest.raises(BatchError, match="Unable to query"):
        read_nodes(json.dumps({"nodes": [], "errors": [CONTROLLER]}))


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        (
            "squeue: error: load_plugins: unable to find plugin: serializer/json\n",
            "squeue --json: Slurm's plugin serializer/json is not installed; install",
        ),
        (
            "squeue: x\nsqueue: error: find_plugin: unable to find plugin data_parser/v0.0.40\n",
            "squeue --json: Slurm's plugin data_parser/v0.0.40 is not installed; install",
        ),
        (
            "squeue: unrecognized option '--json'\n",
            "squeue --json: this option is missing, expected Slurm 21.08",
        ),
    ],
)
@pytest.mark.parametrize("status", [0, 1])
def test_a_missing_plugin_is_one_line_that_says_what_to_install(errors, message, status):
    client = Client(FakeCommands(squeue=(status, "", errors), scontrol=(1, "", errors)), 1.0, 1.0)
    with pytest.raises(InputError, match=f"^{message}") as found:
        client.jobs()
    assert "\n" not in str(found.value)
    # Other commands do not need it.
    assert client.release([7]) == {7: " ".join(errors.split())}


@pytest.mark.matrix
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("size", [1, 700, 5000])
def test_a_queue_that_arrives_in_parts_gives_the_same_rows(release, indent, size):
    text = queue_of(release, ROWS * 3, indent=indent).encode()
    reader = JobReader(piece=size)
    longest = 0
    for start in range(0, len(text), size):
        reader.feed(text[start : start + size])
        longest = max(longest, len(reader._left))
    assert reader.finish() == read_jobs(text)
    if indent is None and size < 5000:
        assert longest < len(text) / 4


@pytest.mark.parametrize("nested", [{"account": 3}, [{"account": 1}, {"account": 2}], [[], {"account": 1}]])
@pytest.mark.parametrize("size", [50, 2000])
def test_an_object_within_a_job_that_begins_like_a_job_is_no_job(nested, size):
    rows = [{"account": "", "nested": nested} | job_of("25.11.4", job(number)) for number in range(5)]
    text = json.dumps({"jobs": rows}).encode()
    reader = JobReader(piece=size)
    for start in range(0, len(text), size):
        reader.feed(text[start : start + size])
    assert [row.job for row in reader.finish()] == [0, 1, 2, 3, 4]
