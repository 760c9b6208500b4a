"""A standing order served in the loop is the same order served by placements: stages, links, drops."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.place import validator
from windlass.drive import drive
from windlass.experiment.workloads.drops import draw_drops
from windlass.experiment.workloads.sites import SiteModel, draw_sites
from windlass.experiment.workloads.stages import JobModel, draw_jobs
from windlass.experiment.worlds.fleet.priority_order import OrderedPlacement
from windlass.model import PolicyError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec, fixed_jobs
from windlass.model.timetable import SiteTimetable
from windlass.order.fleet import POLICIES, JobOrder
from windlass.order.fleet.compiled import in_loop
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.order.fleet.policies.swag import Swag
from windlass.sim.coupled import SinglePart
from windlass.sim.fleet import run_ordered, run_placed
from windlass.sim.fleet.part import OrderedFleet

SAME = ("end", "begun", "read", "computed", "site", "source", "sent")


def case(seed, jobs=10, sites=5, drops=False, closed=False):
    """Draw a case with few slots, a few stages per job, and data at all sites."""
    fleet = draw_sites(SiteModel(sites=sites, slots=(2, 30)), np.random.default_rng(seed))
    if closed:
        fleet.slots[seed % sites] = 0
    drawn = draw_jobs(
        JobModel(jobs=jobs, tasks=20, load=2.0, task_bytes=5e6), fleet, np.random.default_rng(seed + 1)
    )
    timetable = SiteTimetable.none()
    if drops:
        until = float(drawn.submit[-1]) + 80
        timetable = draw_drops(fleet, 0.6, 2, 7.0, until, np.random.default_rng(seed + 2))
    return FleetCase(fleet, drawn, timetable)


def make(name):
    return POLICIES.make(name, np.random.default_rng(0))


def same(one, other):
    for name in SAME:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(POLICIES.names()), st.booleans(), st.booleans())
def test_a_standing_order_equals_the_same_order_by_placements(seed, name, drops, closed):
    what = case(seed, drops=drops, closed=closed)
    in_loop = run_ordered(what, make(name), log=True)
    same(in_loop, run_placed(what, OrderedPlacement(make(name))))
    validator.check(in_loop, what.timetable if drops else None)


@pytest.mark.parametrize("name", POLICIES.names())
def test_a_python_policy_gives_the_same_schedule_as_a_compiled_one(name):
    policy = make(name)

    class Wrapped:
        name = "asked"

        def decide(self, view):
            return policy.decide(view)

    what = case(3, drops=True)
    same(run_ordered(what, policy), run_ordered(what, Wrapped()))


def test_without_links_reads_take_no_time():
    linked = case(5)
    fast = Fleet.of(linked.fleet.slots, np.full(5, 1e18), np.full(5, 1e18))
    free = Fleet.of(linked.fleet.slots)
    one, other = (run_ordered(dataclasses.replace(linked, fleet=fleet), Fcfs()) for fleet in (fast, free))
    np.testing.assert_allclose(one.end, other.end, atol=1e-6)
    assert (other.read == other.begun).all()
    assert other.carried.shape == (0, 0)


def test_ten_thousand_sites_run():
    rng = np.random.default_rng(1)
    job, tasks = np.repeat(np.arange(40), 25), rng.integers(1, 4, 1000)
    site = np.concatenate([np.sort(rng.choice(10_000, 25, replace=False)) for _ in range(40)])
    jobs = fixed_jobs(np.arange(40.0), job, site, tasks, rng.exponential(2.0, tasks.sum()))
    done = run_ordered(FleetCase(Fleet.of(np.full(10_000, 1)), jobs), Swag())
    assert np.isfinite(done.end).all()
    assert (done.site == jobs.home).all()


def test_a_later_stage_keeps_the_position_of_its_job():
    # Job 1's shuffle becomes ready after job 2 arrived, and still goes first.
    two = [StageSpec(1.0, here=(2,)), StageSpec(1.0, tasks=2, parents=(0,))]
    jobs = FleetJobs.of([0.0, 0.5], [two, [StageSpec(1.0, here=(4,))]])
    done = run_ordered(FleetCase(Fleet.of([2]), jobs), Fcfs())
    assert done.end.tolist() == [2.0, 4.0]


def test_arrays_grow_for_reads_and_stages():
    what, policy = case(11, jobs=30), Swag()
    # No job departs for a long time, so that there are more stages than the initial room.
    what = dataclasses.replace(what, jobs=dataclasses.replace(what.jobs, submit=np.zeros(30)))
    part = OrderedFleet(what, in_loop(policy))
    # The initial room is for six concurrent reads and batches, and 64 stages.
    part._grown(part._state._replace(flows=part._state.flows[:6], batches=part._state.batches[:6]))
    same(run_ordered(what, policy), drive(SinglePart(part), {"order": policy}))
    assert len(part._state.flows) > 6
    assert len(part._state.cells) > 64


def test_work_that_can_never_run_is_an_error():
    fleet = Fleet.of([0, 2], [0, 1], [1, 1])
    jobs = FleetJobs.of([0.0], [[StageSpec(1.0, here=(1, 1), task_bytes=1.0)]])
    with pytest.raises(PolicyError, match=r"policy 'fcfs' leaves tasks of 1 jobs waiting for ever"):
        run_ordered(FleetCase(fleet, jobs), Fcfs())


class Counting:
    name = "counting"

    def __init__(self):
        self.calls = []

    def decide(self, view):
        self.calls.append(view.now)
        return JobOrder(np.arange(len(view.job)), "first come, first served")


def test_an_ordering_policy_is_called_on_arrivals_departures_and_new_stages():
    two = [StageSpec(1.0, here=(4,)), StageSpec(1.0, tasks=4, parents=(0,))]
    policy = Counting()
    run_ordered(FleetCase(Fleet.of([2]), FleetJobs.of([0.0, 0.5], [two, two])), policy)
    # Jobs arrive at 0 and 0.5; maps end at 2 and 6; a job departs at 4. With no waiting task there is no call.
    assert policy.calls == [0.0, 0.5, 2.0, 4.0, 6.0]
