"""All configurations of a query: every path up the tree, with the demand of each component."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.plan import QueryOptions, configurations

#: Listed neither from top to bottom nor from bottom to top; the other camera shares the private cluster.
TIERS = Hierarchy(
    (
        Cluster("cloud", 40.0),
        Cluster("camera", 1.0, up=1e6, parent="private"),
        Cluster("other", 1.0, up=1e6, parent="private"),
        Cluster("private", 4.0, up=2e6, down=3e6, parent="cloud"),
    )
)


def chain(*steps) -> tuple[Component, ...]:
    return tuple(Component(name, cores, output) for name, cores, output in steps)


#: Plans of three, one and two components, in an order that is not that of their lengths.
PLANS = (
    QueryPlan(0.9, chain(("decode", 0.5, 800.0), ("detect", 3.0, 90.0), ("track", 2.0, 7.0))),
    QueryPlan(0.3, chain(("count", 0.25, 5.0))),
    QueryPlan(0.6, chain(("decode", 0.5, 800.0), ("detect small", 1.0, 60.0))),
    QueryPlan(0.4, chain(("watch", 0.75, 4.0))),
)
SOURCE = 5000.0


def query(camera="camera", plans=PLANS, source=SOURCE, name="cars"):
    return Query(name, camera, plans, source=source)


def plainly(
    plan: QueryPlan, path: tuple[int, ...], levels: tuple[int, ...], source: float, to_root: bool = False
) -> np.ndarray:
    """(c, 4, 3) demand of each component of a plan for cores, uplink and downlink of all clusters."""
    found, before, taken = np.zeros((len(levels), 4, 3)), 0, source
    for at, (component, level) in enumerate(zip(plan.components, levels, strict=True)):
        found[at, path[level], 0] = component.cores
        for below, above in itertools.pairwise(path[before : level + 1]):
            found[at, below, 1] += taken
            found[at, above, 2] += taken
        before, taken = level, component.output
    for below, above in itertools.pairwise(path[before:] if to_root else ()):
        found[-1, below, 1] += taken
        found[-1, above, 2] += taken
    return found


def expected(of: Query):
    """Accuracy, number of the plan, clusters and demands by component of each configuration, in order."""
    path = TIERS.path(of.camera)
    for number, plan in enumerate(of.plans):
        for levels in itertools.product(range(len(path)), repeat=len(plan.components)):
            if list(levels) == sorted(levels):
                way = [path[level] for level in levels]
                yield plan.accuracy, number, way, plainly(plan, path, levels, of.source, of.to_root)


@pytest.mark.parametrize("to_root", [False, True])
@pytest.mark.parametrize("camera", ["camera", "other", "private", "cloud"])
def test_every_path_up_the_tree_is_listed_with_its_demand(camera, to_root):
    found = configurations(replace(query(camera), to_root=to_root), TIERS)
    ways = list(expected(found.query))
    assert len(found) == len(ways)
    assert found.accuracy.tolist() == [accuracy for accuracy, *_ in ways]
    assert found.plan.tolist() == [number for _, number, *_ in ways]
    for row, (_, _, way, requested) in enumerate(ways):
        c = len(way)
        assert found.place[row].tolist() == way + [-1] * (3 - c)
        assert found.piece_demand[row, :c].tolist() == requested.reshape(c, -1).tolist()
        assert not found.piece_demand[row, c:].any()
        assert found.demand[row].tolist() == pytest.approx(requested.sum(axis=0).ravel().tolist())


def test_pieces_are_equal_for_equal_work_in_the_same_place():
    """Equal numbers mean one camera and stream, the same components so far, and all in the same clusters."""
    requested = [query(), query(name="people"), query("other"), query(source=1.0), query(plans=PLANS[1:3])]
    meant = {}
    for each in requested:
        found = configurations(each, TIERS)
        for row in range(len(found)):
            components = each.plans[found.plan[row]].components
            assert (found.piece[row, len(components) :] == -1).all()
            done = (each.camera, each.source)
            for at, component in enumerate(components):
                done = (*done, component.name, int(found.place[row, at]))
                assert found.piece[row, at] >= 0
                meant.setdefault(int(found.piece[row, at]), set()).add(done)
    assert all(len(each) == 1 for each in meant.values())
    works = [work for each in meant.values() for work in each]
    assert len(set(works)) == len(works)


def test_labels_group_components_by_cluster():
    found = configurations(query(), TIERS)
    labels = found.labels
    assert len(labels) == len(found) == 22
    assert labels[0] == "decode, detect, track@camera"
    assert labels[1] == "decode, detect@camera; track@private"
    assert labels[-1] == found.label(21) == "watch@cloud"
    assert labels[1:20:6] == tuple(found.label(j) for j in (1, 7, 13, 19))
    with pytest.raises(IndexError):
        labels[22]


@pytest.mark.parametrize("merging", [False, True])
def test_options_of_a_query_are_its_configurations(merging):
    found = configurations(query(), TIERS)
    options = QueryOptions.of(7, found, current=3, merging=merging)
    assert (options.query, options.name, options.current, len(options)) == (7, "cars", 3, 22)
    assert options.accuracy.tolist() == found.accuracy.tolist()
    assert options.demand.tolist() == found.demand.tolist()
    assert options.place.tolist() == found.place.tolist()
    assert options.label(5) == found.label(5)
    pieces = (found.piece.tolist(), found.piece_demand.tolist()) if merging else (None, None)
    given = [None if each is None else each.tolist() for each in (options.piece, options.piece_demand)]
    assert tuple(given) == pieces
    assert QueryOptions.of(7, found).current == -1
    assert QueryOptions.of(7, found).piece is None
