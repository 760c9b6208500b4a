"""Requirements of a private Slurm: programs, control groups, and daemons."""

import os
import subprocess

from windlass.engines.slurm import host
from windlass.engines.slurm.daemons import launch


def test_missing_programs_and_rights_are_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(host, "program", lambda name: None if name in ("munged", "sinfo") else name)
    assert host.missing() == "munged, sinfo: not found; on Debian: apt-get install slurm-wlm munge"
    monkeypatch.setattr(host, "program", lambda name: name)
    monkeypatch.setattr(host.os, "geteuid", lambda: 5)
    assert "must be started as root" in host.missing()
    monkeypatch.setattr(host.os, "geteuid", lambda: 0)
    monkeypatch.setattr(host, "_GROUPS", tmp_path)
    assert "needs cgroups v1" in host.missing()
    (tmp_path / "memory").mkdir()
    assert host.missing() == ""


def test_a_command_uses_its_own_cluster_and_a_failed_one_returns_nothing(tmp_path, monkeypatch):
    assert host.ask(tmp_path, "sh", "-c", "echo $SLURM_CONF") == f"{tmp_path}/slurm.conf\n"
    assert host.ask(tmp_path, "sh", "-c", "echo out; exit 1") == ""

    def late(*given, **options):
        assert options["timeout"] > 0
        raise subprocess.TimeoutExpired("squeue", 30)

    monkeypatch.setattr(host.subprocess, "run", late)
    assert host.ask(tmp_path, "squeue") == ""


def test_only_empty_groups_of_its_own_nodes_are_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(host, "_GROUPS", tmp_path)
    for name in (
        "cpu/slurm_w1/uid_0/job_7",
        "memory/slurm_w1/uid_0",
        "cpu/slurm_w2/uid_0",
        "cpu/slurm_w3/uid_0",
    ):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "cpu" / "slurm_w3" / "uid_0" / "held").touch()
    host.remove_groups(["w1", "w3"])
    left = {str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*")}
    kept = "cpu/slurm_w3/uid_0"
    assert left == {
        "cpu",
        "memory",
        "cpu/slurm_w2",
        "cpu/slurm_w2/uid_0",
        "cpu/slurm_w3",
        kept,
        f"{kept}/held",
    }


def test_a_daemon_is_known_by_its_pid_file(tmp_path):
    file = tmp_path / "pid"
    file.write_text("1")
    command = ["sh", "-c", f"sleep 600 > /dev/null 2>&1 & echo $! > {file}; echo $WORD > {tmp_path}/word"]
    daemon = launch("sleeper", command, file, {"PATH": os.environ["PATH"], "WORD": "x"})
    try:
        assert (daemon.name, daemon.pid, daemon.alive) == ("sleeper", int(file.read_text()), True)
        assert (tmp_path / "word").read_text() == "x\n"
    finally:
        assert daemon.end()
