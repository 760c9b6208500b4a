"""Identifiers of jobs as the log has them: in tables, notes and `windlass explain`."""

import json

import polars as pl
import pytest

SACCT = """\
JobID|Submit|Start|End|Timelimit|AllocCPUS|State|User
102_7|2024-05-01T12:00:00|2024-05-01T12:00:00|2024-05-01T12:10:00|00:20:00|4|COMPLETED|ann
102_8|2024-05-01T12:01:00|2024-05-01T12:10:00|2024-05-01T12:15:00|00:10:00|8|COMPLETED|bob
102_[9-12]|2024-05-01T12:01:00|Unknown|Unknown|00:10:00|0|PENDING|bob
5+0|2024-05-01T12:02:00|2024-05-01T12:15:00|2024-05-01T12:17:00|00:05:00|2|COMPLETED|ann
5+1|2024-05-01T12:02:00|2024-05-01T12:15:00|2024-05-01T12:17:00|00:05:00|8|COMPLETED|ann
"""
IDS = ["102_7", "102_8", "5+0", "5+1"]


def pod(name, place):
    start = f"2024-05-01T12:0{place}:00Z"
    ended = {"terminated": {"startedAt": start, "finishedAt": "2024-05-01T12:30:00Z"}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team", "creationTimestamp": start},
        "spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "4"}}}]},
        "status": {"phase": "Succeeded", "containerStatuses": [{"name": "a", "state": ended}]},
    }


def ray_job(name, place):
    return {
        "submission_id": name,
        "entrypoint": "python a.py",
        "status": "SUCCEEDED",
        "start_time": 1714564800000 + place,
        "end_time": 1714564860500,
    }


PODS = {"kind": "PodList", "items": [pod(name, place) for place, name in enumerate(("train-0-x7", "b"))]}
RAY = [ray_job(name, place) for place, name in enumerate(("raysubmit_aB", "raysubmit_cD"))]


@pytest.fixture
def after_run(windlass, tmp_path):
    """The command, after a run of the log into `out`."""

    def run(text, *options, name="log.txt"):
        (tmp_path / name).write_text(text)
        status, _, err = windlass("run", name, "--policies", "fcfs", "--out", "out", *options)
        assert status == 0, err
        return pl.read_parquet(tmp_path / "out" / "jobs.parquet"), " ".join(err.split())

    return run


def test_array_tasks_and_heterogeneous_jobs_keep_their_identifiers(windlass, after_run):
    jobs, err = after_run(SACCT)
    replayed = jobs.filter(variant="fcfs")
    assert replayed["job_id"].to_list() == IDS
    assert replayed["job"].to_list() == [1, 2, 3, 4]
    assert "renumbered" not in err
    for job, name in enumerate(IDS, start=1):
        status, out, _ = windlass("explain", "out", name, "--variant", "fcfs")
        assert (status, out.splitlines()[1].split(" requested")[0]) == (0, f"Job {name}")
        assert windlass("explain", "out", f"#{job}", "--variant", "fcfs")[1] == out


def test_other_jobs_are_named_by_their_identifiers_too(windlass, after_run):
    after_run(SACCT, "--procs", "8")
    out = windlass("explain", "out", "5+1", "--variant", "fcfs", "--all")[1]
    assert "It started when job 5+0 ended" in out
    assert "earlier job 5+0 starts" in out
    tree = json.loads(windlass("explain", "out", "5+1", "--variant", "fcfs", "--json")[1])
    assert (tree["job"], tree["job_id"]) == (4, "5+1")
    assert tree["job_ids"] == {str(job): name for job, name in enumerate(IDS, start=1)}


def test_notes_name_the_identifier(after_run):
    _, err = after_run(SACCT.replace("|8|COMPLETED|ann", "|2|COMPLETED|ann"), "--procs", "4")
    assert "job 102_8 (8)" in err


