"""Queries over three tiers, small enough to reason about."""

from windlass.engines.streams.executor import QueryFeed
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan

TIERS = Hierarchy(
    (
        Cluster("camera", 1, up=1e6, parent="private"),
        Cluster("private", 4, up=1e6, parent="cloud"),
        Cluster("cloud", 8),
    )
)
CAMERA, PRIVATE, CLOUD = range(3)


def plan(accuracy, cores, output=1e5):
    return QueryPlan(
        accuracy,
        (Component(f"detect {cores}", cores, output), Component(f"associate {cores}", cores / 2, 0.0)),
    )


def feed(name, camera="camera", plans=((0.3, 0.25), (0.6, 1.0), (0.9, 3.0)), rate=2.0, frames=10):
    query = Query(name, camera, tuple(plan(*each) for each in plans), source=2e5)
    return QueryFeed(query, rate, frames)
