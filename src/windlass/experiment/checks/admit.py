"""Checks for admission policies, which are called with a node's random telemetry, without any engine."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np

from windlass.admit.context import AdmitContext
from windlass.admit.learned import Interruptible, Mergeable, Projecting, Restorable
from windlass.admit.view import AdmitView, TaskLoad, UnboundTasks
from windlass.experiment.checks.capabilities import require_refused
from windlass.experiment.checks.cases import Drawn
from windlass.experiment.checks.common import Check, CheckError, require
from windlass.experiment.checks.generic import generic_checks, require_carried_out
from windlass.policy.registry import Registry, capability

_DIM, _STEPS = 12, 150


def drawn_views(seed: int) -> Generator[AdmitView, Any, None]:
    """Yield a node's views under bursts of load: most metrics follow the load, one is constant, one starts late, and
    some values are missing.
    """
    rng, of_tasks, of_queue = (np.random.default_rng(each) for each in (seed, [seed, 1], [seed, 2]))
    load, burst, now = 0.3, 0, 0.0
    along = rng.normal(1.0, 0.5, _DIM)
    for step in range(_STEPS):
        burst = int(rng.integers(3, 9)) if rng.random() < 0.08 else max(burst - 1, 0)
        load += 0.4 * ((1.4 if burst else 0.3) - load)
        metrics = along * load + rng.normal(0, 0.1, _DIM)
        metrics[0] = 7.0
        metrics[1] = metrics[1] if step >= 60 else math.nan
        metrics[rng.random(_DIM) < 0.02] = math.nan
        if rng.random() < 0.02:
            metrics[:] = math.nan
        # The clock is set forwards or backwards at times.
        now += float(rng.choice([1.0, 1.0, 1.0, 3600.0, -5.0]))
        waits = max(0.0, load - 1.0) + abs(rng.normal(0, 0.01))
        known = rng.random() < 0.95
        busy, ready = (min(1.0, load), waits) if known else (math.nan, math.nan)
        yield AdmitView(now, metrics, busy, ready, _tasks(load, of_tasks), _unbound(of_queue))


def _unbound(rng: np.random.Generator) -> UnboundTasks | None:
    """Return tasks that wait for a node; none, or None, at times."""
    waiting = int(rng.poisson(1.0))
    oldest = float(rng.exponential(1.0)) if waiting else 0.0
    return UnboundTasks(waiting, oldest) if rng.random() < 0.7 else None


def _tasks(load: float, rng: np.random.Generator) -> TaskLoad | None:
    """Return a node's tasks under a load; None at times, and without completed or started tasks at others."""
    kind, delay = rng.random(), max(0.0, load - 0.5) * rng.exponential(1.0)
    if kind < 0.1:
        return None
    waiting = int(rng.poisson(20.0 * delay))
    if kind < 0.2:
        return TaskLoad(1.0 + waiting, waiting, 0, oldest=delay if waiting else 0.0)
    oldest = delay if waiting else 0.0
    return TaskLoad(
        1.0 + waiting,
        waiting,
        1 + int(rng.poisson(4.0)),
        delay + 0.3,
        delay + 0.1,
        delay,
        delay / 2.0,
        oldest,
    )


def _made(registry: Registry, name: str) -> Any:
    return registry.make(name, AdmitContext(np.random.default_rng(7), _DIM))


CASES = Drawn(views=lambda policy, seed: drawn_views(seed), make=_made, known=("dim", "rng"))


def check_saved_state_is_loaded(registry: Registry, name: str) -> None:
    """A policy that can be saved answers the same after it is loaded, and its load() rejects truncated bytes."""
    policy = _made(registry, name)
    saved = capability(policy, Restorable)
    if saved is None:
        return
    CASES.outcome(policy, 16)
    data = saved.save()
    again = type(saved).load(data)
    require(again.dim == _DIM, f"{name}: after load() its dim is {again.dim}, expected {_DIM}")
    same = CASES.outcome(policy, 17) == CASES.outcome(again, 17)
    require(same, f"{name}: the policy that load() returns answers differently from the saved one")
    half = data[: len(data) // 2]
    require_refused(
        lambda: type(saved).load(half), f"{name}: load() of the first half of the bytes from save()"
    )


def check_learned_state_is_shared(registry: Registry, name: str) -> None:
    """A policy that shares what it learned is new before its first step, and is no longer new after join()."""
    policy, newcomer = (capability(_made(registry, name), Mergeable) for _ in range(2))
    if policy is None or newcomer is None:
        return
    require(
        policy.is_new and policy.learned() is None,
        f"{name}: is not new before the first step, or learned() is not None",
    )
    CASES.outcome(policy, 18)
    learned = policy.learned()
    if learned is None or policy.is_new:
        raise CheckError(f"{name}: is still new after {_STEPS} steps, or learned() returns None")
    rows = len(learned.subspace.basis)
    require(rows == _DIM, f"{name}: learned() returns a subspace of {rows} metrics, expected {_DIM}")
    newcomer.join(learned)
    require(not newcomer.is_new, f"{name}: is still new after join()")
    CASES.outcome(newcomer, 19)


def check_ignores_the_clock(registry: Registry, name: str) -> None:
    """The answers depend on the steps and not on the time between them, so a clock that jumps changes none."""
    still, jumping = _made(registry, name), _made(registry, name)
    for view in drawn_views(15):
        same = AdmitView(0.0, view.metrics, view.busy, view.ready, view.tasks, view.unbound)
        one, two = still.decide(same), jumping.decide(view)
        alike = (one.reject, one.limit) == (two.reject, two.limit)
        require(alike, f"{name}: answers differently when the clock jumps")


def check_continues_after_restart(registry: Registry, name: str) -> None:
    """A policy that is notified of lost steps gives valid answers with reasons after restart()."""
    policy = _made(registry, name)
    able = capability(policy, Interruptible)
    if able is None:
        return
    CASES.outcome(policy, 20)
    able.restart()
    require_carried_out(CASES, policy, 21, f"{name}: after restart()")


def check_projections(registry: Registry, name: str) -> None:
    """A policy that tracks directions has a projection and a singular value for each, the values descending."""
    policy = _made(registry, name)
    able = capability(policy, Projecting)
    if able is None:
        return
    CASES.outcome(policy, 22)
    projections, values = np.asarray(able.projections), np.asarray(able.singular_values)
    right = projections.ndim == 1 and projections.shape == values.shape
    shapes = f"shapes {projections.shape} and {values.shape}"
    require(right, f"{name}: projections and singular_values have {shapes}, expected (r,) each")
    require(bool((np.diff(values) <= 0.0).all()), f"{name}: singular_values are not descending")


CHECKS: tuple[Check, ...] = (
    *generic_checks(CASES),
    check_saved_state_is_loaded,
    check_learned_state_is_shared,
    check_ignores_the_clock,
    check_continues_after_restart,
    check_projections,
)
