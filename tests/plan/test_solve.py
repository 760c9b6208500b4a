"""Queries planned with several policies: the reported accuracy is that of the plan."""

from __future__ import annotations

import pytest

from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.plan.solve import solve


@pytest.mark.parametrize("policy", ["cascade", "refined"])
def test_the_mean_counts_first_configurations_and_queries_without_one(policy):
    """Two queries of one plan each, of which one fits: the mean is half of its accuracy."""
    plans = (QueryPlan(0.75, (Component("detect", 8.0, 0.0),)),)
    queries = [Query(name, "cloud", plans) for name in ("a", "b")]
    (found,) = solve(queries, Hierarchy((Cluster("cloud", 16.0),)), [policy])
    assert (list(found.plan.choices), found.mean) == ([0, 0], 0.75)
    (found,) = solve(queries, Hierarchy((Cluster("cloud", 12.0),)), [policy])
    assert (sorted(found.plan.choices), found.mean) == ([-1, 0], 0.375)
