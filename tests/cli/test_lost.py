"""Results of earlier runs: when a run replaces them, refuses to, or resumes."""

import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from windlass.experiment.checkpoint import _metrics, begin
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.model.calendar import Calendar
from windlass.results import Outcome, Series, SiteFlow, SiteMap, SiteUse
from windlass.results.metrics.site import BatchMetrics

SMALL = ["run", "--policies", "easy", "--seeds", "1"]
SWEEP = """
name: sweep
workload: {lublin: {jobs: 3000, load: 0.9}}
cluster: {processors: [64, 128]}
policies: {order: [fcfs, easy]}
seeds: [1, 2, 3]
"""
FILES = {"jobs.parquet", "metrics.parquet", "scenario.yaml"}
COMMAND = [sys.executable, "-m", "windlass"]


def names(folder):
    return {each.name for each in Path(folder).iterdir()}


def contents(folder):
    return {each.name: each.read_bytes() for each in sorted(Path(folder).iterdir())}


def test_results_are_replaced_only_with_force(windlass, tmp_path):
    assert windlass(*SMALL, "--out", "out")[0] == 0
    before = contents("out")
    status, _, err = windlass("run", "--policies", "fcfs", "--out", "out")
    assert (status, err) == (2, "windlass: --out: out has results already; --force replaces them\n")
    assert contents("out") == before
    assert windlass("run", "--policies", "fcfs", "--out", "out", "--force")[0] == 0
    assert contents("out") != before
    assert names(tmp_path) == {"out"}


@pytest.mark.parametrize("option", ["--force", "--resume"])
def test_force_and_resume_require_out(windlass, option):
    status, _, err = windlass(*SMALL, option)
    assert (status, err) == (2, f"windlass: {option}: needs --out, which is missing\n")


@pytest.mark.matrix(0)
def test_a_report_is_replaced_but_never_an_input(windlass, tmp_path):
    for _ in range(2):
        assert windlass(*SMALL, "--report", "r.html")[0] == 0
    log = tmp_path / "x.swf"
    log.write_text("; MaxProcs: 4\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n")
    (tmp_path / "s.yaml").write_text("workload: {trace: x.swf}\npolicies: {order: easy}\n")
    (tmp_path / "notes.html").write_text("<html>mine</html>")
    for target, place, message in (
        ("x.swf", "x.swf", "x.swf is an input"),
        ("s.yaml", "x.swf", "x.swf is an input"),
        ("s.yaml", "s.yaml", "s.yaml is an input"),
        ("x.swf", "notes.html", "notes.html exists and was not written by Windlass"),
    ):
        before = (tmp_path / place).read_bytes()
        status, _, err = windlass("run", target, "--policies", "easy", "--report", place)
        assert (status, message in err, len(err.splitlines())) == (2, True, 1)
        assert (tmp_path / place).read_bytes() == before


def interrupted_sweep(folder, *options):
    """A sweep into ``out`` , killed once two cells were saved; return their modification times."""
    (folder / "s.yaml").write_text(SWEEP)
    run = subprocess.Popen(
        [*COMMAND, "run", "s.yaml", "--out", "out", *options], cwd=folder, stderr=subprocess.DEVNULL
    )
    partial = folder / ".out.partial"
    while run.poll() is None and not (partial.is_dir() and len(list(partial.glob("?-?"))) >= 2):
        time.sleep(0.001)
    run.kill()
    run.wait()
    return {each.name: (each / "jobs.parquet").stat().st_mtime_ns for each in partial.glob("?-?")}


