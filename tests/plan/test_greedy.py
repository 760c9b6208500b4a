"""The greedy: as printed, by hand and against a plain version; its band; the worked example."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan.cases import loose_case, plain_greedy, tied_case, tiered_case
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.plan import POLICIES, PlanView, QueryOptions, cascade, configurations, optimal, refined
from windlass.plan.lib.greedy import greedy, in_band
from windlass.plan.lib.problem import Problem

MEGABIT = 125e3


def trackers() -> PlanView:
    """Section 5.3: two trackers, cameras without cores, a private cluster of 3 cores and 3 Mb/s, a cloud."""
    private = Cluster("private", 3.0, up=3 * MEGABIT, parent="cloud")
    cameras = tuple(Cluster(f"camera-{at}", 0.0, up=3 * MEGABIT, parent="private") for at in (1, 2))
    tiers = Hierarchy((*cameras, private, Cluster("cloud", 40.0)))
    plans = tuple(
        QueryPlan(
            accuracy,
            (
                Component(f"encode {lines}", 0.0, to_detector * MEGABIT),
                Component("detect", detect, to_associator * MEGABIT),
                Component("associate", associate, 0.0),
            ),
        )
        for lines, to_detector, to_associator, detect, associate, accuracy in (
            ("1080p", 3.0, 1.5, 3.0, 3.0, 0.9),
            ("480p", 1.0, 1.0, 2.0, 2.0, 0.6),
            ("240p", 0.5, 0.5, 0.5, 0.5, 0.2),
        )
    )
    queries = [Query(f"tracker-{at}", f"camera-{at}", plans, source=20 * MEGABIT) for at in (1, 2)]
    options = (QueryOptions.of(at, configurations(query, tiers)) for at, query in enumerate(queries))
    return PlanView(0.0, tiers.resources, tiers.capacity(), tuple(options))


@pytest.mark.parametrize("name", ["optimal", "refined"])
def test_the_worked_example_reaches_a_mean_accuracy_of_0_75(name):
    view = trackers()
    plan = POLICIES.make(name, np.random.default_rng(1)).decide(view)
    plan.check(view)
    chosen = sorted(zip(view.queries, plan.choices, strict=True), key=lambda pair: -pair[0].accuracy[pair[1]])
    assert np.mean([options.accuracy[choice] for options, choice in chosen]) == pytest.approx(0.75)
    labels = [options.label(choice).partition(";")[2].strip() for options, choice in chosen]
    assert labels == ["detect@private; associate@cloud", "detect, associate@cloud"]


def test_two_trackers_at_1080p_do_not_fit():
    view = trackers()
    best = [[j for j in range(len(each)) if each.accuracy[j] == 0.9] for each in view.queries]
    problem = Problem.of_view(view)
    assert not any(problem.fits(np.array([a, b])) for a in best[0] for b in best[1])


def test_a_case_traced_by_hand():
    """One resource of 10; costs .1 .4 .6 and .1 .2 .7.

    Cheapest: both at .1, 8 are left. Efficiencies: the first's (.6 − .2) / .3 = 1.33, (.9 − .2) / .5 = 1.4; the
    second's (.25 − .2) / .1 = .5, (.8 − .2) / .6 = 1. The first takes its third: 3 are left. Of the second's, the third
    asks for 7 and does not fit; it takes its second, and 2 are left. Nothing fits any more.
    """
    ladders = [[0.2, 0.6, 0.9], [0.2, 0.25, 0.8]]
    cores = [[[1.0], [4.0], [6.0]], [[1.0], [2.0], [7.0]]]
    assert cascade(ladders, cores, [10.0], band=np.inf).tolist() == [2, 1]


def test_efficiency_is_computed_from_differences():
    """By accuracy over cost alone, the second's .5 for 2.5 would go first, and the first's 5 not fit."""
    ladders, cores = [[0.1, 0.6], [0.4, 0.5]], [[[2.0], [5.0]], [[1.0], [2.5]]]
    assert cascade(ladders, cores, [8.0]).tolist() == [1, 0]
    plain = greedy(Problem.of(ladders, cores, [8.0]), np.inf, plain=True)
    assert plain.tolist() == [0, 1]


def test_the_query_s_own_demand_is_released_only_with_release():
    ladders, cores = [[0.2, 0.6]] * 2, [[[1.0], [4.0]]] * 2
    problem = Problem.of(ladders, cores, [8.0])
    assert greedy(problem, 2.0, release=False).tolist() == [1, 0]
    assert greedy(problem, 2.0, release=True).tolist() == [1, 1]


def test_of_a_query_s_switches_with_equal_efficiency_the_one_with_the_larger_gain_goes_first():
    """Both gain .25 for each core. After the smaller one 2 cores are left, and the larger one would not fit."""
    assert cascade([[0.25, 0.5, 0.75]], [[[1.0], [2.0], [3.0]]], [4.0]).tolist() == [2]


def test_a_switch_that_did_not_fit_is_tried_again_after_another_query_releases_its_resource():
    """The second query's switch, 3 cores of the first resource, fits only after the first has left that resource."""
    ladders = [[0.2, 0.4], [0.2, 0.9]]
    cores = [[[2.0, 0.0], [0.0, 3.0]], [[1.0, 0.0], [3.0, 0.0]]]
    assert cascade(ladders, cores, [4.0, 4.0]).tolist() == [1, 1]


