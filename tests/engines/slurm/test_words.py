"""The meaning of Slurm's states, flags and comments, and the commands of each change."""

import json
import math

import pytest

from tests.engines.slurm.fake_commands import FakeCommands, job, jobs, node, nodes
from windlass.engines.slurm.client import Client, numbers
from windlass.engines.slurm.commands import Commands
from windlass.engines.slurm.job_reader import read_jobs
from windlass.engines.slurm.models import JobRow, NodeRow, Phase
from windlass.engines.slurm.node_reader import read_nodes
from windlass.model import BatchError


def one(row):
    (found,) = read_jobs(jobs(row))
    return found


STATES = {
    Phase.OVER: "COMPLETED CANCELLED FAILED TIMEOUT NODE_FAIL PREEMPTED BOOT_FAIL DEADLINE OUT_OF_MEMORY REVOKED",
    Phase.WAITS: "PENDING REQUEUED REQUEUE_HOLD REQUEUE_FED SPECIAL_EXIT RESV_DEL_HOLD",
    Phase.RUNS: "RUNNING SUSPENDED COMPLETING CONFIGURING STAGE_OUT SIGNALING STOPPED RESIZING",
}


@pytest.mark.parametrize(
    ("phase", "state"), [(key, each) for key, text in STATES.items() for each in text.split()]
)
def test_every_slurm_state_has_a_phase(phase, state):
    row = one(job(7, state))
    assert row.phase is phase
    assert row.held == (phase is Phase.WAITS)
    assert row.cancelled == (state in ("CANCELLED", "REVOKED"))


@pytest.mark.parametrize(
    ("fields", "shares", "restarts"),
    [
        ({"comment": "windlass share"}, True, False),
        ({"comment": "windlass restart share"}, True, True),
        ({"comment": "windlass restart"}, False, True),
        ({"comment": "windlass restart", "requeue": False}, False, False),
        ({"comment": "share restart"}, False, False),
        ({"comment": "windlass share restart", "array_task_string": "1-3"}, False, False),
        ({"comment": "windlass"}, False, False),
    ],
)
def test_a_comment_allows_sharing_and_restarts(fields, shares, restarts):
    row = one(job(7, **fields))
    assert (row.shares, row.may_restart) == (shares, restarts)


def test_every_field_of_a_row_is_read_from_slurm():
    fields = {
        "job_id": 71, "state_reason": "x", "submit_time": 1, "start_time": 2, "end_time": 3, "time_limit": 4,
        "cpus": 5, "node_count": 6, "nodes": "w[1-6]", "memory_per_node": 7, "memory_per_cpu": 99, "name": "n",
        "comment": "c", "user_name": "u", "partition": "p", "priority": 8, "restart_cnt": 9, "requeue": False,
        "het_job_id": 1, "suspend_time": 10, "pre_sus_time": 11,
        "account": "a", "qos": "q",
    }  # fmt: skip
    assert one(job(7, "RUNNING", **fields)) == JobRow(
        71, "RUNNING", "x", 1.0, 2.0, 3.0, 240.0, 5, "w[1-6]", 42 << 20, "n", "c", "u", "p", False, 9, False, True,
        10.0, 11.0, account="a", qos="q",
    )  # fmt: skip
    plain = one(job(7, memory_per_cpu=10, node_count=0, memory_per_node=5))
    assert (plain.memory, plain.many) == (30 << 20, False)
    made = node("w1", cpus=4, partitions=["a", "b"]) | {"real_memory": 100, "hostname": "here"}
    assert read_nodes(nodes(made)) == [NodeRow("w1", 4, True, ("a", "b"), 100 << 20, "here")]
    assert read_nodes(nodes(node("w1")))[0].memory == 0


FLAGS = (
    "DRAIN FAIL DOWN NOT_RESPONDING MAINTENANCE INVALID_REG REBOOT_ISSUED BLOCKED POWER_DOWN POWERING_DOWN"
    " POWER_DRAIN POWER_DOWN_ASAP POWER_DOWN_FORCE"
)


@pytest.mark.parametrize("flag", FLAGS.split())
def test_a_node_with_a_blocking_flag_is_not_up(flag):
    assert not read_nodes(nodes(node("w1", "idle", [flag])))[0].up
    assert not read_nodes(nodes(node("w1", "MIXED", ["CLOUD", flag.lower()])))[0].up
    assert read_nodes(nodes(node("w1", "MIXED", ["CLOUD"])))[0].up


def test_a_node_that_is_powered_down_is_up_because_slurm_powers_it_up():
    assert read_nodes(nodes(node("w1", "idle", ["CLOUD", "POWERED_DOWN"])))[0].up