@pytest.mark.parametrize(
    ("format_", "tree", "ids"),
    [("kubectl", PODS, ["train-0-x7", "b"]), ("ray", RAY, ["raysubmit_aB", "raysubmit_cD"])],
)
def test_pods_and_ray_jobs_keep_their_names(windlass, after_run, format_, tree, ids):
    jobs, err = after_run(json.dumps(tree), "--format", format_, name="log.json")
    assert jobs.filter(variant="fcfs")["job_id"].to_list() == ids
    assert "renumbered" not in err
    explained = windlass("explain", "out", ids[1], "--variant", "fcfs")[1]
    assert explained.splitlines()[1].startswith(f"Job {ids[1]} ")


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("cells", "jobs", "ids"),
    [
        (["7", "9"], [7, 9], None),
        (["7.0", "9.0"], [7, 9], None),
        (["a/b-1", "9"], [1, 2], ["a/b-1", "9"]),
        (["007", "9"], [1, 2], ["007", "9"]),
        (["-7", "9"], [1, 2], ["-7", "9"]),
        (["a", ""], [1, 2], ["a", None]),
        (["12345678901234567890", "9"], [1, 2], ["12345678901234567890", "9"]),
        (["7", "7"], [1, 2], ["7", "7"]),
    ],
)
def test_a_table_may_have_any_identifiers(windlass, after_run, cells, jobs, ids):
    lines = [f"{cell},{place},60,4" for place, cell in enumerate(cells)]
    found = after_run("\n".join(["job_id,submit,run,procs", *lines]) + "\n", name="log.csv")[0]
    assert found["job"].to_list() == jobs
    assert (found["job_id"].to_list() if "job_id" in found.columns else None) == ids
    for name in ids or []:
        if name is not None and ids.count(name) == 1:
            # An identifier that begins with a dash is no option.
            out = windlass("explain", "out", "--variant", "fcfs", "--", name)[1]
            assert out.splitlines()[1].startswith(f"Job {name} requested")


def test_a_repeated_identifier_is_noted_and_its_jobs_have_numbers(windlass, after_run):
    _, err = after_run("id,submit,run,procs\nx,0,60,4\ny,1,60,4\nx,2,60,4\n", name="log.csv")
    assert (
        "2 jobs share an identifier with another one, so only their numbers are unique, the first: job x"
        in err
    )
    error = "windlass: JOB: out has 2 jobs with the identifier x, expected one of #1, #3\n"
    assert windlass("explain", "out", "x") == (2, "", error)
    assert windlass("explain", "out", "#3")[1].splitlines()[1].startswith("Job x requested 4")
    status, _, err = windlass("explain", "out", "z")
    assert (status, err.split("expected ")[1]) == (2, "an identifier as in x, or a number as in #1\n")


def test_an_identifier_precedes_a_number(windlass, after_run):
    after_run("id,submit,run,procs\nx,0,60,4\n1,1,50,3\n", name="log.csv")
    assert "Job 1 requested 3 of" in windlass("explain", "out", "1")[1]
    assert "Job x requested 4 of" in windlass("explain", "out", "#1")[1]


CLUSTER = """
world: cluster
seconds: 3600
sites:
  oslo: {nodes: [{count: 1, cores: 8}]}
loads:
  batch: {rigid: {trace: log.csv}}
"""


def test_a_cluster_names_jobs_of_a_log_by_their_identifiers(windlass, tmp_path):
    (tmp_path / "log.csv").write_text("id,submit,run,procs\n2_a,0,60,8\n2_b,1,60,4\n3,2,60,8\n")
    (tmp_path / "s.yaml").write_text(CLUSTER)
    status, _, err = windlass("run", "s.yaml", "--out", "out")
    assert status == 0, err
    assert pl.read_parquet(tmp_path / "out" / "jobs.parquet")["job_id"].to_list() == ["2_a", "2_b", "3"]
    out = windlass("explain", "out", "batch@oslo/3")[1]
    assert "Job batch@oslo/3 requested 8 cores" in out
    assert "earlier job 2_b (4 cores)" in out
    assert "Job batch@oslo/2_a requested" in windlass("explain", "out", "batch@oslo/#1")[1]
