"""The run without cutting gives the same results in a thread, after the run with cutting, and for every policy."""

from __future__ import annotations

import threading

import pytest

from windlass.experiment import experiment, uncut_run
from windlass.experiment.experiment import Experiment, Workers
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.experiment.uncut_run import UncutRun
from windlass.model import PolicyError
from windlass.results import Results

DRAWN = {"workload": {"lublin": {"jobs": 20}}, "policies": {"order": ["fcfs", "easy"]}, "seeds": [1, 2]}
PYTHON = """
from windlass.order.site import Start
class Mine:
    name = "mine"
    def decide(self, view):
        return Start.of([0] if len(view.waiting) and view.waiting.procs[0] <= view.idle else [], "first")
"""


@pytest.fixture(autouse=True)
def _log(tmp_path, monkeypatch):
    """Write a log in which half of the jobs run for twice as long as requested."""
    monkeypatch.chdir(tmp_path)
    lines = (f"{40 * at},{60 + 7 * (at % 9)},{at % 4 + 1},{30 + 300 * (at % 2)}\n" for at in range(150))
    (tmp_path / "jobs.csv").write_text("submit,run,procs,request\n" + "".join(lines))


def _scenario(cut=True, order=("fcfs", "easy", "sjf")):
    return make_scenario(
        {"workload": {"trace": "jobs.csv"}, "policies": {"order": list(order)}, "kill_at_walltime": cut}
    )


def _observed(given, least=0.0, make=None, ahead=True):
    """Return the run without cutting after an outcome of the run with it."""
    outcome = run(_scenario()).variants[0].outcomes[0]
    assert 0.01 < outcome.cut_share < 1.0
    uncut = UncutRun(make or (lambda: _scenario(False)), given, least, ahead=ahead)
    uncut.observe(outcome)
    return uncut


def test_a_thread_has_the_results_of_a_run_on_request():
    threads = []

    def given(scenario, progress):
        threads.append(threading.current_thread().name)
        return run(scenario, report=progress)

    ahead = _observed(given)
    assert ahead.begun
    later = _observed(given, ahead=False)
    assert not later.begun
    assert ahead.results().jobs().equals(later.results().jobs())
    assert threads == ["without cutting", threading.main_thread().name]


@pytest.mark.parametrize(
    ("options", "seeds"),
    [
        ({"least": 1.0}, 1),
        ({"make": lambda: None}, 1),
        ({"make": lambda: make_scenario(DRAWN)}, 2),
    ],
    ids=["little is cut", "no scenario", "two workloads"],
)
def test_no_thread_is_started_in_vain(options, seeds):
    uncut = _observed(lambda scenario, progress: run(scenario), **options)
    assert not uncut.begun
    found = uncut.results()
    assert found is None or len(found.variants[0].outcomes) == seeds


def test_an_error_of_the_thread_is_raised_with_the_results():
    def fails(scenario, progress):
        raise PolicyError("started no job")

    uncut = _observed(fails)
    with pytest.raises(PolicyError, match="started no job"):
        uncut.results()


def test_a_cancelled_thread_ends_at_its_next_report():
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def given(scenario, progress):
        begun.set()
        go_on.wait(10)
        try:
            return run(scenario, report=progress)
        finally:
            ended.set()

    uncut = _observed(given)
    assert begun.wait(10)
    uncut.cancel()
    go_on.set()
    assert ended.wait(10)
    assert uncut.results() is None


@pytest.mark.parametrize("place", ["run", "answer_to"])
def test_an_interrupt_cancels_the_thread(place, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    cancelled = []
    monkeypatch.setattr(UncutRun, "cancel", lambda self: cancelled.append(self))
    monkeypatch.setattr(experiment, place, interrupted)
    with pytest.raises(KeyboardInterrupt):
        Experiment(_scenario()).run()
    assert cancelled


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_answer_does_not_depend_on_the_thread(jobs, monkeypatch):
    monkeypatch.setattr(uncut_run.os, "cpu_count", lambda: 2)
    with_thread = Experiment(_scenario(), workers=Workers(jobs=jobs)).run()
    monkeypatch.setattr(uncut_run.os, "cpu_count", lambda: 1)
    without = Experiment(_scenario()).run()
    assert isinstance(with_thread, Results)
    assert with_thread.sentences == without.sentences
    assert any("of the work is cut" in line for line in without.sentences)


def test_policies_in_python_do_not_run_in_threads(tmp_path):
    (tmp_path / "mine.py").write_text(PYTHON)
    scenario = _scenario(order=("easy", f"{tmp_path}/mine.py:Mine"))
    able = [scenario.world.runs_in_threads(variant.setting) for variant in scenario.variants]
    assert able == [True, False]
