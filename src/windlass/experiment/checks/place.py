"""Checks for placement policies."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from windlass.experiment.checks.cases import Recorder, Simulated
from windlass.experiment.checks.common import Check, require
from windlass.experiment.checks.generic import generic_checks, require_ends
from windlass.experiment.workloads.drops import draw_drops
from windlass.experiment.workloads.sites import SiteModel, draw_sites
from windlass.experiment.workloads.stages import JobModel, draw_jobs
from windlass.model.fleet import FleetCase
from windlass.model.timetable import SiteTimetable
from windlass.policy.registry import Registry
from windlass.sim.fleet import FleetRun, run_placed


def _run(policy: Any, seed: int, drops: bool = False) -> FleetRun:
    """Run a few jobs over sites, some of which have no slots or only a few."""
    fleet = draw_sites(SiteModel(sites=6, slots=(2, 60)), np.random.default_rng([seed, 1]))
    fleet.slots[seed % 6] = 0
    jobs = draw_jobs(JobModel(jobs=12, tasks=30, load=1.5), fleet, np.random.default_rng([seed, 2]))
    timetable = SiteTimetable.none()
    if drops:
        timetable = draw_drops(fleet, 0.5, 2, 20.0, float(jobs.submit[-1]) + 60, np.random.default_rng(seed))
    return run_placed(FleetCase(fleet, jobs, timetable), policy, decide_every=0.5)


def _compared(policy: Any, seed: int) -> object:
    done = _run(policy, seed, drops=True)
    return done.site.tolist(), done.end.tolist()


CASES = Simulated(simulate=_compared)


def check_stateless(registry: Registry, name: str) -> None:
    """A new policy answers each view of a run as the policy did that made all decisions of the run."""
    recorder = Recorder(CASES.make(registry, name))
    _run(recorder, 4)
    fresh = CASES.make(registry, name)
    for decision in recorder.decisions[::7]:
        view, answer = pickle.loads(decision.before), decision.answer
        again = fresh.decide(view)
        require(
            bool(np.array_equal(again.starts, answer.starts) and np.array_equal(again.moves, answer.moves)),
            f"{name}: a new policy answers differently at {view.now:g} s",
        )


def check_gives_reasons(registry: Registry, name: str) -> None:
    """Every start has a reason."""
    recorder = Recorder(CASES.make(registry, name))
    _run(recorder, 6)
    for decision in recorder.decisions:
        answer = decision.answer
        require(
            len(answer.why) == len(answer.starts),
            f"{name}: {len(answer.why)} reasons for {len(answer.starts)} starts",
        )
        require(all(answer.reasons[code] for code in answer.why), f"{name}: starts tasks without a reason")


def check_no_task_starves(registry: Registry, name: str) -> None:
    """Every job ends, even if slots and links drop and return; the simulator rejects placements that do not fit."""
    policies = ((CASES.make(registry, name), seed) for seed in range(7, 13))
    require_ends(name, (_run(policy, seed, drops=seed % 2 == 0).end for policy, seed in policies))


CHECKS: tuple[Check, ...] = (
    *generic_checks(CASES),
    check_stateless,
    check_gives_reasons,
    check_no_task_starves,
)
