"""Checks for policies that order the jobs of all sites."""

from __future__ import annotations

import numpy as np

from windlass.experiment.checks.capabilities import require_kernel, require_numbers
from windlass.experiment.checks.cases import Recorder, Simulated
from windlass.experiment.checks.common import Check, require
from windlass.experiment.checks.generic import generic_checks, require_ends
from windlass.model.fleet import Fleet, FleetCase, fixed_table
from windlass.order.fleet.compiled import FleetParametric, FleetSelecting, Refining, select_of
from windlass.policy.registry import Registry, capability
from windlass.sim.fleet import run_ordered


def workload(seed: int, jobs: int = 60, sites: int = 4) -> FleetCase:
    """Return jobs with many ties in time, tasks and duration, over different sites."""
    rng = np.random.default_rng(seed)
    subjobs = rng.integers(0, 5, (jobs, sites)) * rng.integers(0, 2, (jobs, sites))
    subjobs[subjobs.sum(axis=1) == 0, 0] = 1
    submit, seconds = np.sort(rng.integers(0, 60, jobs)), rng.integers(0, 4, subjobs.sum())
    return FleetCase(Fleet.of(rng.integers(1, 4, sites)), fixed_table(submit, subjobs, seconds))


CASES = Simulated(lambda policy, seed: run_ordered(workload(seed), policy).begun.tolist())


def check_same_by_decide(registry: Registry, name: str) -> None:
    """The simulator's compiled path and `decide` give the same starts, for sizes in tasks and in seconds."""
    for by_seconds in (False, True):
        direct = run_ordered(workload(3), CASES.make(registry, name), by_seconds=by_seconds)
        by_decide = run_ordered(workload(3), Recorder(CASES.make(registry, name)), by_seconds=by_seconds)
        same = np.array_equal(direct.begun, by_decide.begun)
        require(same, f"{name}: tasks start at other times if only decide() is called")


def check_gives_reasons(registry: Registry, name: str) -> None:
    """Every order has a reason."""
    recorder = Recorder(CASES.make(registry, name))
    CASES.outcome(recorder, 4)
    explained = all(decision.answer.why for decision in recorder.decisions)
    require(explained, f"{name}: decides without a reason")


def check_orders_all_jobs(registry: Registry, name: str) -> None:
    """Every job ends; the simulator rejects an answer that is not an order of all waiting jobs."""
    require_ends(name, (run_ordered(workload(seed), CASES.make(registry, name)).end for seed in range(5, 9)))


def check_compiled(registry: Registry, name: str) -> None:
    """The functions of a compiled policy are kernels, and its options are numbers."""
    policy = CASES.make(registry, name)
    selecting = capability(policy, FleetSelecting)
    require_kernel(None if selecting is None else selecting.select, name, "select")
    if select_of(policy) is None:
        return
    refining, parametric = capability(policy, Refining), capability(policy, FleetParametric)
    require_kernel(None if refining is None else refining.refine, name, "refine")
    require_numbers(None if parametric is None else parametric.options, name, "options")


CHECKS: tuple[Check, ...] = (
    *generic_checks(CASES),
    check_same_by_decide,
    check_gives_reasons,
    check_orders_all_jobs,
    check_compiled,
)
