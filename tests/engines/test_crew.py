"""Cells that a worker pool runs: full use of the pool, equal results, and errors of lost cells."""

import os
import signal
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager

import pytest

from windlass.engines.worker_pool import crews_on, processes
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.model import InputError, TaskError

TREE = {"workload": {"lublin": {"jobs": 20}}, "policies": {"order": ["easy", "fcfs", "sjf"]}, "seeds": [1, 2]}


class Later:
    """A worker pool that runs its calls when its size is read, the last first."""

    def __init__(self, size=1, fails=None):
        self.hands, self.fails, self.waiting, self.most, self.shared = size, fails, [], 0, []

    def size(self):
        # Reading the size first runs all waiting calls.
        while self.waiting:
            future, function, arguments = self.waiting.pop()
            if self.fails is not None:
                future.set_exception(self.fails)
            else:
                future.set_result(function(*arguments))
        return self.hands

    def share(self, value):
        self.shared.append(value)
        return value

    def submit(self, function, /, *arguments):
        future = Future()
        self.waiting.append((future, function, arguments))
        self.most = max(self.most, len(self.waiting))
        if len(self.waiting) >= 2 * self.hands:
            self.size()
        return future


def opened(crew):
    @contextmanager
    def crews():
        yield crew

    return crews


def test_results_do_not_depend_on_the_worker_pool():
    alone, reports = run(make_scenario(TREE)), []
    crew = Later()
    found = run(make_scenario(TREE), report=reports.append, crews=opened(crew))
    assert found.metrics().equals(alone.metrics())
    assert found.jobs().equals(alone.jobs())
    assert [progress.done for progress in reports] == [0, 1, 2, 3, 4, 5, 6]
    assert crew.most == 2, "twice as many cells as it has hands, so that none of them is idle"
    assert len(crew.shared) == 2, "each workload once, whatever is run on it"


def test_a_lost_cell_is_named_in_the_error():
    with pytest.raises(TaskError, match=r"^worker process died .* while running '.*seed .*: gone$"):
        run(make_scenario(TREE), crews=opened(Later(fails=BrokenExecutor("gone"))))


def test_an_error_of_a_cell_is_raised_unchanged():
    with pytest.raises(InputError, match=r"^mine$"):
        run(make_scenario(TREE), crews=opened(Later(fails=InputError("mine"))))


def test_no_pool_is_opened_if_all_results_are_known(tmp_path):
    from windlass.experiment.checkpoint import begin

    scenario = make_scenario(TREE)
    kept = begin(tmp_path / "cells", scenario.as_run)
    first = run(scenario, checkpoint=kept)
    again = run(scenario, checkpoint=kept, crews=opened(None))
    assert again.metrics().equals(first.metrics())


def end():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_after_a_kill_every_call_raises():
    with processes(1) as crew:
        first = crew.submit(end)
        with pytest.raises(BrokenExecutor):
            first.result()
        with pytest.raises(BrokenExecutor):
            crew.submit(abs, -1).result()


@pytest.mark.parametrize("where", ["slurm", "ray:", "", "rays", ":6379"])
def test_an_invalid_place_is_an_error(where):
    with pytest.raises(InputError, match=rf"^on: '{where}', expected ray, or ray:HOST:PORT"):
        crews_on(where)
