"""``windlass run``, ``list`` and ``trace`` on the command line."""

import gzip
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from windlass.experiment.worlds import find_world, worlds
from windlass.policy.registry import decisions

KTH = Path(__file__).parents[3] / "shared" / "traces" / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz"
needs_kth = pytest.mark.skipif(not KTH.exists(), reason="the KTH-SP2 log is not in ../shared/traces")
SMALL = ["run", "--policies", "easy", "--seeds", "1"]


def swf(lines: list[str], path: Path) -> str:
    path.write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    return str(path)


def job(number: int, submit: float, run: float = 10, procs: int = 1, request: float = 20) -> str:
    return f"{number} {submit} 0 {run} {procs} -1 -1 {procs} {request} -1 1 1 1 -1 -1 -1 -1 -1"


@needs_kth
def test_kth_reproduces_the_published_metrics(windlass):
    status, out, err = windlass("run", str(KTH), "--policies", "fcfs,easy", "--json")
    found = {variant["name"]: variant["metrics"] for variant in json.loads(out)["variants"]}
    assert status == 0
    assert "1 job has no processors and is left out: job 27313" in err
    assert found["easy"]["jobs"] == 28_475
    assert found["easy"]["mean_wait_s"] == pytest.approx(6889, abs=0.5)
    assert found["easy"]["mean_bounded_slowdown"] == pytest.approx(92.95, abs=0.005)
    assert found["fcfs"]["mean_wait_s"] == pytest.approx(353_943, abs=0.5)
    assert found["fcfs"]["mean_bounded_slowdown"] == pytest.approx(6826, abs=0.5)
    assert found["easy"]["utilisation"] == pytest.approx(0.697, abs=0.0005)


def test_json_is_one_object_with_the_documented_fields(windlass):
    status, out, _ = windlass(*SMALL, "--json")
    assert status == 0
    tree = json.loads(out)
    (variant,) = tree["variants"]
    assert variant["policies"] == {"order": "easy"}
    assert list(variant["metrics"]) == [
        "jobs",
        "mean_wait_s",
        "median_wait_s",
        "p95_wait_s",
        "mean_response_s",
        "mean_bounded_slowdown",
        "utilisation",
        "makespan_s",
        "p99_wait_s",
        "max_wait_s",
        "users_jain",
        "groups_jain",
        "queues_jain",
        "starved",
    ]


def digests(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(windlass, tmp_path):
    for jobs in ("1", "2"):
        assert windlass("run", "--seeds", "1-2", "--jobs", jobs, "--out", jobs)[0] == 0
    assert digests(tmp_path / "1") == digests(tmp_path / "2")
    assert set(digests(tmp_path / "1")) == {"jobs.parquet", "metrics.parquet", "scenario.yaml"}


def test_the_saved_scenario_reproduces_the_results(windlass, tmp_path):
    log = swf([job(1, 0), job(2, 1, procs=4), job(3, 2)], tmp_path / "log.swf")
    windlass("run", log, "--out", "first")
    windlass("run", "first/scenario.yaml", "--out", "second")
    assert digests(tmp_path / "first") == digests(tmp_path / "second")


def test_the_report_is_one_file(windlass, tmp_path):
    assert windlass(*SMALL, "--report", "report.html")[0] == 0
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_bad_line_is_an_error_unless_skipped(windlass, tmp_path):
    log = swf([job(1, 0), job(2, 1).replace(" 20 ", " twenty "), job(3, 2)], tmp_path / "log.swf")
    status, out, err = windlass("run", log)
    assert (status, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert "line 3" in err
    assert "twenty" in err
    status, out, err = windlass("run", log, "--skip-bad-lines", "--json")
    assert status == 0
    assert json.loads(out)["variants"][0]["metrics"]["jobs"] == 2
    assert "line" in err


def test_a_missing_scenario_is_reported_with_a_similar_name(windlass, tmp_path):
    (tmp_path / "scenario.yaml").write_text("name: mine\n")
    status, _, err = windlass("run", "scenari.yaml")
    assert (status, err) == (2, "windlass: scenari.yaml: no such file; did you mean 'scenario.yaml'?\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "missing.swf"], "missing.swf: no such file"),
        (["run", "missing.yaml"], "missing.yaml: no such file"),
        (["run", "--policies", "esy"], "did you mean 'easy'"),
        (["run", "--policies", ","], "names no policy"),
        (["run", "--procs", "0"], "cluster.processors"),
        (["run", "--seeds", "one"], "'one' is neither a seed"),
        (["run", "--seeds", "1,1"], "has a duplicate seed"),
        (["run", "--policies", "easy,easy"], "appears 2 times"),
        (["run", "--policies", "./none.py"], "none.py: no such file"),
        (["run", "--report", "no/such/folder/r.html"], "does not exist"),
        (["run", "--where", "user = 1"], "workload"),
        (["trace", "missing.swf"], "missing.swf: no such file"),
    ],
)
def test_wrong_arguments_are_a_one_line_error_with_status_2(windlass, arguments, message):
    status, out, err = windlass(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_out_that_is_a_file_is_rejected_before_the_run(windlass, tmp_path):
    (tmp_path / "taken").write_text("mine")
    status, _, err = windlass(*SMALL, "--out", "taken")
    assert status == 2
    assert "taken is a file" in err
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "line"),
        ("", "expected a scenario"),
        ("- 1", "expected a scenario"),
        ("world: moon", "unknown world 'moon'"),
        ("policies: {order: easy}", "workload: missing"),
        ("workload: {lublin: {jobs: 5}}\npolicies: {order: easy}\nspeed: 3", "speed: no such field"),
        ("workload: {lublin: {jobs: many}}\npolicies: {order: easy}", "workload.lublin.jobs"),
        ("workload: {lublin: {jobs: 5, load: .nan}}\npolicies: {order: easy}", "workload.lublin.load"),
        ("workload: {lublin: {}, trace: a.swf}\npolicies: {order: easy}", "either 'trace' or 'lublin'"),
        ("workload: {lublin: {}}\npolicies: {order: {easy: {depth: 3}}}", "easy has no parameter 'depth'"),
        ("workload: {lublin: {}}\npolicies: {order: easy}\nseeds: []", "seeds"),
        ("workload: {lublin: {}}\npolicies: {order: easy}\nseeds: [-1]", "seeds"),
        ("workload: {lublin: {}}\npolicies: {order: []}", "policies.order"),
    ],
)
def test_a_scenario_error_names_file_and_field(windlass, tmp_path, text, message):
    (tmp_path / "mine.yaml").write_text(text)
    status, out, err = windlass("run", "mine.yaml")
    assert (status, out) == (2, "")
    assert "mine.yaml" in err or "policies.order" in err
    assert message in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.matrix(0)
