"""Files and processes of a private Slurm: its processes stay known, and no other process is ended."""

import dataclasses
import itertools
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from windlass.engines.slurm.cluster import SlurmCluster, _make_key, down
from windlass.engines.slurm.config import ClusterPlan
from windlass.engines.slurm.daemons import Daemon, launch, wait_until
from windlass.engines.slurm.host import free_ports
from windlass.model import BatchError, InputError


@pytest.fixture
def sleeper():
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_a_process_is_ended_and_reported_gone(sleeper):
    daemon = Daemon.of("sleeper", sleeper.pid)
    assert daemon.alive
    assert daemon.end()
    assert not daemon.alive
    assert sleeper.wait() == -signal.SIGTERM
    assert not daemon.end()
    assert Daemon.of("sleeper", sleeper.pid) is None


@pytest.mark.parametrize("other", [{"began": 1}, {"boot": "another"}])
def test_a_reused_process_id_is_left_alone(sleeper, other):
    daemon = dataclasses.replace(Daemon.of("sleeper", sleeper.pid), **other)
    assert not daemon.alive
    assert not daemon.end()
    assert sleeper.poll() is None


@pytest.mark.slow
def test_a_process_that_ignores_sigterm_is_killed():
    code = (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(1, flush=True)\nsignal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as deaf:
        deaf.stdout.readline()
        assert Daemon.of("deaf", deaf.pid).end(patience=2.0)
        assert deaf.wait() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("echo no key >&2; exit 1", "no key"),
        ("echo no key; exit 1", "no key"),
        ("exit 3", "status 3, no output"),
    ],
)
def test_a_daemon_that_does_not_start_is_an_error_with_its_output(tmp_path, command, output):
    with pytest.raises(BatchError, match=f"^slurmctld does not start: {output}$"):
        launch("slurmctld", ["sh", "-c", command], tmp_path / "pid", {"PATH": "/usr/bin:/bin"})


def test_a_state_file_survives_saving_and_loading(tmp_path, sleeper):
    cluster = SlurmCluster(tmp_path, 4, 2, (Daemon.of("munged", sleeper.pid), Daemon("slurmctld", 1, 1, "x")))
    cluster.save()
    assert SlurmCluster.load(tmp_path) == cluster
    assert cluster.gone == ("slurmctld",)
    assert cluster.export == f"export SLURM_CONF={tmp_path}/slurm.conf"


def test_down_stops_exactly_the_processes_of_its_file(tmp_path, sleeper):
    other = subprocess.Popen(["sleep", "600"])
    try:
        stale = Daemon("slurmctld", other.pid, 1, "another boot")
        SlurmCluster(tmp_path, 1, 1, (Daemon.of("munged", sleeper.pid), stale)).save()
        assert down(tmp_path) == (f"stopped munged (process {sleeper.pid})",)
        assert other.poll() is None
        with pytest.raises(InputError, match="nothing was stopped"):
            down(tmp_path)
    finally:
        other.kill()
        other.wait()


def test_ports_differ_and_are_free():
    ports = free_ports(5)
    assert len(set(ports)) == 5
    assert all(0 < port < 65536 for port in ports)


def test_the_configuration_is_below_its_folder_and_on_loopback():
    plan = ClusterPlan(Path("/tmp/wl"), "here", 2, 4, 2**30, 7000, (7001, 7002))
    text = plan.slurm_conf()
    assert "SlurmctldHost=here(127.0.0.1)" in text
    assert text.count("NodeAddr=127.0.0.1") == 2
    assert "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny" in text
    paths = [
        word
        for line in text.splitlines()
        for word in line.replace("=", " ").replace(",", " ").split()
        if "/" in word
    ]
    written = [path for path in paths if path.startswith("/") and path != "/bin/true"]
    assert len(written) >= 7
    assert all(path.startswith("/tmp/wl/") for path in written)


@pytest.mark.parametrize("folder", ["wl", "./wl", "~/wl", "/tmp/w l", "/tmp/w,l", "/tmp/w\nl", "/tmp/w#l"])
def test_a_folder_that_slurm_conf_cannot_hold_is_refused(folder):
    with pytest.raises(
        InputError, match=r"^--dir: .*, expected a path of characters that slurm\.conf can hold$"
    ):
        ClusterPlan(Path(folder), "here", 1, 1, 2**30, 7000, (7001,))


def test_waiting_ends_with_its_timeout():
    assert wait_until(lambda: True, 0.0)
    assert not wait_until(lambda: False, 0.0)


def test_jobs_of_two_clusters_have_distinct_numbers():
    plans = [ClusterPlan(Path("/tmp/wl"), "here", 1, 1, 2**30, port, (9,)) for port in (1024, 40_000, 65_535)]
    firsts = [plan.first_job for plan in plans]
    assert all(f"FirstJobId={plan.first_job}\n" in plan.slurm_conf() for plan in plans)
    assert all(later - former >= 1000 for former, later in itertools.pairwise(firsts))
    # Slurm's default maximum.
    assert firsts[-1] + 1000 < 0x03FF0000


@pytest.mark.parametrize("before", [None, b"", b"k" * 128])
def test_a_key_is_complete_and_private_and_an_existing_one_is_kept(tmp_path, before):
    """A process that was killed while writing has left an empty key."""
    file = tmp_path / "key"
    if before is not None:
        file.touch(mode=0o600)
        file.write_bytes(before)
    _make_key(file)
    found = file.read_bytes()
    assert (len(found), file.stat().st_mode & 0o777) == (128, 0o600)
    assert not before or found == before
    assert [each.name for each in tmp_path.iterdir()] == ["key"]
