"""Options of the policy cascade, and the use of fair parts in refining, against plain versions and by hand."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from tests.plan.cases import loose_case, plain_greedy
from windlass.experiment.workloads.queries import drawn_queries, three_tiers
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.plan import POLICIES, PlanView, QueryOptions, configurations
from windlass.plan.lib.places import heights
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.refine import RefineLimits, refine


def view_of(case) -> PlanView:
    """The view of a policy on a drawn case."""
    queries = tuple(
        QueryOptions(at, f"q{at}", accuracy, demand)
        for at, (accuracy, demand) in enumerate(zip(case.accuracy, case.demand, strict=True))
    )
    names = tuple(f"site-{at}.cores" for at in range(len(case.capacity)))
    return PlanView(0.0, names, case.capacity, queries)


@pytest.mark.parametrize("efficiency", ["difference", "plain"])
@pytest.mark.parametrize("cost", ["dominant", "sum"])
def test_each_option_of_cascade_equals_the_plain_greedy(cost, efficiency):
    found = []
    for seed, (band, release) in enumerate(itertools.product((1.0, 2.0, np.inf), (False, True))):
        case = loose_case(seed, n=8, most=8, resources=3)
        problem = case.problem
        if cost == "sum":
            problem = dataclasses.replace(problem, cost=problem.demand.sum(axis=1))
        policy = POLICIES.find("cascade")(band, release, cost, efficiency)
        choices = policy.decide(view_of(case)).choices
        assert list(choices) == plain_greedy(problem, band, release, plain=efficiency == "plain").tolist()
        found.append(choices)
    assert len(set(found)) > 1


def test_fair_parts_win_where_prices_miss_them():
    """Of one resource, 0.6 for 0.7 is better by price than 0.5 for 0.55, and does not fit twice.

    The greedy and the rounded relaxation give one query 0.6 and the other nothing; fair parts give 0.5 to both. With
    one configuration kept by its worth, no other step knows of the 0.5.
    """
    problem = Problem.of([[0.0, 0.7, 0.55]] * 2, [[[0.0], [0.6], [0.5]]] * 2, [1.0])
    for sweeps in (0, 1, 20):
        choices, bound = refine(problem, RefineLimits(1, sweeps))
        assert choices.tolist() == [2, 2]
        assert bound >= 1.1
    assert plain_greedy(problem, 2.0, True).tolist() == [1, 0]


def camera_view(*plans: QueryPlan, cloud: float = 8.0, source: float = 5e4) -> PlanView:
    """Return a query at a camera of 2 cores whose link carries 100 kB/s, below a private cluster and a cloud."""
    tiers = Hierarchy(
        (
            Cluster("cloud", cloud),
            Cluster("private", 8.0, up=1e6, parent="cloud"),
            Cluster("camera", 2.0, up=1e5, parent="private"),
        )
    )
    found = configurations(Query("cars", "camera", plans, source), tiers)
    return PlanView(0.0, tiers.resources, tiers.capacity(), (QueryOptions.of(0, found),))


def label(view: PlanView, **options: object) -> str:
    """Return the configuration of the only query."""
    return view.queries[0].label(
        POLICIES.make("cascade", np.random.default_rng(1), **options).decide(view).choices[0]
    )


def test_ties_go_to_the_first_configuration_or_to_the_cloud():
    # Half of the camera's cores, or half of its link to either of the other clusters: all cost 0.5.
    view = camera_view(QueryPlan(0.9, (Component("detect", 1.0, 0.0),)))
    assert label(view) == "detect@camera"
    assert label(view, ties="cloud") == "detect@cloud"
    # In a cloud of 1 core it would cost 1, which is no tie.
    scarce = camera_view(QueryPlan(0.9, (Component("detect", 1.0, 0.0),)), cloud=1.0)
    assert label(scarce, ties="cloud") == "detect@private"


def test_ties_are_of_equal_accuracy_and_cost():
    plans = (
        QueryPlan(0.5, (Component("small", 1.0, 0.0),)),
        QueryPlan(0.9, (Component("large", 1.0, 5e4), Component("track", 1.0, 0.0))),
    )
    view = camera_view(*plans)
    assert label(view) == "large@camera; track@private"
    assert label(view, ties="cloud") == "large, track@cloud"


def test_a_dominated_configuration_in_the_cloud_wins_a_tie():
    # The cloud needs all that the private cluster needs, as its cores have no limit in the view.
    one = np.array([0.5, 0.5])
    demand = np.array([[1.0, 0.0], [1.0, 0.5]])
    query = QueryOptions(0, "cars", one, demand, place=np.array([[0, 1], [0, 2]]))
    view = PlanView(0.0, ("link", "other"), np.array([2.0, 2.0]), (query,))
    assert POLICIES.find("cascade")(ties="cloud").decide(view).choices == (1,)
    assert POLICIES.find("cascade")().decide(view).choices == (0,)


@pytest.mark.matrix(0)
def test_heights_count_the_clusters_below_each_component():
    tiers = three_tiers(2)
    names = [cluster.name for cluster in tiers.clusters[:2]]
    for query in drawn_queries(np.random.default_rng(1), names, 8, ("tracker", "counter")):
        found = configurations(query, tiers)
        path = tiers.path(query.camera)
        expected = [sum(path.index(at) for at in way if at >= 0) for way in found.place.tolist()]
        assert heights(QueryOptions.of(0, found)).tolist() == expected


def test_heights_of_one_component_follow_the_order_of_its_configurations():
    query = QueryOptions(0, "q", np.array([0.5] * 3), np.ones((3, 1)), place=np.array([[4], [0], [2]]))
    assert heights(query).tolist() == [0, 1, 2]
    assert heights(QueryOptions(0, "q", np.array([0.5] * 3), np.ones((3, 1)))).tolist() == [0, 0, 0]


def test_heights_follow_the_path_if_the_first_component_always_runs_at_the_camera():
    # The camera is cluster 2, below cluster 0, which is below cluster 1.
    place = np.array([[2, 2, 2], [2, 2, 0], [2, 2, 1], [2, 0, 0], [2, 0, 1], [2, 1, 1]])
    query = QueryOptions(0, "q", np.full(6, 0.5), np.ones((6, 1)), place=place)
    assert heights(query).tolist() == [0, 1, 2, 2, 3, 4]


def test_without_placements_ties_go_to_the_first_one():
    for seed in range(4):
        view = view_of(loose_case(seed, n=8, most=8, resources=3))
        assert POLICIES.find("cascade")(ties="cloud").decide(view).choices == (
            POLICIES.find("cascade")().decide(view).choices
        )