def test_errors_of_slurm_are_named_by_their_text():
    fake = [{"description": "a", "error": "b"}, {"error": "c"}, {"errno": 5}]
    with pytest.raises(BatchError, match=r"squeue --json: a: b; c; \{'errno': 5\}"):
        read_jobs(jobs(errors=fake))
    with pytest.raises(BatchError, match="sinfo --json cannot be read: node w1: there is no field state"):
        read_nodes(json.dumps({"errors": [], "nodes": [{"name": "w1"}]}))


def client(**answers):
    return Client(FakeCommands(**answers), 1.0, 1.0)


def test_default_timeouts_are_five_minutes_and_one_per_command():
    plain = Client()
    assert (plain.run, plain.patience, plain.timeout) == (Commands(), 300.0, 60.0)


@pytest.mark.parametrize(
    ("call", "command"),
    [
        (lambda slurm: slurm.release([5, 3]), ("release", "5,3")),
        (lambda slurm: slurm.hold([5, 3]), ("uhold", "5,3")),
        (lambda slurm: slurm.requeue(5), ("requeuehold", "5")),
        (
            lambda slurm: slurm.update(5, ReqNodeList="w1", TimeLimit="7"),
            ("update", "JobId=5", "ReqNodeList=w1", "TimeLimit=7"),
        ),
        (lambda slurm: slurm.set_time_limit(5, 120.0), ("update", "JobId=5", "TimeLimit=2")),
        (lambda slurm: slurm.set_time_limit(5, 120.5), ("update", "JobId=5", "TimeLimit=3")),
        (lambda slurm: slurm.set_time_limit(5, math.inf), ("update", "JobId=5", "TimeLimit=UNLIMITED")),
    ],
)
def test_each_change_is_one_command(call, command):
    slurm = client(scontrol="")
    assert not call(slurm)
    assert slurm.run.recorded == [("scontrol", *command)]
    refused = client(scontrol=(1, "", "Access/permission denied"))
    if command[0] == "update":
        with pytest.raises(BatchError, match=f"job 5: {' '.join(command[2:])}: Access/permission denied"):
            call(refused)
    else:
        found = "Access/permission denied"
        assert call(refused) == (found if command[0] == "requeuehold" else {5: found, 3: found})


def test_the_reason_of_a_failed_command_is_stderr_stdout_or_its_status():
    silent = "scontrol ended with status 3"
    for answer, fake in (
        ((2, "out\n", "said  so\n"), "said so"),
        ((2, "out", ""), "out"),
        ((3, "", ""), silent),
    ):
        assert client(scontrol=answer).requeue(1) == fake


def test_cores_are_known_only_for_jobs_on_one_node():
    text = "JobId=7\n     Nodes=w1 CPU_IDs=0-2,7 Mem=0\n"
    assert client(scontrol=text).cores(7) == {0, 1, 2, 7}
    assert client(scontrol=text + "     Nodes=w2 CPU_IDs=3 Mem=0\n").cores(7) == frozenset()
    assert client(scontrol="JobId=7\n").cores(7) == frozenset()
    assert numbers("5") == {5}


def test_node_names_are_expanded_only_if_there_are_any():
    slurm = client(scontrol="w1\nw2\n")
    assert (slurm.hosts(""), slurm.run.recorded) == ((), [])
    assert slurm.hosts("w[1-2]") == ("w1", "w2")
    assert slurm.run.recorded == [("scontrol", "show", "hostnames", "w[1-2]")]


def test_a_setting_may_contain_equals_signs_and_a_missing_one_is_empty():
    slurm = client(scontrol="A = x=y\nAB = 2\nB = N/A\n")
    assert [slurm.setting(name) for name in ("A", "AB", "B", "C")] == ["x=y", "2", "", ""]


def test_commands_use_the_given_cluster_and_the_c_locale(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE")
    monkeypatch.setenv("SLURM_CONF", "/etc/other")
    say = ["sh", "-c", "echo $SLURM_CONF $LC_ALL $KEPT"]
    monkeypatch.setenv("KEPT", "kept")
    assert Commands()(say, 60.0) == (0, "/etc/other C.UTF-8 kept\n", "")
    assert Commands(tmp_path / "conf")(say, 60.0) == (0, f"{tmp_path}/conf C.UTF-8 kept\n", "")
    # Undecodable output is replaced, stdin is closed, and Ctrl-C reaches only the driver.
    assert Commands()(["printf", r"a\377b"], 60.0)[1] == "a\ufffdb"
    assert Commands()(["cat"], 60.0) == (0, "", "")
    _, own, _ = Commands()(["sh", "-c", "cut -d' ' -f1,6 /proc/self/stat; echo $$"], 60.0)
    (_, session), (shell,) = (line.split() for line in own.splitlines())
    assert session == shell
