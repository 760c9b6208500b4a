"""Additional stops at any instants do not change jobs over a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.test_chopping import Chop
from tests.oracles.workloads import CHECK
from windlass.drive import Decider, drive
from windlass.experiment.workloads.drops import draw_drops
from windlass.experiment.workloads.sites import SiteModel, draw_sites
from windlass.experiment.workloads.stages import JobModel, draw_jobs
from windlass.experiment.worlds.fleet.priority_order import OrderedPlacement
from windlass.model.fleet import FleetCase
from windlass.model.timetable import SiteTimetable
from windlass.order.fleet import POLICIES as ORDER
from windlass.order.fleet.compiled import in_loop
from windlass.order.fleet.policies.swag import Swag
from windlass.place import POLICIES as PLACE
from windlass.sim.coupled import Coupled, SinglePart
from windlass.sim.fleet.part import OrderedFleet, PlacedFleet
from windlass.sim.fleet.result import FleetRun
from windlass.sim.fleet.shared import FleetPart
from windlass.sim.part import Part

_ORDERS = ("fcfs", "swag", "global-srpt")
_PLACEMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "in-place": ("in-place", {}),
    "in-place, waits": ("in-place", {"delay": 3.0}),
    "tetrium": ("tetrium", {}),
    "tetrium, keeps plans": ("tetrium", {"update_sites": 2}),
    "centralised": ("centralised", {}),
}


def drawn(seed: int, *, drops: bool, jobs: int = 8, sites: int = 4) -> FleetCase:
    """Few slots, a few stages a job, data everywhere; slots and links that drop and return."""
    fleet = draw_sites(SiteModel(sites=sites, slots=(2, 20)), np.random.default_rng(seed))
    model = JobModel(jobs=jobs, tasks=12, load=2.0, task_bytes=5e6)
    work = draw_jobs(model, fleet, np.random.default_rng(seed + 1))
    if not drops:
        return FleetCase(fleet, work, SiteTimetable.none())
    until = float(work.submit[-1]) + 80
    return FleetCase(fleet, work, draw_drops(fleet, 0.6, 2, 7.0, until, np.random.default_rng(seed + 2)))


class Recorded:
    """A policy with its compiled function hidden; it records the times of its calls."""

    name = "asked"

    def __init__(self, policy: Decider[Any, Any]) -> None:
        self._policy = policy
        self.times: list[float] = []

    def decide(self, view: Any) -> Any:
        self.times.append(view.now)
        return self._policy.decide(view)


def place_policy(name: str) -> Recorded:
    """A placement policy, by its name here."""
    if name == "standing":
        return Recorded(OrderedPlacement(Swag()))
    policy, options = _PLACEMENTS[name]
    return Recorded(PLACE.make(policy, np.random.default_rng(1), **options))


def bits(run: FleetRun) -> dict[str, Any]:
    """Return all results of a run, for exact comparison."""
    values = {
        each.name: getattr(run, each.name) for each in fields(run) if each.name not in ("fleet", "jobs")
    }
    return {name: each.tobytes() if isinstance(each, np.ndarray) else each for name, each in values.items()}


def run_part(part: FleetPart, policy: Any, *, others: Sequence[Part] = (), last: bool = False) -> FleetRun:
    """Run a fleet alone, or coupled before or after other parts."""
    engine: Any = SinglePart(part)
    if others:
        engine = Coupled([part, *others] if last else [*others, part])
    policies = {"order": policy, "place": policy}
    found = drive(engine, policies)
    return found if not others else next(each for each in found if isinstance(each, FleetRun))


def instants_of(run: FleetRun, case: FleetCase, seed: int) -> list[float]:
    """Return instants at events of a run, just before and after them, and anywhere."""
    rng = np.random.default_rng(seed)
    own = np.concatenate((run.begun, run.read, run.computed, run.end, case.jobs.submit, case.timetable.time))
    some = rng.choice(own, 60)
    near = [*np.nextafter(some, np.inf)[:30], *np.nextafter(some, -np.inf)[30:]]
    return [*some.tolist(), *near, *rng.uniform(0, run.end.max(), 60).tolist()]


def ordered(case: FleetCase, name: str, *, hidden: bool, **setting: Any) -> tuple[OrderedFleet, Any]:
    """The part of a fleet under a standing order, and the policy."""
    policy = ORDER.make(name, np.random.default_rng(0))
    chosen = Recorded(policy) if hidden else policy
    return OrderedFleet(case, in_loop(chosen), log=True, **setting), chosen


@pytest.mark.parametrize("hidden", [False, True], ids=["compiled", "in python"])
@settings(CHECK, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(_ORDERS),
    drops=st.booleans(),
    look_every=st.sampled_from([0.0, 0.3, 2.0]),
    by_seconds=st.booleans(),
    last=st.booleans(),
)
def test_additional_stops_do_not_change_a_fleet_under_an_order(
    hidden: bool, seed: int, name: str, drops: bool, look_every: float, by_seconds: bool, last: bool
) -> None:
    case = drawn(seed, drops=drops)
    setting = dict(hidden=hidden, look_every=look_every, by_seconds=by_seconds)
    part, alone = ordered(case, name, **setting)
    whole = run_part(part, alone)
    part, again = ordered(case, name, **setting)
    chopped = run_part(part, again, others=[Chop(instants_of(whole, case, seed))], last=last)
    assert bits(chopped) == bits(whole)
    if hidden:
        assert (len(alone.times), again.times) == (whole.decisions, alone.times)


@pytest.mark.matrix(0)
@pytest.mark.parametrize("name", [*_PLACEMENTS, "standing"])
@settings(CHECK, max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    drops=st.booleans(),
    look_every=st.sampled_from([0.0, 0.3, 2.0]),
    decide_every=st.sampled_from([0.0, 0.5, 4.0]),
    last=st.booleans(),
)
def test_additional_stops_do_not_change_a_fleet_under_placements(
    name: str, seed: int, drops: bool, look_every: float, decide_every: float, last: bool
) -> None:
    case = drawn(seed, drops=drops)
    setting = dict(look_every=look_every, decide_every=decide_every, log=True)
    alone, again = place_policy(name), place_policy(name)
    whole = run_part(PlacedFleet(case, **setting), alone)
    instants = instants_of(whole, case, seed)
    # Also at the decisions, which may be at instants without other events.
    instants += [*alone.times, *np.nextafter(alone.times, np.inf), *np.nextafter(alone.times, -np.inf)]
    chopped = run_part(PlacedFleet(case, **setting), again, others=[Chop(instants)], last=last)
    assert bits(chopped) == bits(whole)
    assert again.times == alone.times
    assert (np.diff(alone.times) >= decide_every - 1e-9).all()


def test_two_coupled_fleets_run_as_each_alone() -> None:
    cases = [drawn(seed, drops=True) for seed in (3, 4)]
    alone = [run_part(*ordered(case, "swag", hidden=False)) for case in cases]
    parts = [ordered(cases[0], "swag", hidden=False)[0], ordered(cases[1], "swag", hidden=True)[0]]
    together = drive(Coupled(parts), {"order": Recorded(Swag())})
    assert [bits(run) for run in together] == [bits(run) for run in alone]
