"""The simulator compared with Slurm: the runs, and each row, calculated by hand."""

import contextlib
import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.keyed import axes
from windlass.model import JobTable
from windlass_reproductions.sim_vs_live import on_slurm
from windlass_reproductions.sim_vs_live.site_case import Observed, mixed_jobs, start_order

JOBS = JobTable.of(np.zeros(4), [1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1], [60.0] * 4)
SEEN = Observed(
    np.array([0.0, 1.0, 2.0, 4.0]),
    np.array([1.5, 2.4, 3.6, 4.5]),
    np.array([0.1, 0.2, 0.3, 0.4]),
    np.array([0.2, 0.4, 0.6, 0.8]),
)


@pytest.mark.parametrize("delayed", [[0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 4.0, 2.0]])
def test_rows_on_slurm_match_a_hand_calculation(monkeypatch, delayed):
    by_run = {
        tuple(SEEN.occupied): np.array([0.0, 2.0, 1.0, 4.0]),
        (1.5, 2.5, 3.5, 4.5): np.array([0.0, 1.0, 2.0, 5.0]),
        (1.0, 2.0, 3.0, 4.0): np.array([0.0, 1.0, 2.0, 3.0]),
    }
    monkeypatch.setattr(
        on_slurm, "simulate_releases", lambda table, procs, policy: by_run[tuple(table.run)] + (procs != 8)
    )
    monkeypatch.setattr(on_slurm, "delayed_releases", lambda jobs, seen, procs, policy: np.array(delayed))
    policy = SimpleNamespace(name="easy")
    rows = on_slurm.rows_of(policy, JOBS, SEEN, 0.5)
    same = delayed == [0.0, 1.0, 2.0, 4.0]
    assert [(row.paper, row.ours) for row in rows] == [
        (4, 2),
        (1.75, 1.75),
        (4, 4 if same else 2),
        (1.75, 1.75),
        (2.0, 1.75),
        (1.5, 1.75),
        (None, 0.5),
    ]
    late = "starts are reported late"
    assert (late in rows[0].note) == same
    assert "first differ at position 2: job 2 in the real run, job 3 simulated" in rows[0].note
    assert "off by +0.00%" in rows[1].note
    assert "more than 5%" not in rows[1].note
    assert "off by +14.29%, more than 5%" in rows[4].note
    assert (": the latency differs between jobs" in rows[4].note) == same
    assert f"off by {1.5 / 1.75 - 1:+.1%}" in rows[5].note
    assert "0.50 s per job in this run (0.40 to 0.60)" in rows[5].note
    assert "0.50 s added per job; on Slurm" in rows[4].what


def test_pictures_on_slurm_count_jobs_by_release_time(monkeypatch):
    monkeypatch.setattr(on_slurm, "simulate_releases", lambda table, procs, policy: table.run[::-1] * 1.0)
    one = on_slurm._Compared(
        SimpleNamespace(name="easy"), JOBS, dataclasses.replace(SEEN, released=SEEN.released[::-1])
    )
    drawn = on_slurm._picture(one, 0.5)
    assert [(line.name, list(line.x), list(line.y)) for line in drawn.lines] == [
        ("on Slurm", [0.0, 1.0, 2.0, 4.0], [1, 2, 3, 4]),
        ("simulated with the mean latency", [1.5, 2.5, 3.5, 4.5], [1, 2, 3, 4]),
        ("simulated without latency", [1.0, 2.0, 3.0, 4.0], [1, 2, 3, 4]),
    ]
    assert axes(drawn) == ("easy", "s", "jobs")
    assert start_order(JOBS, [1.0, 0.0, 1.0, 0.5]) == [int(JOBS.job[at]) for at in (1, 3, 0, 2)]


