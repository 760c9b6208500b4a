"""One suite for every engine: the simulator, and the live engine in virtual time, on threads and on Ray."""

import numpy as np
import pytest

from tests.engines import check
from tests.engines.engines import ENGINES, SLOW
from windlass.drive import drive
from windlass.experiment.worlds.fleet.priority_order import OrderedPlacement
from windlass.model import PolicyError
from windlass.model.fleet import Fleet, FleetJobs, StageSpec
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.order.fleet.policies.swag import Swag
from windlass.place.policies.centralised import Centralised
from windlass.place.policies.in_place import InPlace
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import Placement

AREA = Fleet.of([3, 1, 2, 1], [8e6, 4e6, 6e6, 6e6], [8e6, 4e6, 8e6, 6e6], names=["a", "b", "c", "d"])


def marked(name):
    return pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name


@pytest.fixture(scope="module", params=[marked(name) for name in ENGINES])
def engines(request):
    with ENGINES[request.param]() as found:
        yield found


def some_jobs(count=3, seconds=0.2):
    rng = np.random.default_rng(5)
    stages = [
        [
            StageSpec(seconds, here=tuple(rng.multinomial(6, [0.2, 0.4, 0.2, 0.2]).tolist()), task_bytes=2e5),
            StageSpec(seconds / 2, tasks=3, parents=(0,), ratio=0.5),
        ]
        for _ in range(count)
    ]
    return FleetJobs.of([0.3 * job for job in range(count)], stages)


def ran(engines, policy, jobs, fleet=AREA, lost=None):
    decisions = []
    run = drive(
        engines.make(fleet, jobs, lost), {"place": policy}, lambda *logged: decisions.append(logged[1:])
    )
    return run, decisions


@pytest.mark.parametrize(
    "policy", [InPlace(), Tetrium(), Centralised(), OrderedPlacement(Swag())], ids=lambda p: p.name
)
def test_every_task_runs_once_within_slots_and_as_decided(engines, policy):
    jobs = some_jobs()
    run, decisions = ran(engines, policy, jobs)
    check.every_task_ran(run)
    check.no_site_is_over_its_slots(run)
    check.stages_follow_each_other(run)
    check.jobs_end_with_their_last_task(run, engines.late)
    check.bytes_add_up(run)
    decided, at_sites = check.decisions_were_carried_out(run, decisions)
    np.testing.assert_array_equal(decided, at_sites)
    assert run.decisions == len(decisions)
    assert sum(run.reasons.values()) == len(run.site)


def test_work_done_where_its_input_is_moves_nothing(engines):
    jobs = FleetJobs.of([0.0], [[StageSpec(0.1, here=(2, 1, 1, 2), task_bytes=3e5)]])
    run, _ = ran(engines, InPlace(), jobs)
    assert run.carried.sum() == 0
    assert np.bincount(run.site, minlength=4).tolist() == [2, 1, 1, 2]
    np.testing.assert_array_equal(run.site, run.source)


def test_a_remote_read_takes_the_time_of_its_links(engines):
    fleet = Fleet.of(AREA.slots, [1e6] * 4, [1e6, 5e5, 1e6, 1e6], names=AREA.names)
    jobs = FleetJobs.of([0.0], [[StageSpec(0.1, here=(1, 0, 0, 0), task_bytes=5e5)]])

    class Away:
        name = "away"

        def decide(self, view):
            return Placement(np.array([[0, 0, 1, 1]]), np.array([0]), ("to see how long it reads",))

    took = []
    while not took or (min(took) > 1.3 and len(took) < 12):
        run, _ = ran(engines, Away(), jobs, fleet)
        took.append(run.read[0] - run.begun[0] + 1e-6)
        assert run.carried[0, 1] == run.carried.sum() == 5e5
    # Links never exceed their rate; at least one of these reads must be undisturbed.
    assert 1.0 <= min(took) <= 1.3


@pytest.mark.parametrize(("policy", "first"), [(Fcfs(), 0), (Swag(), 1)], ids=["fcfs", "swag"])
def test_jobs_are_served_in_the_order_decided(engines, policy, first):
    # Two sites of one slot. The second job arrives after the first has started; under SWAG, as the smaller one, it goes
    # ahead of the remaining tasks.
    jobs = FleetJobs.of(
        [0.0, 0.1],
        [
            [StageSpec(0.3, here=(0, 4, 0, 4), task_bytes=1e3)],
            [StageSpec(0.3, here=(0, 1, 0, 1), task_bytes=1e3)],
        ],
    )
    run, _ = ran(engines, OrderedPlacement(policy), jobs)
    assert int(np.argmin(run.end)) == first
    check.no_site_is_over_its_slots(run)


def test_a_lost_sites_tasks_run_elsewhere_and_none_twice(engines):
    jobs = some_jobs(4, seconds=0.5)
    run, decisions = ran(engines, Tetrium(), jobs, lost=(0.7, 0))
    check.every_task_ran(run)
    check.jobs_end_with_their_last_task(run, engines.late)
    after = [view for view, _ in decisions if view.sites.slots[0] == 0]
    assert after, "the policy never saw that the site has no slots"
    noticed = after[0].now
    assert not ((run.site == 0) & (run.begun > noticed + 1e-6)).any()
    assert any(view.changed for view, _ in decisions)


@pytest.mark.parametrize(
    ("starts", "problem"),
    [
        ([[0, 0, 0, 9]], "not enough free slots"),
        ([[5, 0, 0, 1]], "no such stage row"),
        ([[0, 0, 7, 1]], "no such site"),
        ([[0, -1, 0, 1]], "no such site, or a source that does not fit"),
    ],
)
def test_an_invalid_answer_is_rejected(engines, starts, problem):
    jobs = FleetJobs.of([0.0], [[StageSpec(0.1, here=(9, 0, 0, 0), task_bytes=1e3)]])

    class Wrong:
        name = "wrong"

        def decide(self, view):
            return Placement(np.array(starts), np.zeros(len(starts), int), ("",))

    with pytest.raises(PolicyError, match=f"policy 'wrong' returned .*{problem}"):
        ran(engines, Wrong(), jobs)
