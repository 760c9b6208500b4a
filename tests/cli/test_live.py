"""``windlass run --engine``: rejected input and the dry run; live runs are in tests/engines."""

import importlib.util
from pathlib import Path

import pytest

from windlass.engines import targets

LIVE = Path("examples/fleet-live.yaml").resolve()
PLACES = "place: [in-place, delay-scheduling, tetrium]"
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install '.[ray]'"
)


@pytest.fixture
def run(windlass):
    """``windlass run``: its status, standard output and the last line of standard error."""

    def call(*arguments):
        status, out, err = windlass("run", *map(str, arguments))
        return status, out, err.strip().splitlines()[-1] if err.strip() else ""

    return call


def test_an_unknown_engine_is_rejected(run):
    status, _, error = run(LIVE, "--engine", "mesos")
    assert (status, error) == (2, "windlass: --engine: unknown engine 'mesos', expected one of sim, ray")


def test_the_error_for_a_missing_engine_names_the_extra(monkeypatch, run):
    monkeypatch.setattr(targets, "_MODULES", {"ray": ("there_is_no_such_package", "ray")})
    status, _, error = run(LIVE, "--engine", "ray")
    assert status == 2
    assert error.endswith(
        "ray is not installed (there_is_no_such_package is missing);"
        " in a checkout of Windlass, run pip install '.[ray]'"
    )


def scenario_with_step(tmp_path, step, slots=1):
    file = tmp_path / "broken.yaml"
    file.write_text(f"""
world: fleet
cluster:
  sites: [{{name: a, slots: 1, up: 1.0e+7, down: 1.0e+7}}, {{name: b, slots: {slots}, up: 1.0e+7, down: 1.0e+7}}]
workload:
  jobs: [{{stages: [{{task_s: 1, input: {{a: 1, b: 1}}, task_bytes: 10, {step}}}]}}]
policies: {{place: in-place}}
""")
    return file


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(targets, "_MODULES", {"fake": ("tests.engines.fake_target", "nothing")})


def test_a_failing_task_is_named_in_one_line(run, tmp_path, fake):
    file = scenario_with_step(tmp_path, 'command: "false"')
    status, _, error = run(file, "--engine", "fake")
    assert (status, error) == (
        1,
        "windlass: job 1, stage 1, task 1: RuntimeError: 'false' failed with status 1",
    )


def test_input_at_a_site_without_slots_is_rejected(run, tmp_path, fake):
    file = scenario_with_step(tmp_path, 'command: "true"', slots=0)
    for more in ((), ("--dry-run",)):
        status, _, error = run(file, "--engine", "fake", *more)
        assert status == 2
        assert error == "windlass: cluster: site b has input but no slots; a live engine needs a worker there"


def test_a_function_file_with_a_syntax_error_is_named(run, tmp_path, fake):
    (tmp_path / "wrong.py").write_text("def f(:\n")
    file = scenario_with_step(tmp_path, f'call: "{tmp_path}/wrong.py:f"')
    status, _, error = run(file, "--engine", "fake")
    assert status == 2
    assert "wrong.py:f': SyntaxError: invalid syntax" in error


def test_a_dry_run_without_an_engine_is_rejected(run):
    status, _, error = run(LIVE, "--dry-run")
    assert status == 2
    assert "--dry-run" in error


@needs_ray
def test_a_world_without_live_engines_is_rejected(run):
    status, _, error = run("--engine", "ray")
    assert (status, error) == (
        2,
        "windlass: --engine: world 'batch' runs in the simulator only, expected one of the worlds fleet",
    )


@needs_ray
def test_a_dry_run_prints_the_planned_actions_and_starts_nothing(run):
    status, out, _ = run(LIVE, "--engine", "ray", "--nodes", "2", "--dry-run")
    assert status == 0
    assert "would start a private Ray cluster on this machine: a head, and 2 raylet(s) a site" in out
    assert "site oregon: 1 slots, up 5 MB/s, down 5 MB/s (emulated)" in out
    assert "would run 3 jobs of 36 tasks" in out
    assert out.splitlines()[-1] == "Nothing was started."


@needs_ray
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "slots: 4",
            "slots: 400",
            "cluster: 405 slots need as many processes on this machine, expected at most 64",
        ),
        ("task_bytes: 1.0e+6", "task_bytes: 1.0e+9", "bytes of data could lie at one site, expected at most"),
    ],
)
def test_a_cluster_too_large_for_one_machine_is_rejected(run, tmp_path, old, new, problem):
    file = tmp_path / "large.yaml"
    file.write_text(LIVE.read_text().replace(old, new))
    status, _, error = run(file, "--engine", "ray", "--dry-run")
    assert status == 2
    assert problem in error


def test_an_ordering_placement_policy_conflicts_with_an_order_policy(run, tmp_path):
    file = tmp_path / "both.yaml"
    file.write_text(
        LIVE.read_text().replace(
            "place: [in-place, delay-scheduling, tetrium]", "{place: tetrium, order: swag}"
        )
    )
    status, _, error = run(file)
    assert status == 2
    assert "place 'tetrium' orders jobs itself, expected in-place with 'order'" in error


def test_order_and_place_combine_in_the_simulator(run, tmp_path):
    file = tmp_path / "order.yaml"
    file.write_text(LIVE.read_text().replace(PLACES, "order: [fcfs, swag]"))
    status, out, _ = run(file, "--json")
    assert status == 0
    assert '"policies": {"order": "swag"}' in out


@needs_ray
def test_a_dry_run_reports_the_policy_files_that_it_imports(run, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from windlass.place.policies.in_place import InPlace\nclass Mine(InPlace):\n    name = 'mine'\n"
    )
    options = ("--engine", "ray", "--dry-run", "--policies", f"place={tmp_path}/mine.py")
    status, out, error = run(LIVE, *options)
    assert (status, error) == (0, "")
    assert out.splitlines()[0] == f"imported {tmp_path}/mine.py to check its policy; --no-code refuses to"
    status, out, error = run(LIVE, *options, "--no-code")
    assert (status, out) == (2, "")
    assert "mine.py, expected a scenario without policy files" in error