@pytest.mark.slow
def test_a_killed_sweep_resumes_to_identical_results(windlass, tmp_path):
    kept = interrupted_sweep(tmp_path)
    assert 2 <= len(kept) < 12, "the run ended before it could be killed"
    assert not (tmp_path / "out").exists()
    status, _, err = windlass("run", "s.yaml", "--out", "out")
    assert status == 2
    assert "has an unfinished run; --resume continues it, --force starts over" in err
    done = subprocess.run(
        [*COMMAND, "run", "s.yaml", "--out", "out", "--resume"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert windlass("run", "s.yaml", "--out", "whole")[0] == 0
    assert contents("out") == contents("whole")
    assert names(tmp_path) == {"out", "whole", "s.yaml"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("fcfs, easy", "the scenario changed since"),
        ("damage", "is corrupt"),
    ],
)
def test_a_changed_scenario_or_checkpoint_is_not_resumed(windlass, tmp_path, change, message):
    kept = interrupted_sweep(tmp_path)
    if change == "damage":
        (tmp_path / ".out.partial" / next(iter(kept)) / "outcome.json").write_text('{"kind": "os:system"}')
    else:
        (tmp_path / "s.yaml").write_text(SWEEP.replace(change, "easy, fcfs"))
    status, _, err = windlass("run", "s.yaml", "--out", "out", "--resume")
    assert (status, message in err) == (2, True)


def test_resume_without_a_checkpoint_is_rejected(windlass):
    status, _, err = windlass(*SMALL, "--out", "out", "--resume")
    assert status == 2
    assert "no interrupted run to continue" in err


def test_a_checkpoint_can_only_import_metrics_classes():
    for kind in ("os:system", "windlass.results.metrics.site:np", "windlass.cli:main"):
        with pytest.raises(ValueError, match="is not a class of metrics"):
            _metrics(kind, {})


def children(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(each) for each in listed.stdout.split()]


def alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


@pytest.mark.slow
def test_workers_exit_when_their_parent_is_killed(tmp_path):
    (tmp_path / "s.yaml").write_text(SWEEP.replace("3000", "60000"))
    run = subprocess.Popen([*COMMAND, "run", "s.yaml", "-j", "2"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    while len(workers := children(run.pid)) < 3 and run.poll() is None:
        time.sleep(0.01)
    run.kill()
    run.wait()
    assert workers
    until = time.monotonic() + 300
    while any(alive(pid) for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in workers if alive(pid)]


@pytest.mark.slow
def test_of_two_concurrent_runs_into_one_folder_one_succeeds(tmp_path):
    (tmp_path / "s.yaml").write_text(SWEEP)
    runs = [
        subprocess.Popen(
            [*COMMAND, "run", "s.yaml", "--out", "out"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    message = [run.communicate()[1] for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 2]
    assert any(
        "another command is writing to out" in each or "has results already" in each for each in message
    )
    assert names(tmp_path / "out") == FILES


def test_results_from_a_checkpoint_equal_fresh_ones(tmp_path):
    scenario = make_scenario({"workload": {"lublin": {"jobs": 20}}, "policies": {"order": ["easy", "sjf"]}})
    kept = begin(tmp_path / "cells", scenario.as_run)
    first = run(scenario, checkpoint=kept)
    again = run(scenario, checkpoint=kept)
    assert again.metrics().equals(first.metrics())
    assert again.jobs().equals(first.jobs())
    assert kept.count() == 2


def test_a_checkpoint_keeps_time_series_and_written_files(tmp_path):
    seen = Series("accuracy", np.array([0.0, 1.0, 2.5]), np.array([0.1, np.nan]), True, "iowa", "web")
    metrics = BatchMetrics(1, 0.0, 0.0, 0.0, 60.0, 1.0, 0.5, 60.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0)
    table = pl.DataFrame({"job": [1], "why": ["it is first"]})
    flows = (SiteFlow("etl", "iowa", "oslo", 5.0), SiteFlow("web", "oslo", "iowa", tasks=7))
    sites = SiteMap((SiteUse("iowa", 8.0, 0.5), SiteUse("oslo", 0.0, math.nan)), flows)
    calendar = Calendar(1132444805.0, "Europe/London")
    outcome = Outcome(
        3, metrics, table, 8, ("a note",), (("a.txt", b"\x00"),), (seen,), 0.25, sites, calendar
    )
    kept = begin(tmp_path / "cells", "seeds: [3]")
    kept.add(0, outcome)
    again = kept.get(0, 3)
    assert (again.metrics, again.notes, again.written) == (metrics, ("a note",), (("a.txt", b"\x00"),))
    assert again.cut_share == 0.25
    assert (repr(again.site_map), again.calendar) == (repr(sites), calendar)
    assert again.jobs.equals(table)
    (found,) = again.series
    assert (found.name, found.percent, found.site, found.load) == ("accuracy", True, "iowa", "web")
    assert found.time.tobytes() == seen.time.tobytes()
    assert found.value.tobytes() == seen.value.tobytes()