def test_an_incomplete_decision_names_the_policy_and_line(windlass, tmp_path):
    (tmp_path / "lazy.py").write_text(
        "from windlass.order.site.view import Start\n"
        "class Lazy:\n"
        "    name = 'lazy'\n"
        "    def decide(self, view):\n"
        "        return Start()\n"
    )
    status, _, err = windlass("run", "--policies", "./lazy.py", "--seeds", "1")
    assert status == 2
    assert f"policy 'lazy' ({tmp_path}/lazy.py, line 4) left" in err


def test_a_sweep_runs_every_combination(windlass, tmp_path):
    (tmp_path / "sweep.yaml").write_text(
        "workload: {lublin: {jobs: 30, load: [0.5, 0.9]}}\npolicies: {order: [fcfs, easy]}\n"
    )
    _, out, _ = windlass("run", "sweep.yaml", "--json")
    names = [variant["name"] for variant in json.loads(out)["variants"]]
    assert names == ["fcfs, load=0.5", "easy, load=0.5", "fcfs, load=0.9", "easy, load=0.9"]


def test_list_prints_the_whole_catalogue(windlass, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    _, out, _ = windlass("list")
    assert all(
        name in out for name in ("conservative", "easy", "fcfs", "sjf", "swf", "batch", "wfp3", "rosella")
    )
    assert "``" not in out
    assert ":class:" not in out
    for registry in decisions():
        assert f"{registry.decision}: {registry.question}" in out
        assert f"Scenarios: {registry.field}. Called when {registry.upon}." in out
        for name in registry.names():
            assert re.search(rf"^ {re.escape(name)} ", out, re.MULTILINE)


def test_list_json_has_the_parameters_of_each_policy(windlass):
    tree = json.loads(windlass("list", "--json")[1])
    assert set(tree) == {"decisions", "priorities", "worlds", "formats", "papers"}
    policies = {
        each["decision"]: {policy["name"]: policy for policy in each["policies"]}
        for each in tree["decisions"]
    }
    for registry in decisions():
        assert tuple(policies[registry.decision]) == registry.names()
        for name in registry.names():
            listed = [each["name"] for each in policies[registry.decision][name]["parameters"]]
            assert set(listed) <= set(registry.parameters(name)) - {"rng"}
    queue = policies["order.site"]["queue"]["parameters"]
    assert queue == [{"name": "priority", "default": "'fcfs'"}, {"name": "backfill", "default": "'easy'"}]
    assert "multifactor" in [each["name"] for each in tree["priorities"]]
    assert {each["name"] for each in tree["papers"]} >= {"rosella", "tetrium"}
    assert {each["name"] for each in tree["worlds"]} == {world.name for world in worlds()}


def test_list_filters_by_decision_and_text(windlass):
    tree = json.loads(windlass("list", "--decision", "share", "--json")[1])
    assert [each["decision"] for each in tree["decisions"]] == ["share"]
    assert not tree["worlds"] + tree["formats"] + tree["papers"] + tree["priorities"]
    tree = json.loads(windlass("list", "BACKFILLING", "--json")[1])
    (site,) = (each for each in tree["decisions"] if each["decision"] == "order.site")
    assert (
        {"easy", "conservative"}
        <= {each["name"] for each in site["policies"]}
        < set(find_world("batch").decisions[0].names())
    )
    status, out, err = windlass("list", "--decision", "order.sit")
    assert (status, out) == (2, "")
    assert "unknown decision 'order.sit'" in err
    assert err.endswith("; did you mean 'order.site'?\n")
    assert windlass("list", "no such text")[1] == "Nothing in the catalogue contains 'no such text'.\n"


def test_trace_counts_records_and_notes_dropped_jobs(windlass, tmp_path):
    log = tmp_path / "log.swf.gz"
    with gzip.open(log, "wt") as file:
        file.write("; MaxProcs: 4\n" + job(1, 0, procs=9) + "\n" + job(2, 5, run=8, procs=2) + "\n")
    _, out, _ = windlass("trace", str(log), "--json")
    tree = json.loads(out)
    assert (tree["records"], tree["jobs"], tree["processors"]) == (2, 1, 4)
    assert "more than 4 processors" in tree["notes"][0]


@pytest.mark.matrix(0)
def test_a_closed_pipe_is_not_an_error():
    command = f"{sys.executable} -m windlass list | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Error" not in done.stderr
