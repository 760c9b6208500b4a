"""Checks for dispatch policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch import Dimensioned, Joining, Leaving
from windlass.dispatch.compiled import CompiledDispatch, as_compiled
from windlass.dispatch.view import check_choice
from windlass.experiment.checks.capabilities import require_methods
from windlass.experiment.checks.cases import Simulated
from windlass.experiment.checks.common import Check, require
from windlass.experiment.checks.generic import generic_checks
from windlass.experiment.dispatching import make_policy, simulate
from windlass.model import InputError, PolicyError
from windlass.policy.registry import Registry, capability

_SPEEDS = np.array([0.5, 1.0, 1.0, 4.0])


class _Uncompiled:
    """A policy without compiled functions that forwards to another one, so that each call goes through Python."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self.name = policy.name
        self.workers = len(_SPEEDS)
        self.chosen: list[int] = []

    def arrived(self, now: float) -> None:
        self._policy.arrived(now)

    def choose(self, queue_lengths: NDArray[np.int64]) -> int:
        self.chosen.append(self._policy.choose(queue_lengths))
        return self.chosen[-1]

    def completed(self, worker: int, work: float, seconds: float) -> None:
        self._policy.completed(worker, work, seconds)


def _make(name: str) -> Any:
    return make_policy(name, _SPEEDS, np.random.default_rng(5))


def _responses(policy: Any) -> NDArray[np.float64]:
    return simulate(policy, _SPEEDS, 0.7, 2000, seed=3).response


CASES = Simulated(
    simulate=lambda policy, seed: _responses(policy).tolist(),
    make=lambda registry, name: _make(name),
    known=("workers", "rates", "guaranteed", "rng"),
    has_views=False,
)


def check_chooses_a_worker(registry: Registry, name: str) -> None:
    """Every choice is the number of a worker."""
    policy = _make(name)
    rng = np.random.default_rng(4)
    for step in range(500):
        policy.arrived(float(step))
        worker = policy.choose(rng.integers(0, 5, len(_SPEEDS)))
        try:
            check_choice(worker, len(_SPEEDS))
        except PolicyError as error:
            require(False, f"{name}: {error}")
        policy.completed(worker, 1.0, 1.0 / _SPEEDS[worker])


def check_refuses_bad_input(registry: Registry, name: str) -> None:
    """A wrong queue, clock or completion is refused by a compiled policy, and the error names the argument."""
    policy = _make(name)
    if as_compiled(policy) is None:
        # Users of the library may call compiled policies directly; only engines call others, with valid arguments.
        return
    policy.arrived(0.0)
    calls: tuple[tuple[str, Callable[[], object]], ...] = (
        ("queue_lengths", lambda: policy.choose(np.zeros(3, np.int64))),
        ("queue_lengths", lambda: policy.choose(np.array([np.nan] * 4))),
        ("now", lambda: policy.arrived(float("nan"))),
        ("worker", lambda: policy.completed(9, 1.0, 1.0)),
        ("work", lambda: policy.completed(0, -1.0, 1.0)),
        ("seconds", lambda: policy.completed(0, 1.0, float("nan"))),
    )
    for argument, call in calls:
        try:
            call()
        except InputError as error:
            require(argument in str(error), f"{name}: the error does not name {argument}: {error}")
        else:
            require(False, f"{name}: accepts a bad {argument}")


def check_same_uncompiled(registry: Registry, name: str) -> None:
    """The simulator's compiled loop and calls through Python give the same response times."""
    policy = _make(name)
    # Benchmark tasks and late binding need more than the three methods of the protocol.
    compiled = as_compiled(policy)
    if compiled is not None and (compiled.benchmark_at < np.inf or compiled.binds_late):
        return
    direct = _responses(_make(name))
    uncompiled = _responses(_Uncompiled(policy))
    require(
        np.array_equal(direct, uncompiled), f"{name}: chooses differently when it is called through Python"
    )


def check_compiled(registry: Registry, name: str) -> None:
    """A policy with compiled functions derives from the class that has their state."""
    policy = _make(name)
    if as_compiled(policy) is not None:
        base = CompiledDispatch.__name__
        require(isinstance(policy, CompiledDispatch), f"{name}: has choosing and does not derive from {base}")


def check_number_of_workers(registry: Registry, name: str) -> None:
    """If a policy has an attribute ``workers``, it is the number of workers that the policy was made for."""
    policy = capability(_make(name), Dimensioned)
    workers: object = None if policy is None else policy.workers
    right = workers is None or workers == len(_SPEEDS)
    require(right, f"{name}: workers is {workers!r}, expected {len(_SPEEDS)}")


def check_avoids_absent_workers(registry: Registry, name: str) -> None:
    """A policy that is notified when a worker leaves gives it no task until it joins again."""
    policy = _make(name)
    require_methods(policy, name, "left")
    require_methods(policy, name, "joined")
    leaving, joining = capability(policy, Leaving), capability(policy, Joining)
    if leaving is None:
        return
    present, rng = set(range(len(_SPEEDS))), np.random.default_rng(6)
    for step in range(200):
        if step in (20, 60):
            leaving.left(step // 40)
            present.discard(step // 40)
        if step == 120 and joining is not None:
            joining.joined(0)
            present.add(0)
        policy.arrived(float(step))
        worker = policy.choose(rng.integers(0, 5, len(_SPEEDS)))
        require(worker in present, f"{name}: chose worker {worker!r}, which had left")
        policy.completed(worker, 1.0, 1.0 / _SPEEDS[worker])


CHECKS: tuple[Check, ...] = (
    *generic_checks(CASES),
    check_chooses_a_worker,
    check_refuses_bad_input,
    check_same_uncompiled,
    check_compiled,
    check_number_of_workers,
    check_avoids_absent_workers,
)
