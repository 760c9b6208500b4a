"""Runs over a fleet from one call: each setting has its documented effect, worked out by hand."""

import numpy as np
import pytest

from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec, fixed_table
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.place.policies.in_place import InPlace
from windlass.sim.fleet import run as running
from windlass.sim.fleet.run import run_ordered, run_placed


def one_task_each(submits, seconds=1.0):
    return FleetJobs.of(list(submits), [[StageSpec(seconds, here=(1,))] for _ in submits])


def test_placements_are_at_least_decide_every_apart():
    case = FleetCase(Fleet.of([9]), one_task_each([0.0, 0.5, 5.0, 5.5], 100.0))
    assert run_placed(case, InPlace()).begun.tolist() == [0.0, 0.5, 5.0, 5.5]
    assert run_placed(case, InPlace(), decide_every=2.0).begun.tolist() == [0.0, 2.0, 5.0, 7.0]


SETTINGS = {
    "run_placed": ("PlacedFleet", InPlace, dict(look_every=0.25, decide_every=0.75, estimates="finished", log=True)),
    "run_ordered": ("OrderedFleet", Fcfs, dict(by_seconds=True, look_every=0.25, log=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_is_passed_to_the_part(name, monkeypatch):
    kind, policy, setting = SETTINGS[name]
    part, seen, reports = getattr(running, kind), [], []

    def create(*arguments, **more):
        seen.append(more)
        return part(*arguments, **more)

    monkeypatch.setattr(running, kind, create)
    call = {"run_placed": run_placed, "run_ordered": run_ordered}[name]
    case = FleetCase(Fleet.of([1]), fixed_table([0.0], [[2]], [1.0, 2.0]))
    call(case, policy(), **setting, progress=reports.append)
    call(case, policy())
    assert seen[0] == setting | {"progress": reports.append}
    assert reports[-1] == 1.0
    documented = dict(look_every=0.0, decide_every=0.0, estimates="true", by_seconds=False, log=False)
    assert seen[1] == {key: documented[key] for key in setting} | {"progress": None}


@pytest.mark.parametrize("kind", ["PlacedFleet", "OrderedFleet"])
def test_each_setting_of_a_part_reaches_its_state(kind):
    case = FleetCase(Fleet.of([1, 1], [1.0, 1.0], [1.0, 1.0]), fixed_table([0.0], [[1, 1]], np.ones(2)))
    part, names = getattr(running, kind), ("look_every", "decide_every", "by_seconds", "logs", "standing")
    placed = kind == "PlacedFleet"
    more = () if placed else (running.in_loop(Fcfs()),)
    bare = part(case, *more)._state.run[0]
    assert [bare[name] for name in names] == [0.0, 0.0, 0, 0, not placed]
    given = dict(decide_every=0.75, estimates="finished") if placed else dict(by_seconds=True)
    full = part(case, *more, look_every=0.25, log=True, **given)._state.run[0]
    assert [full[name] for name in names] == [0.25, 0.75 if placed else 0.0, 1, 1, not placed]