@pytest.mark.parametrize("quick", [True, False])
def test_slurm_is_started_once_for_all_policies_and_shut_down(monkeypatch, quick, tmp_path):
    done, progress = [], []
    monkeypatch.setattr(on_slurm.tempfile, "mkdtemp", lambda prefix: str(tmp_path / "own"))
    cluster = SimpleNamespace(folder="folder")
    monkeypatch.setattr(
        on_slurm, "up", lambda folder, nodes, cpus: done.append(("up", nodes, cpus)) or (cluster, 0)
    )
    monkeypatch.setattr(on_slurm, "down", lambda folder: done.append(("down", folder)))
    monkeypatch.setattr(on_slurm, "simulate_releases", lambda *_: None)

    def run(where, jobs, policy):
        done.append((policy.name, len(jobs), jobs.run[0]))
        return SimpleNamespace(occupied=jobs.run + 0.5)

    monkeypatch.setattr(on_slurm, "_run", run)
    monkeypatch.setattr(on_slurm, "rows_of", lambda policy, jobs, seen, latency: [(policy.name, latency)])
    monkeypatch.setattr(on_slurm, "_picture", lambda one, latency: one.policy.name)
    found = on_slurm.SimVsSlurm().reproduce(quick=quick, notify=lambda *step: progress.append(step))
    first, count = (20, 30) if quick else (40, 200)
    runs = [
        (name, number, mixed_jobs(number, 8, np.random.default_rng([seed, 8])).run[0])
        for name, number, seed in (("easy", first, 2), ("easy", count, 1), ("conservative", count, 1))
    ]
    assert done == [("up", 4, 2), *runs, ("down", "folder")]
    assert found.rows[0].ours == pytest.approx(0.5)
    assert [(name, pytest.approx(0.5)) for name in ("easy", "conservative")] == list(found.rows[1:])
    assert found.pictures == ("easy", "conservative")
    assert progress == [
        ("calibration", 0.0),
        ("easy", pytest.approx(1 / 3)),
        ("conservative", pytest.approx(2 / 3)),
    ]


def test_jobs_are_submitted_held_with_a_time_limit_in_minutes(monkeypatch, tmp_path):
    calls = []

    def run(words, **given):
        calls.append(words)
        return SimpleNamespace(returncode=0, stdout=f"{len(calls)}\n", stderr="")

    monkeypatch.setattr(on_slurm.subprocess, "run", run)
    monkeypatch.setattr(on_slurm, "environment", lambda folder: {})
    assert on_slurm._submit(tmp_path, "sleep 2", 3, 120.0) == 1
    assert calls[0] == [
        "sbatch",
        "--parsable",
        "--hold",
        "--comment=windlass",
        "--output=/dev/null",
        "--ntasks=3",
        "--time=2",
        "--wrap=sleep 2",
    ]
    monkeypatch.setattr(
        on_slurm.subprocess,
        "run",
        lambda *_, **__: SimpleNamespace(returncode=1, stdout="", stderr="no\nway"),
    )
    with pytest.raises(on_slurm.BatchError, match="sbatch: no way"):
        on_slurm._submit(tmp_path, "sleep 2", 3, 120.0)


@pytest.mark.parametrize("numbers", [[1, 2, 3, 4], [1, 3, 2, 4]])
def test_a_run_on_slurm_needs_job_numbers_in_submission_order(monkeypatch, numbers):
    calls, left = [], iter(numbers)
    monkeypatch.setattr(on_slurm, "_submit", lambda *given: calls.append(given) or next(left))
    monkeypatch.setattr(on_slurm, "Client", lambda commands, patience: patience)
    monkeypatch.setattr(on_slurm, "Commands", lambda conf: conf)
    monkeypatch.setattr(on_slurm, "Journal", lambda path: contextlib.nullcontext(path.name))
    monkeypatch.setattr(on_slurm, "SlurmSystem", lambda *given: given)
    engine = SimpleNamespace(observed=lambda run: ("seen", run))
    systems = []
    monkeypatch.setattr(on_slurm, "observe", lambda system: systems.append(system) or engine)
    monkeypatch.setattr(on_slurm, "drive", lambda given, policies: policies)
    cluster = SimpleNamespace(folder="folder", conf="conf")
    if numbers != sorted(numbers):
        with pytest.raises(on_slurm.BatchError, match="not in the order of submission"):
            on_slurm._run(cluster, JOBS, "policy")
        return
    assert on_slurm._run(cluster, JOBS, "policy") == ("seen", {"order": "policy"})
    assert calls == [("folder", f"sleep {run:.1f}", 1, 60.0) for run in (1.0, 2.0, 3.0, 4.0)]
    ((client, journal, options),) = systems
    assert (client, journal, options.until_idle) == (60.0, "journal", True)