@pytest.mark.parametrize("release", [False, True])
@pytest.mark.parametrize("band", [1.0, 2.0, np.inf])
def test_greedy_equals_the_plain_greedy(band, release):
    for seed in range(25):
        problem = loose_case(seed, n=1 + seed % 12, most=12, resources=1 + seed % 7).problem
        assert greedy(problem, band, release).tolist() == plain_greedy(problem, band, release).tolist(), seed


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("release", [False, True])
def test_greedy_equals_the_plain_greedy_with_ties_and_exact_fits(release, plain, monkeypatch):
    monkeypatch.setattr("windlass.plan.lib.greedy.ROOM", 1.0)
    for seed in range(120):
        problem, band = tied_case(seed).problem, (1.0, 1.5, 2.0, np.inf)[seed % 4]
        found = greedy(problem, band, release, plain).tolist()
        assert found == plain_greedy(problem, band, release, plain, each=1.0).tolist(), seed


def test_the_band_only_removes_configurations():
    for seed in range(10):
        problem = tiered_case(seed, n=6, cameras=3).problem
        for band in (1.0, 1.5, 3.0):
            keep = in_band(problem, band)
            assert keep.sum() <= in_band(problem, band + 1.0).sum()
            among = problem.whole(keep, greedy(problem.only(keep), np.inf))
            assert greedy(problem, band).tolist() == among.tolist()


def test_the_boundary_is_always_in_the_band():
    problem = loose_case(3, n=10).problem
    keep = in_band(problem, 1.0)
    for i, row in enumerate(problem.start[:-1]):
        own = slice(row, problem.start[i + 1])
        least = [
            problem.cost[own][problem.accuracy[own] >= accuracy].min() for accuracy in problem.accuracy[own]
        ]
        assert keep[own].tolist() == (problem.cost[own] <= least).tolist()


def test_the_reason_of_a_query_that_cannot_run_names_the_short_resource():
    one = np.array([0.5]), np.array([[0.0, 6.0]])
    queries = tuple(QueryOptions(at, f"q{at}", *one) for at in range(2))
    view = PlanView(0.0, ("private.cores", "cloud.cores"), np.array([9.0, 10.0]), queries)
    plan = POLICIES.make("cascade", np.random.default_rng(1)).decide(view)
    assert plan.choices == (0, -1)
    assert plan.why[1] == "cannot run: not enough cloud.cores: needs 6, 4 left of 10"


def test_optimal_and_refined_run_all_queries_if_possible():
    """The cheapest of both take private cores, of which there is enough for one; one can go to the cloud."""
    arrays = [[0.9, 0.3]] * 2, [[[3.0, 0.0], [0.0, 50.0]]] * 2, [5.0, 60.0]
    assert sorted(optimal(*arrays).tolist()) == [0, 1]
    assert sorted(refined(*arrays).tolist()) == [0, 1]
