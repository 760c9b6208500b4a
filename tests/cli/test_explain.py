"""``windlass explain``: a wait in sentences, from a folder of results."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOG = (ROOT / "examples" / "explain.swf").read_text()


@pytest.fixture
def ran(windlass, tmp_path):
    """The command, after a small log was run under three policies into `out`."""
    (tmp_path / "log.swf").write_text(LOG)
    assert (
        windlass("run", "log.swf", "--policies", "fcfs,easy,conservative", "--out", "out", "--no-check")[0]
        == 0
    )
    return windlass


def test_a_wait_in_sentences(ran):
    status, out, err = ran("explain", "out", "2", "--variant", "easy")
    assert (status, err) == (0, "")
    page = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
    assert [out] == re.findall(r"```text\n(.*?)```", page, flags=re.DOTALL)


def test_all_decisions(ran):
    changed = ran("explain", "out", "2", "--variant", "easy")[1].splitlines()
    everything = ran("explain", "out", "2", "--variant", "easy", "--all")[1].splitlines()
    assert set(changed) < set(everything)
    assert "after 2 s: no job starts; 0 processors stay idle." in everything


def test_a_job_that_did_not_wait(ran):
    out = ran("explain", "out", "1", "--variant", "fcfs")[1]
    assert "It started immediately: head of the queue." in out


def test_several_variants_are_a_line_each(ran):
    status, out, _ = ran("explain", "out", "3")
    assert status == 0
    assert out.splitlines() == [
        "Job 3 waited 1 min 48 s under fcfs, seed 1: head of the queue.",
        "Job 3 waited 0 s under easy, seed 1: backfilled, ends before the head can start.",
        "Job 3 waited 0 s under conservative, seed 1: backfilled, delays no reservation.",
        "Pass --variant with one of these to print each decision.",
    ]


def test_json(ran):
    tree = json.loads(ran("explain", "out", "2", "--variant", "easy", "--json")[1])
    assert (tree["job"], tree["start"], tree["why"]) == (2, 60.0, "head of the queue")
    assert [moment["promise"] for moment in tree["moments"]] == [60.0] * 5 + [None]
    several = json.loads(ran("explain", "out", "3", "--json")[1])
    assert [each["start_s"] for each in several["variants"]] == [110.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none", "1"], "none: no such folder, expected one with the results of `windlass run`"),
        ([".", "1"], ".: folder without scenario.yaml, expected one with the results of `windlass run`"),
        (["out", "9"], "JOB: out has no job 9 under fcfs, expected one of the 4 from 1 to 4"),
        (
            ["out", "1", "--variant", "esy"],
            "--variant: out has no 'esy', expected one of fcfs; easy; conservative; did you mean 'easy'?",
        ),
        (["out", "1", "--seed", "3"], "--seed: out has no 3, expected one of 1"),
    ],
)
def test_what_is_not_there_is_one_line(ran, arguments, said):
    assert ran("explain", *arguments) == (2, "", f"windlass: {said}\n")


def test_a_log_that_has_changed_since_is_told(ran, tmp_path):
    (tmp_path / "log.swf").write_text(LOG.replace("1 0 0 60", "1 0 0 30"))
    status, _, err = ran("explain", "out", "2", "--variant", "easy")
    assert status == 2
    assert "has changed since" in err


def test_a_table_that_is_none_is_told(ran, tmp_path):
    (tmp_path / "out" / "jobs.parquet").write_bytes(b"no table")
    status, _, err = ran("explain", "out", "2")
    assert status == 2
    assert err.startswith("windlass: out/jobs.parquet: cannot be read")


def test_a_world_that_cannot_be_gone_through_says_so(windlass, tmp_path):
    (tmp_path / "s.yaml").write_text(
        "world: fleet\ncluster: {alike: {sites: 2, slots: 4}}\nworkload: {fixed: {jobs: 5}}\npolicies: {order: swag}\n"
    )
    assert windlass("run", "s.yaml", "--out", "out")[0] == 0
    status, _, err = windlass("explain", "out", "1")
    assert status == 2
    assert "the world 'fleet' does not explain decisions; job 1 waited" in err
