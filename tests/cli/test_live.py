"""``windlass run --engine``: what is refused, and the dry run; runs for real are in tests/engines."""

import importlib.util
import sys

import pytest

from windlass.cli import main
from windlass.engines import targets

LIVE = "examples/geo-live.yaml"
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install '.[ray]'"
)


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["windlass", "run", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr()
    return stop.value.code or 0, said.out, said.err.strip().splitlines()[-1] if said.err.strip() else ""


def test_an_unknown_engine_is_refused_by_name(monkeypatch, capsys):
    status, _, error = run(monkeypatch, capsys, LIVE, "--engine", "mesos")
    assert (status, error) == (2, "windlass: --engine: unknown engine 'mesos', expected one of sim, ray")


def test_an_engine_that_is_not_installed_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(targets, "_MODULES", {"ray": ("there_is_no_such_package", "ray")})
    status, _, error = run(monkeypatch, capsys, LIVE, "--engine", "ray")
    assert status == 2
    assert error.endswith(
        "ray is not installed (there_is_no_such_package is missing); where Windlass' source is: pip install '.[ray]'"
    )


def broken(tmp_path, command):
    file = tmp_path / "broken.yaml"
    file.write_text(f"""
world: geo-place
cluster:
  sites: [{{name: a, slots: 1, up: 1.0e+7, down: 1.0e+7}}, {{name: b, slots: SLOTS, up: 1.0e+7, down: 1.0e+7}}]
workload:
  jobs: [{{stages: [{{task_s: 1, input: {{a: 1, b: 1}}, task_bytes: 10, {command}}}]}}]
policies: {{place: in-place}}
""")
    return file


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(targets, "_MODULES", {"fake": ("tests.engines.fake_target", "nothing")})


def test_a_task_that_fails_is_named_in_one_line(monkeypatch, capsys, tmp_path, fake):
    file = broken(tmp_path, 'command: "false"')
    file.write_text(file.read_text().replace("SLOTS", "1"))
    status, _, error = run(monkeypatch, capsys, file, "--engine", "fake")
    assert (status, error) == (1, "windlass: job 1, stage 1, task 1: RuntimeError: 'false' ended with 1")


def test_input_where_no_worker_is_is_refused(monkeypatch, capsys, tmp_path, fake):
    file = broken(tmp_path, 'command: "true"')
    file.write_text(file.read_text().replace("SLOTS", "0"))
    for more in ((), ("--dry-run",)):
        status, _, error = run(monkeypatch, capsys, file, "--engine", "fake", *more)
        assert status == 2
        assert error == "windlass: cluster: site b has input and no slots; a live engine needs a worker there"


def test_a_file_of_functions_that_does_not_compile_is_named(monkeypatch, capsys, tmp_path, fake):
    (tmp_path / "wrong.py").write_text("def f(:\n")
    file = broken(tmp_path, f'call: "{tmp_path}/wrong.py:f"')
    file.write_text(file.read_text().replace("SLOTS", "1"))
    status, _, error = run(monkeypatch, capsys, file, "--engine", "fake")
    assert status == 2
    assert "wrong.py:f': SyntaxError: invalid syntax" in error


def test_a_dry_run_without_an_engine_is_refused(monkeypatch, capsys):
    status, _, error = run(monkeypatch, capsys, LIVE, "--dry-run")
    assert status == 2
    assert "--dry-run" in error


@needs_ray
def test_a_world_that_only_the_simulator_has_is_refused(monkeypatch, capsys):
    status, _, error = run(monkeypatch, capsys, "--engine", "ray")
    assert (status, error) == (
        2,
        "windlass: --engine: world 'batch' runs in the simulator only; live: geo-place",
    )


@needs_ray
def test_a_dry_run_says_what_would_happen_and_starts_nothing(monkeypatch, capsys):
    status, out, _ = run(monkeypatch, capsys, LIVE, "--engine", "ray", "--nodes", "2", "--dry-run")
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
            "cluster: 405 slots are as many processes on this machine, expected at most 64",
        ),
        ("task_bytes: 1.0e+6", "task_bytes: 1.0e+9", "bytes of data could lie at one site, expected at most"),
    ],
)
def test_what_one_machine_should_not_be_asked_for_is_refused(
    monkeypatch, capsys, tmp_path, old, new, problem
):
    from pathlib import Path

    file = tmp_path / "large.yaml"
    file.write_text(Path(LIVE).read_text().replace(old, new))
    status, _, error = run(monkeypatch, capsys, file, "--engine", "ray", "--dry-run")
    assert status == 2
    assert problem in error


def test_a_placement_policy_that_orders_jobs_itself_does_not_go_with_an_order(monkeypatch, capsys, tmp_path):
    from pathlib import Path

    file = tmp_path / "both.yaml"
    file.write_text(
        Path(LIVE).read_text().replace("place: [in-place, tetrium]", "{place: tetrium, order: swag}")
    )
    status, _, error = run(monkeypatch, capsys, file)
    assert status == 2
    assert "place 'tetrium' orders jobs itself, expected in-place beside 'order'" in error


def test_order_and_place_go_together_in_the_simulator(monkeypatch, capsys, tmp_path):
    from pathlib import Path

    file = tmp_path / "order.yaml"
    file.write_text(Path(LIVE).read_text().replace("place: [in-place, tetrium]", "order: [fcfs, swag]"))
    status, out, _ = run(monkeypatch, capsys, file, "--json")
    assert status == 0
    assert '"policies": {"order": "swag"}' in out
