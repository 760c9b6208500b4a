"""Transit times of a frame with clusters in any order, against a sum over hops by name."""

import itertools

import pytest

from windlass.engines.streams.executor import QueryFeed
from windlass.engines.streams.transit import seconds_a_frame
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.plan.configurations import configurations

PATH = [
    Cluster("camera", 1, up=9e4, parent="near"), Cluster("near", 2, up=5e5, down=3e5, parent="far"),
    Cluster("far", 4, up=2e5, down=1e5, parent="top"), Cluster("top", 8, down=4e5),
]  # fmt: skip
PLAN = QueryPlan(0.6, (Component("a", 0.5, 6e4), Component("b", 0.25, 2e4)))


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::3])
def test_a_frame_takes_each_link_of_its_path_whatever_the_order_of_clusters(order):
    hierarchy = Hierarchy(tuple(PATH[at] for at in order))
    query = Query("q", "camera", (PLAN,), source=8e5)
    options, feed, seen = configurations(query, hierarchy), QueryFeed(query, 5.0, 10), set()
    for row, place in enumerate(options.place.tolist()):
        at, size, expected = 0, 8e5 / 5.0, 0.0
        for cluster, component in zip(place, PLAN.components, strict=True):
            to = order[cluster]
            rates = [min(PATH[hop].up, PATH[hop + 1].down) for hop in range(at, to)]
            expected += (size / min(rates) if rates else 0.0) + component.cores / 5.0
            at, size = to, component.output / 5.0
            seen.add(to)
        assert seconds_a_frame(feed, options, row, hierarchy) == pytest.approx(expected)
    assert seen == {0, 1, 2, 3}
