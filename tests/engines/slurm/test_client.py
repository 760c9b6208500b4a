"""Slurm's commands are retried while its controller is unreachable; other errors are final."""

import subprocess

import pytest

from tests.engines.slurm.fake_commands import NOBODY_THERE, TOO_LONG, FakeCommands, job, jobs, node, nodes
from windlass.engines.slurm.client import AwayError, Client
from windlass.model import BatchError, InputError

AWAY = (1, "", "Unexpected message received for job 5\nslurm_suspend error: Unexpected message received\n")


class Time:
    """A clock that advances only during sleeps."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds

    def client(self, fake, patience=100.0, lines=None):
        notify = (lambda line: None) if lines is None else lines.append
        return Client(fake, patience, 1.0, notify, self.sleep, lambda: self.now)


@pytest.mark.parametrize("away", [NOBODY_THERE, AWAY, TOO_LONG, (1, "", "slurm_load_jobs error: Zero Bytes")])
def test_jobs_are_queried_until_there_is_an_answer(away):
    time, lines = Time(), []
    found = time.client(FakeCommands(squeue=[away, away, jobs(job(7))]), lines=lines).jobs()
    assert [row.job for row in found] == [7]
    assert time.slept == [0.5, 1.0]
    assert len(lines) == 2
    assert "does not answer" in lines[0]
    assert "answers again" in lines[1]


def test_a_timeout_is_an_error_and_not_an_empty_queue():
    time = Time()
    with pytest.raises(AwayError, match=r"does not answer after .* s: .*Failed while looking for jobs"):
        time.client(FakeCommands(squeue=NOBODY_THERE)).jobs()
    assert 80.0 < time.now <= 100.0
    assert time.slept[:4] == [0.5, 1.0, 2.0, 4.0]
    assert max(time.slept) == 15.0


def test_a_release_is_retried_and_slurm_s_refusal_is_reported():
    time, refusal = (
        Time(),
        (1, "", "Job has already finished for job 5\nslurm_suspend error: Job has already finished\n"),
    )
    fake = FakeCommands(scontrol=[AWAY, ""])
    assert time.client(fake).release([5, 3]) == {}
    assert fake.recorded == [("scontrol", "release", "5,3")] * 2
    fake = FakeCommands(scontrol=refusal)
    assert time.client(fake).release([5]) == {5: "Job has already finished for job 5"}
    assert len(fake.recorded) == 1


def test_the_error_of_an_update_names_job_field_and_reason():
    client = Time().client(FakeCommands(scontrol=(1, "", "Access/permission denied")))
    with pytest.raises(BatchError, match=r"job 5: ReqNodeList=w2: Access/permission denied"):
        client.update(5, ReqNodeList="w2")


def test_a_missing_command_is_an_error():
    with pytest.raises(InputError, match="squeue: not found; on Debian: apt-get install slurm-wlm"):
        Time().client(FakeCommands(squeue=FileNotFoundError())).jobs()


def test_a_host_without_room_for_a_process_is_waited_for():
    time, full = Time(), OSError(11, "Resource temporarily unavailable")
    assert [row.job for row in time.client(FakeCommands(squeue=[full, jobs(job(7))])).jobs()] == [7]
    assert time.slept == [0.5]
    with pytest.raises(AwayError, match="squeue cannot be run: Resource temporarily unavailable"):
        time.client(FakeCommands(squeue=full), patience=0.0).jobs()


def test_a_command_that_may_not_be_run_is_an_error():
    with pytest.raises(InputError, match="squeue: Permission denied; expected a program that may be run"):
        Time().client(FakeCommands(squeue=PermissionError(13, "Permission denied"))).jobs()


def test_processes_of_a_job_are_listed_once_each():
    rows = ["PID JOBID STEPID", "7703  22  batch 0", "7704 22 batch - -", "7703 22 0", "-1 22 x - -", ""]
    text = "\n".join(rows)
    assert Time().client(FakeCommands(scontrol=text)).pids(22) == (7703, 7704)


def test_settings_are_read_literally():
    text = "Configuration data\nClusterName             = w\nJobCompLoc              = (null)\nAuthInfo = a=b,c\n"
    client = Time().client(FakeCommands(scontrol=text))
    assert [client.setting(name) for name in ("ClusterName", "JobCompLoc", "AuthInfo", "Absent")] == [
        "w",
        "",
        "a=b,c",
        "",
    ]


def test_nodes_are_read_by_name():
    assert [row.name for row in Time().client(FakeCommands(sinfo=nodes(node("w1"), node("w2")))).nodes()] == [
        "w1",
        "w2",
    ]


def test_commands_run_as_processes_and_are_stopped_at_their_limit():
    from windlass.engines.slurm.commands import Commands

    assert Commands()(["sh", "-c", "echo out; echo said >&2; exit 3"], 60.0) == (3, "out\n", "said\n")
    with pytest.raises(subprocess.TimeoutExpired):
        Commands()(["sleep", "60"], 0.05)


@pytest.mark.parametrize(
    ("errors", "line"),
    [
        (
            "scontrol: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\n"
            "scontrol: error: fetch_config: DNS SRV lookup failed\n"
            "scontrol: error: _establish_config_source: failed to fetch config\n"
            "scontrol: fatal: Could not establish a configuration source\n",
            "scontrol: Slurm finds no configuration here, expected a slurm.conf in its usual place or at $SLURM_CONF",
        ),
        (
            "scontrol: error: s_p_parse_file: cannot stat file /none/slurm.conf: No such file or directory,"
            " retrying in 1sec up to 60sec\nscontrol: fatal: Unable to process configuration file\n",
            "scontrol: /none/slurm.conf: No such file or directory, expected a slurm.conf",
        ),
        ("scontrol: error: other", "scontrol: error: other"),
    ],
)
def test_a_missing_configuration_is_one_clear_line(errors, line):
    client = Client(lambda command, timeout: (1, "", errors), 0.0)
    with pytest.raises(BatchError) as caught:
        client.setting("ClusterName")
    assert str(caught.value) == line
