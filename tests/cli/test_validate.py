"""``windlass validate``: errors are found, files read or imported are listed, and nothing is run."""

import json
import re
from pathlib import Path

import pytest
import yaml

from windlass.experiment.worlds import worlds

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
WORLDS = {
    "batch": EXAMPLES / "load.yaml",
    "dispatch": EXAMPLES / "dispatch.yaml",
    "colocated": EXAMPLES / "colocated.yaml",
    "fleet": EXAMPLES / "fleet-order.yaml",
    "video": EXAMPLES / "video.yaml",
    "admission": EXAMPLES / "admission.yaml",
}


@pytest.fixture
def log_folder(tmp_path):
    (tmp_path / "log.swf").write_text((EXAMPLES / "explain.swf").read_text())
    (tmp_path / "mine.py").write_text((EXAMPLES / "narrowest.py").read_text())
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch):
    """No world is run, and nothing is compiled."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("something ran")

    for world in worlds():
        monkeypatch.setattr(type(world), "run", never)
    monkeypatch.setattr("windlass.jit.Kernel.ready", never)


def test_a_log_and_a_policy_file_are_validated(windlass, log_folder):
    status, out, err = windlass("validate", "log.swf", "--policies", "easy,./mine.py", "--seeds", "1-3")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "log is valid in the world batch; nothing was run.",
        "2 variants and 3 seeds make 6 runs:",
        "  easy",
        "  narrowest",
        "Workload: 4 jobs over 3 s.",
        f"Files read: {log_folder}/log.swf.",
        f"Files imported as code: {log_folder}/mine.py; --no-code refuses them.",
    ]


def test_no_code_imports_nothing(windlass, log_folder):
    (log_folder / "mine.py").write_text("raise SystemExit('imported')")
    status, _, err = windlass("validate", "log.swf", "--policies", "easy,./mine.py", "--no-code")
    assert status == 2
    assert (
        err
        == f"windlass: --no-code: log.swf names {log_folder}/mine.py, expected a scenario without policy files\n"
    )
    (log_folder / "s.yaml").write_text(
        "workload: {trace: log.swf}\npolicies: {order: {queue: {priority: [fcfs, ./mine.py:Mine]}}}\n"
    )
    status, _, err = windlass("validate", "s.yaml", "--no-code")
    assert (status, "names ./mine.py, expected" in err) == (2, True)
    status, _, err = windlass("validate", "log.swf", "--policies", "./mine.py(depth=3)", "--no-code")
    assert (status, f"names {log_folder}/mine.py, expected" in err) == (2, True)
    assert windlass("validate", "log.swf", "--policies", "easy", "--no-code")[0] == 0


@pytest.mark.matrix
@pytest.mark.parametrize("world", WORLDS)
def test_the_example_of_every_world_is_valid(windlass, world):
    status, out, _ = windlass("validate", str(WORLDS[world]), "--json")
    tree = json.loads(out)
    assert (status, tree["world"]) == (0, world)
    assert tree["cells"] == len(tree["variants"]) * len(tree["seeds"])
    assert sum(len(each["variants"]) for each in tree["workloads"]) == len(tree["variants"])
    for each in tree["workloads"]:
        assert all(content["count"] > 0 for content in each["contents"]["contents"])


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("workload: {trace: none.swf}\npolicies: {order: easy}", "none.swf: no such file"),
        ("workload: {trace: log.swf}\npolicies: {order: esy}", "did you mean 'easy'"),
        (
            "workload: {trace: log.swf}\npolicies: {order: {easy: {depth: 3}}}",
            "easy has no parameter 'depth'",
        ),
        ("workload: {trace: log.swf}\npolicies: {order: {queue: {priority: sj}}}", "unknown policy 'sj'"),
        ("workload: {trace: log.swf, where: nonsense > 3}\npolicies: {order: easy}", "nonsense"),
        ("workload: {trace: log.swf}\npolicies: {order: easy}\nseeds: []", "seeds: the list is empty"),
        (
            "workload: {lublin: {jobs: 9}}\npolicies: {order: easy}\nestimates: [requested, history]",
            "estimates is history, expected a log that names the user of each job",
        ),
        ("workload: {trace: log.swf}\npolicies: {order: ./none.py}", "none.py: no such file"),
        ("nonsense: [", "not YAML"),
    ],
)
def test_an_invalid_scenario_is_a_one_line_error(windlass, log_folder, scenario, message):
    (log_folder / "s.yaml").write_text(f"{scenario}\n")
    status, out, err = windlass("validate", "s.yaml")
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        ("KeyError('depth')", "raised KeyError: 'depth'"),
        ("SystemExit(0)", "exits (status 0)"),
        ("RuntimeError", "raised RuntimeError"),
    ],
)
def test_a_policy_that_cannot_be_created_is_a_one_line_error(windlass, log_folder, raised, message):
    text = (EXAMPLES / "narrowest.py").read_text()
    made = f"    def __init__(self):\n        raise {raised}\n\n    def decide"
    (log_folder / "mine.py").write_text(text.replace("    def decide", made))
    status, out, err = windlass("validate", "log.swf", "--policies", "./mine.py")
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert re.search(rf"mine\.py, line \d+\) {re.escape(message)}", err)


def test_dropped_jobs_are_reported(windlass, log_folder):
    status, out, _ = windlass("validate", "log.swf", "--procs", "3")
    assert status == 0
    assert "note: 1 job requests more than 3 processors and is left out: job 2 (4)" in out


def test_the_long_form_is_a_scenario_that_is_valid(windlass, log_folder):
    status, out, err = windlass("validate", "log.swf", "--policies", "easy", "--long")
    assert (status, err) == (0, "")
    stands = "# A scenario of batch, as the scenario of one cluster in which all jobs have the same times."
    assert out.startswith(f"{stands}\nname: log\n")
    (log_folder / "long.yaml").write_text(out)
    status, again, err = windlass("validate", "long.yaml", "--long")
    assert (status, err) == (0, "")
    assert again == out.partition("\n")[2]
    status, out, err = windlass("validate", "long.yaml", "--long", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out) == yaml.safe_load(again)


def test_the_long_form_names_what_a_cluster_lacks(windlass):
    status, out, err = windlass("validate", str(EXAMPLES / "fleet-order.yaml"), "--long")
    assert (status, err) == (0, "")
    assert out.startswith(
        "# The world cluster cannot express this scenario of fleet yet: a cluster has no tasks that are fixed to"
    )


def test_an_invalid_scenario_has_no_long_form(windlass, log_folder):
    (log_folder / "mine.yaml").write_text(
        "workload: {trace: log.swf}\npolicies: {order: {easy: {depth: 3}}}\n"
    )
    status, out, err = windlass("validate", "mine.yaml", "--long")
    assert (status, out) == (2, "")
    assert "easy has no parameter 'depth'" in err
