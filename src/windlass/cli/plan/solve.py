"""``windlass plan solve``: what planners choose for queries on clusters."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from windlass.cli.plan.output import PlannerResult, reasons, tables_of, tree_of
from windlass.cli.terminal import terminal
from windlass.model import InputError, PolicyError
from windlass.model.queries import Hierarchy, Query
from windlass.plan import POLICIES, PlanView, QueryOptions, configurations
from windlass.plan.bound import mean_bound
from windlass.plan.files import read_hierarchy, read_queries
from windlass.policy.user_code import ODD, contained, is_foreign, place_of, said_by


def solve(
    queries: Sequence[Query], hierarchy: Hierarchy, policies: Sequence[str], seed: int = 1
) -> list[PlannerResult]:
    """Ask planners for a configuration of each query, one planner after the other.

    Parameters
    ----------
    queries, hierarchy
        Each query's camera is a cluster of the hierarchy.
    policies
        Their names.
    seed
        Of those that draw.

    Raises
    ------
    InputError
        A camera or a policy that is not there.
    PolicyError
        An answer that cannot be carried out.

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
        except ODD as error:
            if not is_foreign(policy):
                raise
            raise PolicyError(
                f"policy {policy.name!r}{place_of(policy)} gave no plan: {said_by(error)}"
            ) from error
        chosen = [
            float(each.accuracy[choice]) if choice >= 0 else 0.0
            for each, choice in zip(options, plan.choices, strict=True)
        ]
        found.append(PlannerResult(name, view, plan, float(np.mean(chosen)), bound, plan.demand(view)))
    return found


def solve_command(
    queries: Path, cluster: Path, policies: Sequence[str], *, seed: int, explain: bool, as_json: bool
) -> None:
    """Read, solve, print."""
    if not policies:
        raise InputError(f"--policy: no name, expected one of {', '.join(POLICIES.names())}")
    with contained():
        for name in policies:
            # A wrong name is told before anything is read or worked out.
            POLICIES.find(name)
        hierarchy, listed = read_hierarchy(cluster), read_queries(queries)
        try:
            found = solve(listed, hierarchy, policies, seed)
        except InputError as error:
            raise InputError(f"{queries}: {error}") from error
    if as_json:
        sys.stdout.write(json.dumps([tree_of(each) for each in found], allow_nan=False) + "\n")
        return
    console = terminal()
    for table in tables_of(found):
        console.print(table)
    for each in found:
        for line in reasons(each) if explain else ():
            console.print(line, soft_wrap=True)
        console.print(_summary(each), soft_wrap=True)


def _summary(of: PlannerResult) -> str:
    merged = ", with equal work done once (the bound is without)" if of.plan.merged else ""
    absent = of.plan.choices.count(-1)
    rest = f"; {absent} of {len(of.plan.choices)} cannot run" if absent else ""
    return f"{of.policy}: mean accuracy {of.mean:.4g}, LP bound {of.bound:.4g}{merged}{rest}"
