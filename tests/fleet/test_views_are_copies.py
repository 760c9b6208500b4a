"""Views of policies over sites are copies: a policy that overwrites its view changes nothing else."""

import dataclasses

import numpy as np
import pytest

from tests.engines.fake import FakeExecutor
from windlass.drive import drive
from windlass.engines.live.engine import LiveFleet
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec, fixed_table
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.place.policies.in_place import InPlace
from windlass.sim.fleet import run_ordered, run_placed

FLEET = Fleet.of([2, 1, 1], [1e6, 2e6, 1e6], [2e6, 1e6, 3e6])


def jobs():
    stages = [
        [
            StageSpec(2.0, here=(3, 1, 2), task_bytes=1e6, ratio=0.5),
            StageSpec(1.5, tasks=3, parents=(0,), ratio=0.25),
        ]
        for _ in range(4)
    ]
    return FleetJobs.of([0.0, 0.5, 4.0, 6.0], stages)


def overwrite(view_part):
    """Overwrite all writeable arrays; return their number."""
    if isinstance(view_part, np.ndarray):
        if view_part.flags.writeable:
            view_part[...] = 7
        return int(view_part.flags.writeable and view_part.size > 0)
    if dataclasses.is_dataclass(view_part):
        return sum(overwrite(getattr(view_part, each.name)) for each in dataclasses.fields(view_part))
    return sum(overwrite(each) for each in view_part) if isinstance(view_part, tuple) else 0


class Vandal:
    """Decides as another policy does, and overwrites its view."""

    name = "vandal"

    def __init__(self, policy, overwrites):
        self.policy, self.spoils, self.overwritten = policy, overwrites, 0

    def decide(self, view):
        answer = self.policy.decide(view)
        if self.spoils:
            self.overwritten += overwrite(view)
        return answer


def columns(run):
    names = ("end", "sent", "site", "source", "begun", "read", "computed", "carried")
    return {name: getattr(run, name).tolist() for name in names}


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("estimates", ["true", "finished"])
def test_a_placement_policy_that_overwrites_its_views_changes_nothing(live, estimates):
    found = []
    for overwrites in (False, True):
        policy, own = Vandal(InPlace(), overwrites), jobs()
        if live:
            run = drive(LiveFleet(FLEET, own, FakeExecutor(FLEET), estimates=estimates), {"place": policy})
        else:
            run = run_placed(FleetCase(FLEET, own), policy, estimates=estimates)
        found.append(columns(run))
        assert (policy.overwritten > 0) == overwrites
    assert found[0] == found[1]
    assert FLEET.up.tolist() == [1e6, 2e6, 1e6]


@pytest.mark.parametrize("by_seconds", [True, False])
def test_an_ordering_policy_that_overwrites_its_views_changes_nothing(by_seconds):
    found = []
    case = FleetCase(
        Fleet.of([1, 2]), fixed_table([0, 0, 1, 2], [[2, 1], [1, 3], [1, 1], [2, 2]], np.arange(1.0, 14.0))
    )
    for overwrites in (False, True):
        policy = Vandal(Fcfs(), overwrites)
        run = run_ordered(case, policy, by_seconds=by_seconds)
        found.append(
            (run.end.tolist(), run.begun.tolist(), run.decisions, run.jobs_reported, run.subjobs_reported)
        )
        assert (policy.overwritten > 0) == overwrites
    assert found[0] == found[1]
