"""Checks for policies of planning: they are asked about drawn queries and clusters, without any engine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

from windlass.experiment.checks.capabilities import require_compiled
from windlass.experiment.checks.common import require, require_defaults
from windlass.model import PolicyError
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.plan import Plan, PlanView, QueryOptions, configurations
from windlass.policy.registry import Registry


def drawn_hierarchy(rng: np.random.Generator, cameras: int) -> Hierarchy:
    """Cameras below one of two private clusters, below a cloud; some capacities are 0, some do not run short."""
    clusters = [Cluster("cloud", float(rng.choice([0.0, 8.0, 40.0])))]
    for side in range(2):
        up = float(rng.choice([0.0, 4e5, np.inf]))
        clusters.append(Cluster(f"private-{side}", float(rng.uniform(0, 8)), up, 2e6, "cloud"))
    for camera in range(cameras):
        cores, up = float(rng.choice([0.0, 1.0])), float(rng.choice([2e5, 1e6]))
        clusters.append(Cluster(f"camera-{camera}", cores, up, parent=f"private-{camera % 2}"))
    return Hierarchy(tuple(clusters))


def drawn_query(rng: np.random.Generator, name: str, camera: str) -> Query:
    """A tracker of some resolutions and detectors: more of either is dearer, and mostly more accurate."""
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
    """Queries on cameras, of which about half run already; those of one camera could be merged."""
    tiers = drawn_hierarchy(rng, cameras)
    options = []
    for at in range(queries):
        found = configurations(drawn_query(rng, f"query-{at}", f"camera-{at % cameras}"), tiers)
        current = int(rng.integers(len(found))) if rng.random() < 0.5 else -1
        options.append(QueryOptions.of(at, found, current, merging=True))
    return PlanView(float(rng.uniform(0, 1e5)), tiers.resources, tiers.capacity(), tuple(options))


def _drive(policy: Any, seed: int) -> Iterator[tuple[PlanView, Plan]]:
    """Views and answers in turn; a few are of one query, of identical ones, or of none."""
    rng = np.random.default_rng(seed)
    for step in range(12):
        view = drawn_view(rng, queries=(0, 1, 5, 12)[step % 4])
        if step == 11:
            same = view.queries[0]
            alike = tuple(QueryOptions(i, same.name, same.accuracy, same.demand) for i in range(5))
            view = PlanView(view.now, view.resources, view.capacity, alike)
        yield view, policy.decide(view)


def _make(registry: Registry, name: str) -> Any:
    return registry.make(name, np.random.default_rng(7))


def check_parameters_have_defaults(registry: Registry, name: str) -> None:
    """A policy can be named alone."""
    require_defaults(registry, name, ("rng",))


def check_can_be_carried_out(registry: Registry, name: str) -> None:
    """A configuration and a reason for each query, and together they fit."""
    for seed in range(5):
        try:
            for view, answer in _drive(_make(registry, name), seed):
                answer.check(view)
        except PolicyError as error:
            require(False, f"{name}: {error}")


def check_seeded(registry: Registry, name: str) -> None:
    """Twice the same seed gives the same answers, whatever the global generator does."""
    first = [answer for _, answer in _drive(_make(registry, name), 11)]
    before = pickle.dumps(np.random.get_state(legacy=False))  # noqa: NPY002
    second = [answer for _, answer in _drive(_make(registry, name), 11)]
    after = pickle.dumps(np.random.get_state(legacy=False))  # noqa: NPY002
    require(first == second, f"{name}: the same seed gives other answers")
    require(before == after, f"{name}: draws from NumPy's global generator")


def check_picklable(registry: Registry, name: str) -> None:
    """A copy through pickle, taken after it has decided, answers as the original does from then on."""
    policy = _make(registry, name)
    for _ in _drive(policy, 12):
        pass
    copy = pickle.loads(pickle.dumps(policy))
    goes_on = [answer for _, answer in _drive(policy, 13)]
    require(
        goes_on == [answer for _, answer in _drive(copy, 13)], f"{name}: a pickled copy answers otherwise"
    )


def check_leaves_the_view_alone(registry: Registry, name: str) -> None:
    """A view is the same after a decision."""
    policy, rng = _make(registry, name), np.random.default_rng(14)
    for _ in range(5):
        view = drawn_view(rng)
        before = pickle.dumps(view)
        policy.decide(view)
        require(pickle.dumps(view) == before, f"{name}: changes the view it is given")


def check_compiled_ahead(registry: Registry, name: str) -> None:
    """Where a policy says what is compiled ahead of a run, that is a tuple of kernels."""
    require_compiled(_make(registry, name), name)
