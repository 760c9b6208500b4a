"""Tetrium's decisions: order of jobs and tasks, fairness, budgets, kept plans; baselines by hand."""

import time

import numpy as np
import pytest

from windlass.model import InputError
from windlass.place import POLICIES
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import PlaceView, Ready, Sites
from windlass_reproductions.tetrium.paper import busy_view


def started(answer, rows):
    return np.bincount(answer.starts[:, 0], answer.starts[:, 3], rows)


def moved_bytes(view, answer):
    total = 0.0
    for row, source, site, tasks in answer.starts:
        part = tasks / view.ready.waiting[row]
        if source < 0:
            total += part * (view.ready.data[row].sum() - view.ready.data[row, site])
        elif source != site:
            total += tasks * view.ready.data[row, source] / view.ready.here[row, source]
    return total


def test_jobs_with_the_fewest_stages_left_go_first_then_the_shortest():
    sites = Sites.of(slots=[10], up=[1e9], down=[1e9])
    ready = Ready.of(0, [1, 1, 9], [[10], [20], [10]], left=[2, 1, 1])
    answer = Tetrium().decide(PlaceView(0.0, sites, ready))
    assert answer.starts[:, [0, 3]].tolist() == [[1, 10]]
    ready = Ready.of(0, [1, 1, 9], [[10], [9], [10]], left=[2, 1, 1])
    assert started(Tetrium().decide(PlaceView(0.0, sites, ready)), 3).tolist() == [0, 9, 1]


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_each_job_keeps_its_fair_share(epsilon):
    view = busy_view(8)
    few = view.sites._replace(free=np.full(50, 4))
    answer = Tetrium(epsilon=epsilon).decide(PlaceView(0.0, few, view.ready))
    got, waiting = started(answer, 8), view.ready.waiting
    assert got.sum() <= 200
    promised = (1 - epsilon) * 200 * waiting / waiting.sum()
    # A job may want fewer slots than it is promised where they are not at the right sites.
    assert (got >= np.floor(promised) * 0.5).all()
    if epsilon == 0.0:
        assert got.max() <= np.ceil(promised.max()) + 8


def test_without_budget_maps_stay_in_place_and_shuffles_move_least():
    view = busy_view(9)
    answer = Tetrium(rho=0.0).decide(view)
    maps = answer.starts[:, 1] >= 0
    assert (answer.starts[maps, 1] == answer.starts[maps, 2]).all()
    for row in np.unique(answer.starts[~maps, 0]):
        own = answer.starts[answer.starts[:, 0] == row]
        assert own[:, 2].tolist() == [int(np.argmax(view.ready.data[row]))]


def test_an_exceeded_budget_is_a_reason():
    sites = Sites.of(slots=[0, 20, 20], up=[1e9] * 3, down=[1e9] * 3)
    ready = Ready.of(0, 1.0, [[8, 4, 0]], 1e6)
    shuffle = Ready.of(1, 1.0, [[0, 0, 0]], data=[[8e6, 4e6, 0.0]], waiting=6)

    def reasons(policy, what):
        answer = policy.decide(PlaceView(0.0, sites, what))
        return {answer.reasons[code].partition(":")[0] for code in answer.why.tolist()}

    kept = {"its input is here", "reads remotely, so it starts before local tasks"}
    over = {"its input is here", "moves more than its budget ρ allows"}
    # Two thirds of the input have to leave their site.
    assert reasons(Tetrium(rho=0.7), ready) == kept
    assert reasons(Tetrium(rho=0.6), ready) == over
    assert reasons(Tetrium(rho=0.0), ready) == over
    # The least shuffle counts that site out, and can always be kept to.
    assert reasons(Tetrium(rho=0.0), shuffle) == {"its share of the shuffle"}


def test_kept_plans_do_not_change_the_order_of_jobs():
    sites = Sites.of(slots=[4, 4], up=[1e9, 1e9], down=[1e9, 1e9])
    ready = Ready.of(0, [9, 1], [[8, 8], [4, 4]])
    for keep in (0, 2):
        assert started(Tetrium(update_sites=keep).decide(PlaceView(0.0, sites, ready)), 2).tolist() == [0, 8]


def test_more_budget_moves_more():
    view = busy_view(1, seed=5)
    moved = [moved_bytes(view, Tetrium(rho=rho).decide(view)) for rho in (0.0, 0.3, 1.0)]
    assert moved == sorted(moved)


def test_remote_tasks_start_first_from_several_sources_and_local_ones_keep_slots():
    sites = Sites.of(slots=[200, 1, 1, 1], up=[1e9, 1e7, 2e7, 3e7], down=[1e9] * 4, free=[20, 1, 1, 1])
    ready = Ready.of(0, 20.0, [[100, 60, 60, 60]], 1e5)
    first = Tetrium().decide(PlaceView(0.0, sites, ready)).starts
    at_hub = {int(source): int(tasks) for _, source, site, tasks in first if site == 0}
    assert at_hub[0] == 2
    assert sorted(at_hub) == [0, 1, 2, 3]
    local = Tetrium(map_order="local").decide(PlaceView(0.0, sites, ready)).starts
    assert {int(source): int(tasks) for _, source, site, tasks in local if site == 0} == {0: 20}


def test_a_kept_plan_changes_at_few_sites():
    view = busy_view(1, seed=2)
    plan = Tetrium(update_sites=4).decide(view).plan
    assert plan.sum() == view.ready.waiting.sum()
    worse = view.sites._replace(slots=view.sites.slots // np.where(np.arange(50) < 25, 4, 1))
    after = Tetrium(update_sites=4).decide(
        PlaceView(1.0, worse, view.ready._replace(plan=plan), changed=True)
    )
    assert 2 <= (after.plan != plan).sum() <= 4
    assert after.plan.sum() == plan.sum()
    same = Tetrium(update_sites=4).decide(PlaceView(1.0, worse, view.ready._replace(plan=plan)))
    np.testing.assert_array_equal(same.plan, plan)


def test_the_better_of_forward_and_reverse_is_no_worse_than_either():
    from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
    from windlass.sim.fleet import run_placed

    fleet = Fleet.of([40, 10, 20], [5e9, 1e9, 2e9], [5e9, 1e9, 5e9])
    jobs = FleetJobs.of(
        [0.0],
        [[StageSpec(2.0, (200, 300, 500), 1e8, ratio=4.0), StageSpec(1.0, tasks=500, parents=(0,))]],
    )
    times = {
        way: run_placed(FleetCase(fleet, jobs), Tetrium(direction=way)).end[0]
        for way in ("forward", "reverse", "best")
    }
    assert times["best"] <= max(times["forward"], times["reverse"])


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"epsilon": 2.0}, "epsilon is 2"),
        ({"rho": float("nan")}, "rho is nan"),
        ({"direction": "sideways"}, "direction is 'sideways'"),
        ({"map_order": "none"}, "map_order is 'none'"),
        ({"update_sites": 1}, "update_sites is 1"),
    ],
)
def test_bad_parameters_are_named(parameters, problem):
    with pytest.raises(InputError, match=problem):
        POLICIES.make("tetrium", np.random.default_rng(0), **parameters)


def test_a_hundred_jobs_are_ordered_and_placed_in_time():
    view, policy = busy_view(100), Tetrium()
    policy.decide(view)
    best = np.inf
    for _ in range(20):
        begun = time.perf_counter()
        policy.decide(view)
        best = min(best, time.perf_counter() - begun)
    assert best < 0.020
