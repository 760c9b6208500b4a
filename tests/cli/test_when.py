"""``windlass when``: the answer, as text and as JSON, and what is refused."""

import json
from pathlib import Path

import pytest

LOG = str(Path(__file__).parents[2] / "examples" / "log.swf")


def test_the_first_line_is_the_answer(windlass):
    status, out, _ = windlass("when", LOG, "--like", "procs=4,walltime=1h,user=2", "--check", "0")
    assert status == 0
    assert out.startswith("Such a job (4 processors, walltime 1 h of 2) starts in ")


@pytest.mark.slow
def test_json_has_the_answer_and_the_check(windlass):
    status, out, _ = windlass("when", LOG, "250", "--check", "120", "--json")
    answer = json.loads(out)
    assert (status, answer["job"], answer["level"]) == (0, "250", 0.9)
    assert answer["low_s"] <= answer["median_s"] <= answer["high_s"]
    status, out, _ = windlass("when", LOG, "--check", "20", "--json")
    assert json.loads(out)["jobs"] == 20
    assert windlass("when", LOG, "--at", "-5")[1].startswith("Checked on 0 earlier jobs")
    status, out, _ = windlass("when", LOG, "--waiting", "--at", "50000", "--check", "0", "--json")
    jobs = json.loads(out)["waiting"]
    assert len(jobs) == 16
    assert all(job["submit_s"] <= 50000 for job in jobs)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["9999"], "job 9999: no job of the log's 400 have this name, expected one"),
        (
            ["250", "--like", "procs=1,walltime=60"],
            "--like: describes a job to submit, expected either it or JOB",
        ),
        (["250", "--waiting"], "--waiting: predicts all jobs that wait, expected neither JOB nor --like"),
        (["250", "--at", "0", "--check", "0"], "job 250 does not wait at 0 s"),
        (
            ["--like", "procs=4,walltme=1h"],
            "--like: 'walltme' is no field in 'procs=4,walltme=1h', expected procs, walltime, user at most once,"
            " as in procs=64; did you mean 'walltime'?",
        ),
        (
            ["--like", "procs,walltime=1h"],
            "--like: 'procs' has no value in 'procs,walltime=1h', expected procs",
        ),
        (["--like", "procs=1"], "--like: 'procs=1' lacks walltime, expected procs and walltime"),
        (["--like", "procs=1,walltime=soon"], "--like: walltime is 'soon', expected a time such as 4h"),
        (["--like", "procs=x,walltime=60"], "--like: procs is 'x', expected a whole number such as 64"),
        (["--like", "procs=0,walltime=60"], "--like: procs is 0, expected a whole number of at least 1"),
        (
            ["--like", "procs=1,procs=2"],
            "--like: 'procs' is given twice in 'procs=1,procs=2', expected procs, walltime, user",
        ),
        (
            ["--like", "procs=65,walltime=60", "--check", "0"],
            "procs is 65, expected at most the site's processors, 64",
        ),
        (["--like", "procs=1,walltime=60,user=zoe", "--check", "0"], "user 'zoe' is not in the log"),
        (["--policy", "none"], "unknown policy 'none'"),
        (["--policy", "queue(priority=sjf"], "--policy: 'queue(priority=sjf' is not a policy"),
        (["--at", "nan"], "--at is nan, expected a time"),
    ],
)
def test_what_is_refused_is_one_line(windlass, words, said):
    status, out, err = windlass("when", LOG, *words)
    assert (status, out) == (2, "")
    assert said in err
    assert len(err.strip().splitlines()) <= 2
