"""Each check of dispatch policies fails on a policy that violates only its rule."""

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


def test_a_valid_dispatcher_passes_each_check(monkeypatch):
    for check in checks("dispatch").values():
        check(dispatching(monkeypatch), "made")


@pytest.mark.parametrize("worker", [4, -1, None])
def test_an_unknown_worker_fails_the_check(monkeypatch, worker):
    def chosen(self):
        self.count = getattr(self, "count", 0) + 1
        return worker if self.count == 500 else self.count % 4

    with pytest.raises(CheckError, match=re.escape(f"chose worker {worker!r}, expected 0 to 3")):
        dispatch_checks.check_chooses_a_worker(dispatching(monkeypatch, chosen=chosen), "made")


@pytest.mark.parametrize("argument", ["queue_lengths", "now", "worker", "work", "seconds"])
def test_accepting_or_not_naming_bad_input_fails_the_check(monkeypatch, argument):
    def accepts(self, name, valid):
        if name != argument:
            broken.Dispatches.require_valid(self, name, valid)

    def unnamed(self, name, valid):
        broken.Dispatches.require_valid(self, "it" if name == argument else name, valid)

    monkeypatch.setattr(dispatch_checks, "as_compiled", lambda policy: policy)
    # An unknown worker and a queue of another length are invalid indices.
    with pytest.raises(CheckError, match=f"accepts a bad {argument}"):
        dispatch_checks.check_refuses_bad_input(dispatching(monkeypatch, require_valid=accepts), "made")
    with pytest.raises(CheckError, match=f"does not name {argument}"):
        dispatch_checks.check_refuses_bad_input(dispatching(monkeypatch, require_valid=unnamed), "made")


@pytest.mark.parametrize("part", ["length", "number"])
def test_accepting_one_kind_of_bad_queue_fails_the_check(monkeypatch, part):
    def choose(self, queue_lengths):
        bad = len(queue_lengths) != 4 if part == "number" else not np.isfinite(queue_lengths).all()
        self.require_valid("queue_lengths", not bad)
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
def test_an_unseeded_or_unpicklable_dispatcher_fails_the_check(monkeypatch, name, methods, problem):
    with pytest.raises(CheckError, match=problem):
        checks("dispatch")[name](dispatching(monkeypatch, **methods), "made")


@pytest.mark.parametrize(
    ("compiled", "compared"),
    [
        (None, True),
        (SimpleNamespace(benchmark_at=np.inf, binds_late=False), True),
        (SimpleNamespace(benchmark_at=0.5, binds_late=False), False),
        (SimpleNamespace(benchmark_at=np.inf, binds_late=True), False),
    ],
)
def test_a_dispatcher_called_through_python_must_give_the_compiled_responses(monkeypatch, compiled, compared):
    monkeypatch.setattr(dispatch_checks, "as_compiled", lambda policy: compiled)
    monkeypatch.setattr(
        dispatch_checks,
        "_responses",
        lambda policy: np.array([1.0 + isinstance(policy, dispatch_checks._Uncompiled)]),
    )
    made = dispatching(monkeypatch)
    if compared:
        with pytest.raises(CheckError, match="when it is called through Python"):
            dispatch_checks.check_same_uncompiled(made, "made")
    else:
        dispatch_checks.check_same_uncompiled(made, "made")


def test_the_uncompiled_wrapper_forwards_each_call():
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
