"""Metrics for Prometheus, and the structured log, of a driver."""

import json
import math
import socket
import urllib.request
from dataclasses import fields
from datetime import datetime

import pytest

from tests.engines.slurm.fake_commands import job, jobs
from tests.engines.slurm.strict import Strict
from tests.engines.slurm.test_system import Bench
from windlass.cli.output import log_json
from windlass.engines.batch import driver_lock as lock
from windlass.engines.batch.log_entry import LogEntry, log_tree
from windlass.engines.batch.metrics import driver_metrics, metric_values
from windlass.engines.batch.status import Contact, DriverStatus
from windlass.engines.prometheus import MetricsServer
from windlass.engines.slurm import driver
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.driver import drive_slurm, plan_slurm
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import InputError
from windlass.order.site.policies.fcfs import Fcfs

#: A state in which each value differs from all others.
STATUS = DriverStatus(
    decisions=2, started=3, refusals=4, waiting=5, running=6, stuck=7, processors=8, capacity_falls=9, polls=10,
    poll_seconds=11.5, last_poll_seconds=12.5, lag=13.5, polled=1000.0, contact=Contact(True, 15.5, 16),
)  # fmt: skip
PAGE = {
    "decisions_total": 2.0, "started_jobs_total": 3.0, "refusals_total": 4.0, "queue_jobs": 5.0, "running_jobs": 6.0,
    "stuck_jobs": 7.0, "processors": 8.0, "capacity_falls_total": 9.0, "polls_total": 10.0, "poll_seconds_total": 11.5,
    "last_poll_seconds": 12.5, "lag_seconds": 13.5, "poll_age_seconds": 14.5, "unreachable": 1.0,
    "unreachable_seconds_total": 15.5, "outages_total": 16.0,
}  # fmt: skip


def page(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        return answer.read().decode()


def values(text):
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name.removeprefix("windlass_slurm_"): float(value) for name, _, value in lines}


def test_the_page_has_each_metric_with_its_present_value():
    pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")
    status = DriverStatus(**{each.name: getattr(STATUS, each.name) for each in fields(STATUS)})
    source = driver_metrics("slurm", "Slurm", status)
    with MetricsServer(source, "127.0.0.1", 0, lambda: 1014.5) as server:
        assert values(page(server.port)) == PAGE
        assert "# TYPE windlass_slurm_decisions_total counter" in page(server.port)
        assert "# TYPE windlass_slurm_queue_jobs gauge" in page(server.port)
        status.waiting = 50
        assert values(page(server.port))["queue_jobs"] == 50.0
        with pytest.raises(InputError, match=rf"^metrics: cannot listen at 127.0.0.1, port {server.port}: "):
            MetricsServer(source, "127.0.0.1", server.port)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", server.port), timeout=60)


def test_before_the_first_poll_its_age_is_unknown():
    assert sum(math.isnan(value) for value in metric_values(DriverStatus(), 5.0)) == 1
    assert not any(math.isnan(value) for value in metric_values(STATUS, 5.0))


@pytest.fixture
def strict(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_folder", lambda: tmp_path)
    monkeypatch.setattr(driver, "detect_groups", lambda name: None)
    return Strict()


def client_of(slurm):
    return Client(slurm, 1.0, 1.0, sleep=lambda seconds: None)


def test_a_driver_counts_its_decisions(strict, tmp_path):
    for number in (7, 8):
        strict.submit(number, 4)
    strict.submit(9, 5)
    client = client_of(strict)
    status, lines = DriverStatus(contact=client.contact), []
    driving = Driving({"order": Fcfs()}, tmp_path / "journal", SlurmOptions(pace=0.0, until_idle=True))
    drive_slurm(client, driving, lines.append, status)
    assert (status.started, status.refusals, status.stuck, status.left_held) == (2, 0, 1, 0)
    assert status.decisions >= 2
    assert 0.0 <= status.lag < 60.0
    trees = [log_tree(line, "now") for line in lines]
    assert [(tree["event"], tree.get("jobs")) for tree in trees] == [
        ("cannot_start", [9]),
        ("start", [7]),
        ("start", [8]),
        ("given_back", [9]),
    ]
    assert trees[0]["reason"] == "it requests 5 processors, partition share has 4"
    assert [tree["waiting"] for tree in trees[1:3]] == [1, 0]


def test_jobs_that_stay_held_are_counted(strict, tmp_path):
    strict.submit(9, 5)
    client = client_of(lambda command, timeout: refusing(strict, command, timeout))
    status, lines = DriverStatus(contact=client.contact), []
    driving = Driving({"order": Fcfs()}, tmp_path / "journal", SlurmOptions(pace=0.0, until_idle=True))
    drive_slurm(client, driving, lines.append, status)
    assert status.left_held == 1
    assert (log_tree(lines[-1], "")["event"], log_tree(lines[-1], "")["jobs"]) == ("still_held", [9])
    assert lines[-1] == "job 9 stays held: denied; `windlass slurm give-back` releases them"


def test_commands_that_are_gone_at_the_end_leave_a_line_on_held_jobs(strict, tmp_path):
    strict.submit(8, 4, looks=100)
    strict.submit(9, 4)
    gone = []
    strict.at[5] = lambda: gone.append(True)

    def run(command, timeout):
        if gone:
            raise FileNotFoundError(command[0])
        return strict(command, timeout)

    client = client_of(run)
    status, lines = DriverStatus(contact=client.contact), []
    driving = Driving({"order": Fcfs()}, tmp_path / "journal", SlurmOptions(pace=0.0, until_idle=True))
    with pytest.raises(InputError, match="not found"):
        drive_slurm(client, driving, lines.append, status)
    assert lines[-1].startswith("jobs may still be held; `windlass slurm give-back` releases them: s")
    assert status.left_held == 1


def refusing(slurm, command, timeout):
    return (1, "", "denied for job 9") if command[1] == "release" else slurm(command, timeout)


def test_a_line_of_the_structured_log_is_one_json_object(capsys):
    log_json(LogEntry.of("start 7: fi\nts", "start", jobs=[7], waiting=0))
    log_json("plain")
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert datetime.fromisoformat(first.pop("time")).tzinfo is not None
    assert first == {"event": "start", "message": "start 7: fi\nts", "jobs": [7], "waiting": 0}
    assert (second["event"], second["message"]) == ("notice", "plain")


def test_outages_are_events(tmp_path):
    found = Bench(tmp_path, squeue=[(1, "", "Socket timed out"), jobs(job(7))])
    found.poll()
    assert [line.event for line in found.lines] == ["unreachable", "reachable"]


def test_a_dry_run_writes_nothing_anywhere(strict, tmp_path, monkeypatch):
    """Neither the journal, nor its folder, nor a lock is made, and Slurm is only read."""
    strict.submit(7)
    opened = []
    monkeypatch.setattr(lock.os, "open", lambda *given: opened.append(given))
    before = sorted(tmp_path.rglob("*"))
    driving = Driving({"order": Fcfs()}, tmp_path / "none" / "journal", SlurmOptions())
    assert plan_slurm(client_of(strict), driving)[-1] == "scontrol release 7"
    assert (sorted(tmp_path.rglob("*")), strict.changes(), opened) == (before, [], [])
