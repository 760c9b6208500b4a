"""A run reports its progress, shares workloads, and submits cells to a worker pool in order."""

from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from windlass.experiment import runner
from windlass.experiment.runner import Progress
from windlass.model import TaskError
from windlass.results import Choice


class World:
    """A world whose cells return their arguments; variants a and c share a workload, b has another."""

    name, live, logged, explainer, decisions = "made", None, None, None, ()

    def __init__(self):
        self.read = []

    def kernels(self, setting):
        return []

    def choices(self, setting):
        return (Choice("order", f"policy {setting}"),)

    def workload_key(self, setting, seed):
        return (setting in "ac", seed)

    def workload(self, setting, seed):
        self.read.append((setting, seed))
        return f"workload {setting in 'ac'} {seed}"

    def run(self, setting, seed, workload, notify):
        notify(0.25)
        return (setting, seed, workload)


@pytest.fixture
def scenario(monkeypatch):
    monkeypatch.setattr(runner, "prepare", lambda kernels, compiling: None)
    logs = SimpleNamespace(collect=lambda *given: None, results=lambda: ())
    monkeypatch.setattr(runner, "RecordedSchedules", lambda scenario: logs)
    monkeypatch.setattr(runner, "VariantResult", lambda **given: given)
    monkeypatch.setattr(runner, "Results", lambda *given: given)
    variants = tuple(
        SimpleNamespace(name=f"named {each}", setting=each, point=f"p {each}", at=("at",)) for each in "abc"
    )
    return SimpleNamespace(name="scenario", world=World(), variants=variants, seeds=(1, 2), as_run="as run")


def outcomes(found):
    return {variant["name"]: variant["outcomes"] for variant in found[2]}


EXPECTED = {
    f"named {each}": tuple((each, seed, f"workload {each in 'ac'} {seed}") for seed in (1, 2))
    for each in "abc"
}


def test_cells_are_run_workload_by_workload(scenario):
    reports = []
    found = runner.run(scenario, report=reports.append)
    assert found[:2] == ("scenario", "as run")
    assert outcomes(found) == EXPECTED
    assert [(each["choices"], each["point"], each["at"]) for each in found[2]] == [
        ((Choice("order", f"policy {each}"),), f"p {each}", ("at",)) for each in "abc"
    ]
    order = [("a", 1), ("c", 1), ("a", 2), ("c", 2), ("b", 1), ("b", 2)]
    assert sorted(scenario.world.read) == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    steps = {
        (each.variant, each.seed): each.done
        for each in reports
        if each.done == int(each.done) and each.variant
    }
    assert sorted(steps.values()) == [0, 1, 2, 3, 4, 5]
    assert set(steps) == {(f"named {each}", seed) for each, seed in order}
    assert {each.total for each in reports} == {6}
    assert sorted(each.done % 1 for each in reports[:-1]) == [0.0] * 6 + [0.25] * 6
    assert reports[-1] == Progress("", 0, 6, 6)
    first = [each for each in reports if each.done == 0.25]
    assert [(each.variant, each.seed) for each in first] == [("named a", 1)]


def test_checkpointed_cells_are_not_run_again(scenario):
    kept = {(0, 1): "kept"}
    added = []
    store = SimpleNamespace(
        has=lambda index, seed: (index, seed) in kept,
        get=lambda index, seed: kept[index, seed],
        add=lambda index, outcome: added.append((index, outcome)),
    )
    reports = []
    found = runner.run(scenario, report=reports.append, checkpoint=store)
    assert outcomes(found)["named a"] == ("kept", EXPECTED["named a"][1])
    assert sorted(index for index, _ in added) == [0, 1, 1, 2, 2]
    assert reports[0].done == 1
    assert sorted({int(each.done) for each in reports}) == [1, 2, 3, 4, 5, 6]


class Pool:
    """A worker pool that runs each cell immediately and records the submissions."""

    def __init__(self, broken=None):
        self.handed, self.shared, self.broken = [], [], broken

    def size(self):
        return 1

    def share(self, workload):
        self.shared.append(workload)
        return ("shared", workload)

    def submit(self, run, world, setting, seed, shared):
        self.handed.append((world, setting, seed))
        future = Future()
        if (setting, seed) == self.broken:
            future.set_exception(BrokenExecutor("gone"))
        else:
            future.set_result((setting, seed, shared[1]))
        return future


def by(pool):
    @contextmanager
    def crews():
        yield pool

    return crews


def test_a_worker_pool_receives_each_workload_once(scenario):
    reports, pool = [], Pool()
    found = runner.run(scenario, report=reports.append, crews=by(pool))
    assert outcomes(found) == EXPECTED
    assert len(pool.handed) == 6
    assert {world for world, *_ in pool.handed} == {"made"}
    assert sorted(pool.shared) == sorted({outcome[2] for each in EXPECTED.values() for outcome in each})
    assert sorted(each.done for each in reports) == [0, 1, 2, 3, 4, 5, 6]
    assert reports[-1] == Progress("", 0, 6, 6)


def test_the_error_of_a_lost_worker_names_the_submitted_cells(scenario):
    with pytest.raises(TaskError, match=r"while running 'named a, seed 1'( or 'named ., seed .')?: gone"):
        runner.run(scenario, crews=by(Pool(broken=("a", 1))))
    cells = [SimpleNamespace(index=0, seed=seed) for seed in range(6)]
    message = str(runner._lost(scenario, cells, BrokenExecutor("gone")))
    assert "seed 3' or …: gone" in message
    assert "seed 4" not in message
    assert "…" not in str(runner._lost(scenario, cells[:4], BrokenExecutor("gone")))
