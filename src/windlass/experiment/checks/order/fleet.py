"""Checks for policies that order the jobs of all sites."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from windlass.experiment.checks.capabilities import require_kernel, require_numbers
from windlass.experiment.checks.common import require, require_defaults
from windlass.model.fleet import Fleet, FleetCase, fixed_table
from windlass.order.fleet import FleetView, JobOrder
from windlass.order.fleet.compiled import FleetParametric, Refining, select_of
from windlass.policy.registry import Registry, capability
from windlass.sim.fleet import FleetRun, run_ordered


class _ByHand:
    """A policy that shows the simulator nothing but the protocol, so that each decision goes through Python."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self.name: str = policy.name
        self.changed = False
        self.unexplained = False

    def decide(self, view: FleetView) -> JobOrder:
        before = pickle.dumps(view)
        answer: JobOrder = self._policy.decide(view)
        self.changed = self.changed or pickle.dumps(view) != before
        self.unexplained = self.unexplained or not answer.why
        return answer


def workload(seed: int, jobs: int = 60, sites: int = 4) -> FleetCase:
    """Jobs with many ties in time, tasks and duration, over sites that differ."""
    rng = np.random.default_rng(seed)
    subjobs = rng.integers(0, 5, (jobs, sites)) * rng.integers(0, 2, (jobs, sites))
    subjobs[subjobs.sum(axis=1) == 0, 0] = 1
    submit, seconds = np.sort(rng.integers(0, 60, jobs)), rng.integers(0, 4, subjobs.sum())
    return FleetCase(Fleet.of(rng.integers(1, 4, sites)), fixed_table(submit, subjobs, seconds))


def _make(registry: Registry, name: str) -> Any:
    return registry.make(name, np.random.default_rng(7))


def _same(one: FleetRun, other: FleetRun) -> bool:
    return np.array_equal(one.begun, other.begun)


def check_parameters_have_defaults(registry: Registry, name: str) -> None:
    """A policy can be named alone."""
    require_defaults(registry, name, ("rng",))


def check_seeded(registry: Registry, name: str) -> None:
    """Twice the same seed gives the same starts, whatever the global generator does."""
    before = pickle.dumps(np.random.get_state())  # noqa: NPY002
    runs = [run_ordered(workload(1), _make(registry, name)) for _ in range(2)]
    require(_same(*runs), f"{name}: the same seed gives different starts")
    after = pickle.dumps(np.random.get_state())  # noqa: NPY002
    require(before == after, f"{name}: draws from NumPy's global generator")


def check_picklable(registry: Registry, name: str) -> None:
    """A copy through pickle decides as the original does."""
    policy = _make(registry, name)
    copy = pickle.loads(pickle.dumps(policy))
    require(
        _same(run_ordered(workload(2), policy), run_ordered(workload(2), copy)),
        f"{name}: a pickled copy decides otherwise",
    )


def check_same_by_hand(registry: Registry, name: str) -> None:
    """The simulator's own way and `decide` called with each view give the same starts, in tasks and in seconds."""
    for by_seconds in (False, True):
        direct = run_ordered(workload(3), _make(registry, name), by_seconds=by_seconds)
        by_hand = run_ordered(workload(3), _ByHand(_make(registry, name)), by_seconds=by_seconds)
        require(_same(direct, by_hand), f"{name}: driven by hand it starts tasks at other times")


def check_leaves_the_view_alone(registry: Registry, name: str) -> None:
    """A view is the same after a decision, and a decision says why."""
    recorder = _ByHand(_make(registry, name))
    run_ordered(workload(4), recorder)
    require(not recorder.changed, f"{name}: changes the view it is given")
    require(not recorder.unexplained, f"{name}: decides without a reason")


def check_orders_all_jobs(registry: Registry, name: str) -> None:
    """Every job ends: the simulator sees to it that each answer is an order of all waiting jobs."""
    for seed in range(5, 9):
        done = run_ordered(workload(seed), _make(registry, name))
        require(bool(np.isfinite(done.end).all()), f"{name}: leaves a job without an end")


def check_compiled(registry: Registry, name: str) -> None:
    """The functions of a compiled policy are kernels, and its options are numbers."""
    policy = _make(registry, name)
    select = select_of(policy)
    if select is None:
        return
    refining, parametric = capability(policy, Refining), capability(policy, FleetParametric)
    require_kernel(select, name, "select")
    require_kernel(None if refining is None else refining.refine, name, "refine")
    require_numbers(None if parametric is None else parametric.options, name, "options")
