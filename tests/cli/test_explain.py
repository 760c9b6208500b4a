"""``windlass explain``: the wait of a job in sentences, from a results folder."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
LOG = (ROOT / "examples" / "explain.swf").read_text()


@pytest.fixture
def windlass_after_run(windlass, tmp_path):
    """The command, after a small log was run under three policies into `out`."""
    (tmp_path / "log.swf").write_text(LOG)
    assert (
        windlass("run", "log.swf", "--policies", "fcfs,easy,conservative", "--out", "out", "--no-check")[0]
        == 0
    )
    return windlass


def test_the_wait_of_a_job_is_explained_as_documented(windlass_after_run):
    status, out, err = windlass_after_run("explain", "out", "2", "--variant", "easy")
    assert (status, err) == (0, "")
    page = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
    assert [out] == re.findall(r"```text\n(.*?)```", page, flags=re.DOTALL)


def test_all_prints_every_decision(windlass_after_run):
    changed = windlass_after_run("explain", "out", "2", "--variant", "easy")[1].splitlines()
    everything = windlass_after_run("explain", "out", "2", "--variant", "easy", "--all")[1].splitlines()
    assert set(changed) < set(everything)
    assert "after 2 s: no job starts; 0 processors stay idle." in everything


def test_a_job_that_started_immediately(windlass_after_run):
    out = windlass_after_run("explain", "out", "1", "--variant", "fcfs")[1]
    assert "It started immediately: head of the queue." in out


def test_each_variant_is_one_line(windlass_after_run):
    status, out, _ = windlass_after_run("explain", "out", "3")
    assert status == 0
    assert out.splitlines() == [
        "Job 3 waited 1 min 48 s under fcfs, seed 1: head of the queue.",
        "Job 3 waited 0 s under easy, seed 1: backfilled, ends before the head can start.",
        "Job 3 waited 0 s under conservative, seed 1: backfilled, delays no reservation.",
        "Pass --variant with one of these to print each decision.",
    ]


def test_json_has_the_start_the_reason_and_the_promises(windlass_after_run):
    tree = json.loads(windlass_after_run("explain", "out", "2", "--variant", "easy", "--json")[1])
    assert (tree["job"], tree["start"], tree["why"]) == (2, 60.0, "head of the queue")
    assert [moment["promise"] for moment in tree["moments"]] == [60.0] * 5 + [None]
    several = json.loads(windlass_after_run("explain", "out", "3", "--json")[1])
    assert [each["start_s"] for each in several["variants"]] == [110.0, 2.0, 2.0]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none", "1"], "none: no such folder, expected one with the results of `windlass run`"),
        ([".", "1"], ".: folder without scenario.yaml, expected one with the results of `windlass run`"),
        (["out", "x"], "JOB: out has no job x under fcfs, expected one of the 4 from 1 to 4"),
        (
            ["out", " "],
            "JOB: ' ' names no job, expected an identifier of the log as in 102_7, a number as in 17, "
            "or etl/3 or batch@iowa/17",
        ),
        (["out", "b/1"], "JOB: out has no job b/1 under fcfs, expected a number"),
        (["out", "#9"], "JOB: out has no job #9 under fcfs, expected one of the 4 from 1 to 4"),
        (["out", "9"], "JOB: out has no job 9 under fcfs, expected one of the 4 from 1 to 4"),
        (
            ["out", "1", "--variant", "esy"],
            "--variant: out has no 'esy', expected one of fcfs; easy; conservative; did you mean 'easy'?",
        ),
        (["out", "1", "--seed", "3"], "--seed: out has no 3, expected one of 1"),
    ],
)
def test_a_missing_folder_or_job_is_a_one_line_error(windlass_after_run, arguments, message):
    assert windlass_after_run("explain", *arguments) == (2, "", f"windlass: {message}\n")


def test_a_log_changed_since_the_run_is_an_error(windlass_after_run, tmp_path):
    (tmp_path / "log.swf").write_text(LOG.replace("1 0 0 60", "1 0 0 30"))
    status, _, err = windlass_after_run("explain", "out", "2", "--variant", "easy")
    assert status == 2
    assert "has changed since" in err


def test_a_corrupt_results_table_is_an_error(windlass_after_run, tmp_path):
    (tmp_path / "out" / "jobs.parquet").write_bytes(b"no table")
    status, _, err = windlass_after_run("explain", "out", "2")
    assert status == 2
    assert err.startswith("windlass: out/jobs.parquet: cannot be read")


def test_a_world_without_explanations_is_an_error(windlass, tmp_path):
    (tmp_path / "s.yaml").write_text(
        "world: fleet\ncluster: {alike: {sites: 2, slots: 4}}\nworkload: {fixed: {jobs: 5}}\npolicies: {order: swag}\n"
    )
    assert windlass("run", "s.yaml", "--out", "out")[0] == 0
    status, _, err = windlass("explain", "out", "1")
    assert status == 2
    assert "the world 'fleet' does not explain decisions; job 1 waited" in err


CLUSTER = """
world: cluster
seconds: 3600
begin: 36000
sites:
  iowa: {nodes: [{count: 6, cores: 8}]}
  oslo: {nodes: [{count: 6, cores: 8}]}
loads:
  batch: {rigid: {lublin: {jobs: 900, load: 5.0}}}
  etl: {staged: {drawn: {jobs: 2, tasks: 10}}}
"""


def test_jobs_of_a_cluster_are_named_by_load_site_and_number(windlass, tmp_path):
    (tmp_path / "s.yaml").write_text(CLUSTER)
    assert windlass("run", "s.yaml", "--out", "out")[0] == 0
    jobs = pl.read_parquet(tmp_path / "out" / "jobs.parquet").filter(site="oslo")
    number, first, last = jobs["job"][2], jobs["job"].min(), jobs["job"].max()
    status, out, err = windlass("explain", "out", f"batch@oslo/{number}")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[1].startswith(f"Job batch@oslo/{number} requested {jobs['procs'][2]} core")
    assert lines[3] == ""
    assert lines[4].startswith("after 0 s, order (easy): ")
    tree = json.loads(windlass("explain", "out", f"batch@oslo/{number}", "--json")[1])
    assert (tree["job"], tree["outcome"]["start_s"]) == (f"batch@oslo/{number}", jobs["start_s"][2])
    assert len(tree["steps"]) == len(lines) - 4
    names = ", ".join(f"batch@{site}/" for site in ("iowa", "oslo"))
    for name in (str(number), f"batch/{number}", "none@oslo/1"):
        status, _, err = windlass("explain", "out", name)
        assert status == 2
        assert f"JOB: out has no job {name} under" in err
        assert re.sub(r"\d", "", err).endswith(f"expected a name as in {names}, etl/\n")
    expected = f"expected one of the {len(jobs)} of batch@oslo in the table from {first} to {last}"
    error = f"windlass: JOB: out has no job batch@oslo/99999 under all decisions, {expected}\n"
    assert windlass("explain", "out", "batch@oslo/99999") == (2, "", error)
