"""Starting and stopping a private Slurm: programs, order and arguments; no program is run."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest

from windlass.engines.slurm import accounting, cluster
from windlass.engines.slurm.accounting import Accounting
from windlass.engines.slurm.cluster import SlurmCluster, down, up
from windlass.engines.slurm.daemons import Daemon
from windlass.model import BatchError, InputError


@pytest.fixture
def tmp_path():
    """A folder with a short name: sockets of a private Slurm allow 70 characters."""
    with TemporaryDirectory(prefix="wl") as folder:
        yield Path(folder)


@pytest.fixture
def machine(monkeypatch):
    """A machine on which every program is installed, starts at once, and ends on request."""
    found = SimpleNamespace(started=[], ended=[], recorded=[], outputs={"sinfo": "idle idle"}, up=set())

    def starts(name, command, pid_file, environment):
        found.started.append((name, [str(word) for word in command], str(pid_file), environment))
        found.up.add(name)
        return Daemon(name, 2**22 + 1, 1, "no boot")

    def ends(daemon, patience=10.0):
        there = daemon.name in found.up
        found.up.discard(daemon.name)
        found.ended.append((daemon.name, patience))
        return there

    def ask(folder, *command):
        found.recorded.append(command)
        output = found.outputs.get(command[0], "")
        return output.pop(0) if isinstance(output, list) else output

    for module in (cluster, accounting):
        monkeypatch.setattr(module, "launch", starts)
        monkeypatch.setattr(module, "ask", ask)
        monkeypatch.setattr(module, "_PATIENCE_S", 0.0)
        monkeypatch.setattr(module, "program", lambda name: f"/sbin/{name}")
    monkeypatch.setattr(cluster, "missing", lambda: "")
    monkeypatch.setattr(cluster, "accounting_missing", lambda: "")
    monkeypatch.setattr(cluster, "remove_groups", lambda names: found.recorded.append(("groups", *names)))
    monkeypatch.setattr(Daemon, "alive", property(lambda daemon: daemon.name in found.up))
    monkeypatch.setattr(Daemon, "end", ends)
    return found


def test_a_slurm_starts_in_order_and_clears_its_state_only_if_it_is_new(machine, tmp_path):
    folder = tmp_path / "s"
    made, fresh = up(folder, 2, 3)
    assert fresh
    assert [each[0] for each in machine.started] == ["munged", "slurmctld", "slurmd w1", "slurmd w2"]
    commands = {name: command for name, command, _, _ in machine.started}
    assert commands["slurmctld"] == ["/sbin/slurmctld", "-c"]
    assert commands["slurmd w2"] == ["/sbin/slurmd", "-N", "w2"]
    assert commands["munged"][:3] == ["/sbin/munged", "--force", f"--socket={folder}/munge/socket"]
    assert commands["munged"][3:] == [
        f"--{each}-file={folder}/munge/{each}" for each in ("key", "pid", "log", "seed")
    ]
    pids = [f"{folder}/{name}" for name in ("munge/pid", "slurmctld.pid", "slurmd-w1.pid", "slurmd-w2.pid")]
    assert [each[2] for each in machine.started] == pids
    assert all(each[3]["SLURM_CONF"] == f"{folder}/slurm.conf" for each in machine.started)
    assert SlurmCluster.load(folder) == made
    assert (made.nodes, made.cpus, made.accounting, len(made.daemons)) == (2, 3, False, 4)
    assert (made.gone, made.conf) == ((), folder / "slurm.conf")
    text = made.conf.read_text()
    assert text.count("CPUs=3") == text.count("NodeName=") == 2
    assert "ConstrainRAMSpace=yes" in (folder / "cgroup.conf").read_text()
    assert len((folder / "munge" / "key").read_bytes()) == 128
    assert folder.stat().st_mode & 0o777 == 0o755
    assert (folder / "spool" / "w2").is_dir()
    # It is up: nothing is started again.
    machine.started.clear()
    assert up(folder, 2, 3) == (made, False)
    assert machine.started == []
    # All daemons have ended: it is restarted with its state.
    machine.up.clear()
    again, fresh = up(folder, 2, 3)
    assert (fresh, len(again.daemons)) == (True, 4)
    assert {name: command for name, command, _, _ in machine.started}["slurmctld"] == ["/sbin/slurmctld"]


def test_a_slurm_that_cannot_be_started_is_an_error(machine, tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "mine").touch()
    with pytest.raises(InputError, match="is not empty, and `windlass slurm up` did not make it"):
        up(folder, 1, 1)
    (folder / "mine").unlink()
    machine.outputs["sinfo"] = "idle"
    up(folder, 1, 1)
    machine.started.clear()
    for sizes in ((2, 1), (1, 2)):
        with pytest.raises(
            InputError, match="has 1 nodes of 1 CPUs; to change them, run `windlass slurm down` first"
        ):
            up(folder, *sizes)
    with pytest.raises(
        InputError, match=r"--accounting: .* has no accounting; to change it, run `windlass slurm down` first"
    ):
        up(folder, 1, 1, accounting=True)
    machine.up.discard("munged")
    with pytest.raises(InputError, match=r"munged of .* has ended; run `windlass slurm down` first"):
        up(folder, 1, 1)
    assert machine.started == []


def test_a_slurm_whose_nodes_stay_down_is_stopped_again(machine, tmp_path):
    machine.outputs["sinfo"] = "idle down* mixed allocated"
    with pytest.raises(BatchError, match=r": nodes are not idle after 0 s; see .*/slurmctld.log"):
        up(tmp_path / "s", 2, 1)
    assert {name for name, _ in machine.ended} == {"munged", "slurmctld", "slurmd w1", "slurmd w2"}
    assert SlurmCluster.load(tmp_path / "s").daemons == ()
    # Three of four nodes are up.
    up(tmp_path / "s", 3, 1)


def test_jobs_end_first_then_daemons_and_munge_last(machine, tmp_path):
    folder = tmp_path / "s"
    machine.outputs["sinfo"] = "idle"
    machine.outputs["sacctmgr"] = "windlass\n"
    (folder / "database").mkdir(parents=True)
    (folder / "database" / "made").touch()
    cluster.SlurmCluster(folder, 1, 1, (), True).save()
    socket = folder / "database" / "socket"
    started = accounting.launch

    def starts(name, *given):
        daemon = started(name, *given)
        if name == "mariadbd":
            socket.touch()
        return daemon

    accounting.launch = starts
    try:
        made, _ = up(folder, 1, 1, accounting=True)
    finally:
        accounting.launch = started
    assert [daemon.name for daemon in made.daemons] == [
        "munged",
        "mariadbd",
        "slurmdbd",
        "slurmctld",
        "slurmd w1",
    ]
    assert "AccountingStoragePort" in made.conf.read_text()
    assert made.accounting
    machine.outputs["squeue"] = ["5\n6\n", ""]
    machine.recorded.clear()
    output = down(folder)
    assert output[0] == "cancelled 2 jobs"
    assert [each.split()[1] for each in output[1:]] == [
        "slurmctld",
        "slurmd",
        "slurmdbd",
        "mariadbd",
        "munged",
    ]
    assert ("scancel", "--full", "5", "6") in machine.recorded
    assert ("groups", "w1") in machine.recorded
    left = {each.name for each in folder.iterdir()}
    assert left == {"windlass.json", "slurm.conf", "cgroup.conf"}
    with pytest.raises(InputError, match="nothing was stopped"):
        down(folder)


@pytest.mark.parametrize("gone", ["munged", "slurmctld"])
def test_jobs_are_not_queried_without_munge_or_controller(machine, tmp_path, gone):
    machine.outputs["sinfo"] = "idle"
    up(tmp_path / "s", 1, 1)
    machine.up.discard(gone)
    machine.recorded.clear()
    output = down(tmp_path / "s")
    assert len(output) == 2
    assert [command for command in machine.recorded if command[0] == "squeue"] == []


def test_one_daemon_is_restarted_with_its_state(machine, tmp_path):
    machine.outputs["sinfo"] = "idle"
    made, _ = up(tmp_path / "s", 1, 1)
    made.stop("slurmctld")
    assert [name for name, _ in machine.ended] == ["slurmctld"]
    machine.started.clear()
    now = made.start("slurmctld")
    assert [each[:2] for each in machine.started] == [("slurmctld", ["/sbin/slurmctld"])]
    assert [daemon.name for daemon in now.daemons] == ["munged", "slurmd w1", "slurmctld"]
    assert SlurmCluster.load(tmp_path / "s") == now


@pytest.mark.parametrize(("name", "socket"), [("munged", "munge"), ("mariadbd", "database")])
def test_a_leftover_socket_is_removed_only_by_its_own_daemon(machine, tmp_path, name, socket):
    machine.outputs["sinfo"] = "idle"
    made, _ = up(tmp_path / "s", 1, 1)
    (tmp_path / "s" / "database").mkdir()
    left = tmp_path / "s" / socket / "socket"
    left.touch()
    for other in ("slurmctld", "slurmd w1", "slurmdbd"):
        made.start(other)
        assert left.exists()
    made.start(name)
    assert not left.exists()


@pytest.mark.parametrize(
    "changed", [{"pid": 0}, {"pid": -5}, {"pid": "7"}, {"began": 1.5}, {"pid": True}, {"more": 1}]
)
def test_processes_are_ended_only_by_a_valid_state_file(tmp_path, changed):
    daemon = {"name": "munged", "pid": 7, "began": 5, "boot": "x"}
    SlurmCluster(tmp_path, 1, 1, (Daemon(**daemon),)).save()
    file = tmp_path / "windlass.json"
    tree = json.loads(file.read_text())
    tree["daemons"] = [daemon | changed]
    file.write_text(json.dumps(tree))
    with pytest.raises(InputError, match=r"windlass.json: cannot be read"):
        SlurmCluster.load(tmp_path)
    assert SlurmCluster.load(tmp_path / "none") is None


def test_a_database_is_created_once_and_an_unfinished_one_again(machine, tmp_path, monkeypatch):
    books, made = Accounting(tmp_path), []
    monkeypatch.setattr(
        accounting.subprocess,
        "run",
        lambda command, **options: made.append(command) or SimpleNamespace(returncode=0),
    )
    (tmp_path / "database" / "data").mkdir(parents=True)
    (tmp_path / "database" / "data" / "half").touch()
    books.prepare(7003)
    assert made[0][0] == "/sbin/mariadb-install-db"
    assert f"--datadir={tmp_path}/database/data" in made[0]
    assert not (tmp_path / "database" / "data" / "half").exists()
    conf = tmp_path / "slurmdbd.conf"
    assert ("DbdPort=7003" in conf.read_text(), conf.stat().st_mode & 0o777) == (True, 0o600)
    books.prepare(7004)
    assert (len(made), "DbdPort=7004" in conf.read_text()) == (1, True)
    (tmp_path / "database" / "made").unlink()
    failed = SimpleNamespace(returncode=1, stdout="no\n  room", stderr="")
    monkeypatch.setattr(accounting.subprocess, "run", lambda command, **options: failed)
    with pytest.raises(BatchError, match="mariadb-install-db failed: no room"):
        books.prepare(7003)
    assert not (tmp_path / "database" / "made").exists()


def test_accounting_daemons_keep_their_files_below_the_folder(machine, tmp_path):
    books = Accounting(tmp_path)
    books.launch("mariadbd")
    books.launch("slurmdbd")
    (_, database, pid, _), (_, daemon, its, environment) = machine.started
    assert pid == f"{tmp_path}/database/pid"
    assert database[:2] == ["sh", "-c"]
    assert database[4:7] == [f"{tmp_path}/mariadbd.log", pid, "/sbin/mariadbd"]
    assert {"--skip-networking", f"--socket={tmp_path}/database/socket"} <= set(database)
    assert (daemon, its) == (["/sbin/slurmdbd"], f"{tmp_path}/slurmdbd.pid")
    assert environment["MYSQL_UNIX_PORT"] == f"{tmp_path}/database/socket"


def test_accounting_is_ready_once_it_knows_the_cluster(machine, tmp_path):
    books, daemon = Accounting(tmp_path), Daemon("slurmdbd", 5, 1, "x")
    machine.up.add("slurmdbd")
    machine.outputs["sacctmgr"] = ["", "", "windlass\n"]
    books.settle(daemon, "windlass")
    assert ("sacctmgr", "--immediate", "add", "cluster", "windlass") in machine.recorded
    machine.outputs["sacctmgr"] = ""
    with pytest.raises(BatchError, match=r"slurmdbd does not answer; see .*/slurmdbd.log"):
        books.settle(daemon, "windlass")
