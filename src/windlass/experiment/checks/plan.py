"""Checks for planning policies, which are called with random queries and clusters, without any engine."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from windlass.experiment.checks.cases import Drawn
from windlass.experiment.checks.common import Check
from windlass.experiment.checks.generic import generic_checks
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.plan import PlanView, QueryOptions, configurations


def drawn_hierarchy(rng: np.random.Generator, cameras: int) -> Hierarchy:
    """Return cameras, each below one of two private clusters, below a cloud; some capacities are 0, some unlimited."""
    clusters = [Cluster("cloud", float(rng.choice([0.0, 8.0, 40.0])))]
    for side in range(2):
        up = float(rng.choice([0.0, 4e5, np.inf]))
        clusters.append(Cluster(f"private-{side}", float(rng.uniform(0, 8)), up, 2e6, "cloud"))
    for camera in range(cameras):
        cores, up = float(rng.choice([0.0, 1.0])), float(rng.choice([2e5, 1e6]))
        clusters.append(Cluster(f"camera-{camera}", cores, up, parent=f"private-{camera % 2}"))
    return Hierarchy(tuple(clusters))


def drawn_query(rng: np.random.Generator, name: str, camera: str) -> Query:
    """Return a tracker with plans of several resolutions and detectors; costlier plans are mostly more accurate."""
    plans = []
    for lines in (1080, 480, 240):
        for detector, factor in (("mog", 1.0), ("knn", 2.0))[: int(rng.integers(1, 3))]:
            accuracy = float(np.clip(rng.normal(0.2 + lines / 1600 + 0.05 * factor, 0.05), 0, 1))
            work = factor * lines / 480 * float(rng.uniform(0.5, 1.5))
            chain = (
                Component(f"decode {lines}p", 0.1, 300.0 * lines),
                Component(f"detect {detector}", work, 100.0 * lines),
                Component(f"associate {name}", work / 2, 0.0),
            )
            plans.append(QueryPlan(accuracy, chain))
    return Query(name, camera, tuple(plans), source=1e5)


def drawn_view(rng: np.random.Generator, cameras: int = 3, queries: int = 8) -> PlanView:
    """Return a view of queries on cameras; about half run already, and queries of one camera can be merged."""
    tiers = drawn_hierarchy(rng, cameras)
    options = []
    for at in range(queries):
        found = configurations(drawn_query(rng, f"query-{at}", f"camera-{at % cameras}"), tiers)
        current = int(rng.integers(len(found))) if rng.random() < 0.5 else -1
        options.append(QueryOptions.of(at, found, current, merging=True))
    return PlanView(float(rng.uniform(0, 1e5)), tiers.resources, tiers.capacity(), tuple(options))


def drawn_views(seed: int) -> Generator[PlanView, Any, None]:
    """Yield views of several queries, of one, of identical ones, and of none."""
    rng = np.random.default_rng(seed)
    for step in range(12):
        view = drawn_view(rng, queries=(0, 1, 5, 12)[step % 4])
        if step == 11:
            same = view.queries[0]
            alike = tuple(QueryOptions(i, same.name, same.accuracy, same.demand) for i in range(5))
            view = PlanView(view.now, view.resources, view.capacity, alike)
        yield view


CASES = Drawn(lambda policy, seed: drawn_views(seed))

CHECKS: tuple[Check, ...] = generic_checks(CASES)
