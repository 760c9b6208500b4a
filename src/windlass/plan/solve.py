"""The plans of several planners for the same queries, compared with the bound of the linear relaxation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError, PolicyError
from windlass.model.queries import Hierarchy, Query
from windlass.plan import POLICIES, Plan, PlanView, QueryOptions, configurations
from windlass.plan.bound import mean_bound
from windlass.policy.user_code import ANSWER_ERRORS, is_user_code, message_of, place_of


@dataclass(frozen=True, slots=True)
class PlannerResult:
    """The plan of one planner.

    Parameters
    ----------
    policy
        The name of the planner.
    view, plan
        Its view and its plan.
    mean
        Mean accuracy; a query that cannot run counts as 0.
    bound
        Upper bound on the mean accuracy of any plan that merges no queries.
    used
        (L,) Amount of each resource that the plan uses.
    """

    policy: str
    view: PlanView
    plan: Plan
    mean: float
    bound: float
    used: NDArray[np.float64]


def solve(
    queries: Sequence[Query], hierarchy: Hierarchy, policies: Sequence[str], seed: int = 1
) -> list[PlannerResult]:
    """Return the plans of several planners for the same queries.

    Parameters
    ----------
    queries, hierarchy
        The queries, and the clusters; the camera of each query is a cluster.
    policies
        Names of planners.
    seed
        The seed of planners that draw random numbers.

    Raises
    ------
    InputError
        A camera or a policy does not exist.
    PolicyError
        A planner returned a plan that cannot be carried out.

    Examples
    --------
    >>> from windlass.model.queries import Cluster, Component, QueryPlan
    >>> plans = tuple(QueryPlan(cores / 10, (Component(f"detect {cores}", cores, 0.0),)) for cores in (2, 6, 9))
    >>> tiers = Hierarchy((Cluster("cloud", 12),))
    >>> queries = [Query(name, "cloud", plans) for name in ("a", "b")]
    >>> [round(each.mean, 3) for each in solve(queries, tiers, ["fair"])]
    [0.6]
    """
    options = []
    for place, query in enumerate(queries):
        try:
            options.append(QueryOptions.of(place, configurations(query, hierarchy), merging=True))
        except InputError as error:
            raise InputError(f"query {query.name}: camera: {error}") from error
    view = PlanView(0.0, hierarchy.resources, hierarchy.capacity(), tuple(options))
    bound = mean_bound([each.accuracy for each in options], [each.demand for each in options], view.capacity)
    found = []
    for name in policies:
        policy = POLICIES.make(name, np.random.default_rng(seed))
        plan = policy.decide(view)
        try:
            plan.check(view)
        except PolicyError as error:
            raise PolicyError(f"{name}: {error}") from error
        except ANSWER_ERRORS as error:
            if not is_user_code(policy):
                raise
            raise PolicyError(
                f"policy {policy.name!r}{place_of(policy)} did not return a plan: {message_of(error)}"
            ) from error
        chosen = [
            float(each.accuracy[choice]) if choice >= 0 else 0.0
            for each, choice in zip(options, plan.choices, strict=True)
        ]
        found.append(PlannerResult(name, view, plan, float(np.mean(chosen)), bound, plan.demand(view)))
    return found
