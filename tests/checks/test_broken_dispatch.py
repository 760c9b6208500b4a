"""Each check of dispatch policies fails on one that breaks just its rule."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from tests.checks import broken
from tests.checks.broken import Registry
from tests.checks.test_broken import checks
from windlass.experiment.checks import CheckError
from windlass.experiment.checks import dispatch as dispatch_checks


def dispatching(monkeypatch, **methods):
    cls = type("Made", (broken.Dispatches,), {"name": "made", **methods})
    cls.__module__, cls.__qualname__ = __name__, "Made"
    globals()["Made"] = cls
    monkeypatch.setattr(dispatch_checks, "make_policy", lambda name, speeds, rng: cls(len(speeds)))
    return Registry(cls, "dispatch")


def test_a_good_dispatcher_passes_each_check(monkeypatch):
    for check in checks("dispatch").values():
        check(dispatching(monkeypatch), "made")


@pytest.mark.parametrize("worker", [4, -1, None])
def test_a_worker_that_is_none_is_found(monkeypatch, worker):
    def chosen(self):
        self.count = getattr(self, "count", 0) + 1
        return worker if self.count == 500 else self.count % 4

    with pytest.raises(CheckError, match=re.escape(f"chose worker {worker!r}, expected 0 to 3")):
        dispatch_checks.check_chooses_a_worker(dispatching(monkeypatch, chosen=chosen), "made")


@pytest.mark.parametrize("argument", ["queue_lengths", "now", "worker", "work", "seconds"])
def test_bad_input_that_is_taken_or_not_named_is_found(monkeypatch, argument):
    def accepts(self, name, holds):
        if name != argument:
            broken.Dispatches.refuse(self, name, holds)

    def unnamed(self, name, holds):
        broken.Dispatches.refuse(self, "it" if name == argument else name, holds)

    monkeypatch.setattr(dispatch_checks, "as_compiled", lambda policy: policy)
    # A worker that is not there, and a queue of another length, are no index.
    with pytest.raises(CheckError, match=f"accepts a bad {argument}"):
        dispatch_checks.check_refuses_bad_input(dispatching(monkeypatch, refuse=accepts), "made")
    with pytest.raises(CheckError, match=f"does not name {argument}"):
        dispatch_checks.check_refuses_bad_input(dispatching(monkeypatch, refuse=unnamed), "made")


@pytest.mark.parametrize("part", ["length", "number"])
def test_either_bad_queue_alone_is_found(monkeypatch, part):
    def choose(self, queue_lengths):
        bad = len(queue_lengths) != 4 if part == "number" else not np.isfinite(queue_lengths).all()
        self.refuse("queue_lengths", not bad)
        return 0

    monkeypatch.setattr(dispatch_checks, "as_compiled", lambda policy: policy)
    with pytest.raises(CheckError, match="accepts a bad queue_lengths"):
        dispatch_checks.check_refuses_bad_input(dispatching(monkeypatch, choose=choose), "made")


@pytest.mark.parametrize(
    ("name", "methods", "problem"),
    [
        (
            "seeded",
            {"chosen": lambda self: next(broken.CALLS) % 4 // 2 * (next(broken.CALLS) % 3)},
            "different",
        ),
        ("seeded", {"arrived": lambda self, now: np.random.rand()}, "global generator"),  # noqa: NPY002
        ("picklable", {"__getstate__": lambda self: {"workers": 4, "last": self.last + 1}}, "a pickled copy"),
    ],
)
def test_a_dispatcher_that_depends_on_chance_or_forgets_is_found(monkeypatch, name, methods, problem):
    with pytest.raises(CheckError, match=problem):
        checks("dispatch")[name](dispatching(monkeypatch, **methods), "made")


@pytest.mark.parametrize(
    ("compiled", "looks"),
    [
        (None, True),
        (SimpleNamespace(benchmark_at=np.inf, reservations=0), True),
        (SimpleNamespace(benchmark_at=0.5, reservations=0), False),
        (SimpleNamespace(benchmark_at=np.inf, reservations=1), False),
    ],
)
def test_a_dispatcher_by_hand_does_as_the_simulator_s_own_loop(monkeypatch, compiled, looks):
    monkeypatch.setattr(dispatch_checks, "as_compiled", lambda policy: compiled)
    monkeypatch.setattr(
        dispatch_checks,
        "_responses",
        lambda policy: np.array([1.0 + isinstance(policy, dispatch_checks._Uncompiled)]),
    )
    made = dispatching(monkeypatch)
    if looks:
        with pytest.raises(CheckError, match="when it is called through Python"):
            dispatch_checks.check_same_uncompiled(made, "made")
    else:
        dispatch_checks.check_same_uncompiled(made, "made")


def test_by_hand_each_call_is_passed_on():
    seen = []
    policy = SimpleNamespace(
        name="made",
        arrived=lambda *given: seen.append(given),
        choose=lambda *given: seen.append(given) or 2,
        completed=lambda *given: seen.append(given),
    )
    by_hand = dispatch_checks._Uncompiled(policy)
    by_hand.arrived(1.5)
    assert by_hand.choose("queues") == 2
    by_hand.completed(3, 4.0, 5.0)
    assert seen == [(1.5,), ("queues",), (3, 4.0, 5.0)]
    assert (by_hand.name, by_hand.workers, by_hand.chosen) == ("made", 4, [2])
