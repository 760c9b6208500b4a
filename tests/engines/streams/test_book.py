"""Nodes and queries in the book of streams, and expected frame latencies, computed by hand."""

import math

import numpy as np
import pytest

from tests.engines.streams.cases import CAMERA, CLOUD, PRIVATE, TIERS, feed
from windlass.engines.streams.book import StreamBook
from windlass.engines.streams.executor import QueryFeed, Segment, StreamNode
from windlass.engines.streams.transit import seconds_a_frame
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.plan.configurations import configurations
from windlass.plan.view import Plan


def test_a_frame_takes_its_work_and_the_slowest_link_of_each_transfer():
    tiers = Hierarchy(
        (
            Cluster("camera", 1, up=4e5, parent="near"), Cluster("near", 4, up=1e5, down=2e5, parent="far"),
            Cluster("far", 8, down=5e4),
        )
    )  # fmt: skip
    plan = QueryPlan(0.6, (Component("a", 0.5, 1e5), Component("b", 0.2, 2e4), Component("c", 0.1, 7.0)))
    query = Query("q", "camera", (plan,), source=2e6)
    options, own = configurations(query, tiers), QueryFeed(query, 10.0, 100)
    rates = {(0, 1): min(4e5, 2e5), (1, 2): min(1e5, 5e4), (0, 2): min(4e5, 2e5, 1e5, 5e4)}
    assert len(options.place) > 5
    for row, place in enumerate(options.place.tolist()):
        expected, at, size = 0.0, 0, 2e5
        for to, component in zip(place, plan.components, strict=True):
            if to != at:
                expected += size / rates[at, to]
            expected += component.cores / 10.0
            at, size = to, component.output / 10.0
        assert seconds_a_frame(own, options, row, tiers) == pytest.approx(expected)


def test_a_frame_over_a_link_of_zero_rate_never_arrives():
    tiers = Hierarchy((Cluster("camera", 1, up=0.0, parent="far"), Cluster("far", 8)))
    plan = QueryPlan(0.6, (Component("a", 0.5, 0.0), Component("b", 0.2, 0.0)))
    query = Query("q", "camera", (plan,), source=5.0)
    options, own = configurations(query, tiers), QueryFeed(query, 10.0, 100)
    found = {
        tuple(place): seconds_a_frame(own, options, row, tiers)
        for row, place in enumerate(options.place.tolist())
    }
    assert found.get((1, 1), math.inf) == math.inf
    assert found[0, 0] == pytest.approx(0.07)
    # Nothing is sent, so the link does not matter.
    assert found.get((0, 1), 0.07) == pytest.approx(0.07)


def nodes():
    return [
        StreamNode(3, CAMERA, 1.0, "a"),
        StreamNode(5, PRIVATE, 2.0, "b"),
        StreamNode(6, PRIVATE, 2.0, "c"),
        StreamNode(7, CLOUD, 8.0, "d"),
    ]


def test_a_book_has_the_cores_of_living_nodes():
    book = StreamBook(TIERS, nodes())
    names = TIERS.resources
    whole = book.capacity()
    assert [whole[names.index(f"{name}.cores")] for name in ("camera", "private", "cloud")] == [1.0, 4.0, 8.0]
    assert (whole != TIERS.capacity()).sum() == 0
    del book.nodes[5], book.nodes[7]
    assert book.alive().tolist() == [True, True, False]
    left = book.capacity()
    assert [left[names.index(f"{name}.cores")] for name in ("camera", "private", "cloud")] == [1.0, 2.0, 0.0]
    links = [at for at, name in enumerate(names) if not name.endswith(".cores")]
    assert (left[links] == TIERS.capacity()[links]).all()
    assert (TIERS.capacity() == whole).all()


def test_a_query_may_run_only_on_living_nodes_and_names_missing_ones():
    book = StreamBook(TIERS, nodes())
    one, other = book.add(feed("one"), 2.0), book.add(feed("other"), 3.0)
    assert (one.number, other.number, one.zero, other.zero, one.camera) == (0, 1, 2.0, 3.0, CAMERA)
    assert (one.choice, one.why) == (-1, "no plan yet")
    everything = book.possible(one)
    assert everything.tolist() == list(range(len(one.options.accuracy)))
    del book.nodes[7]
    place = one.options.place
    kept = book.possible(one)
    assert kept.tolist() == [row for row in everything if CLOUD not in place[row]]
    book.entries.remove(other)
    one.choice = int(kept[2])
    view, queries = book.view(9.0)
    assert (view.now, queries) == (9.0, (one,))
    (shown,) = view.queries
    assert (shown.name, shown.current) == ("one", 2)
    assert (shown.accuracy == one.options.accuracy[kept]).all()
    assert (shown.demand == one.options.demand[kept]).all()
    assert shown.labels == tuple(one.options.label(int(row)) for row in kept)
    book.choose(queries, Plan(np.array([1]), ("because",)))
    assert (one.choice, one.why) == (int(kept[1]), "because")
    book.choose(queries, Plan(np.array([-1]), ("too much",)))
    assert (one.choice, one.why) == (-1, "too much")
    assert one.summary == "one: cannot run (too much)"
    one.choice, one.why = 0, f"{one.options.label(0)} is best"
    assert one.summary == f"one: {one.options.label(0)} is best"
    del book.nodes[3]
    assert book.view(9.0)[1] == ()
    assert (one.choice, one.why) == (-1, "no living node at its camera camera")
    assert book.add(feed("third"), 4.0).number == 2


def test_each_segment_is_on_the_node_with_the_most_idle_cores():
    book = StreamBook(TIERS, [*nodes(), StreamNode(9, CAMERA, 3.0, "e")])
    entry = book.add(feed("one"), 0.0)
    place = entry.options.place.tolist()
    plans = entry.options.plan
    cases = {
        (PRIVATE, CLOUD): [(CAMERA, 0, 0), (PRIVATE, 0, 1), (CLOUD, 1, 2)],
        (CAMERA, CAMERA): [(CAMERA, 0, 2)], (CAMERA, CLOUD): [(CAMERA, 0, 1), (CLOUD, 1, 2)],
        (PRIVATE, PRIVATE): [(CAMERA, 0, 0), (PRIVATE, 0, 2)],
    }  # fmt: skip
    seen = 0
    for row, clusters in enumerate(place):
        expected = cases.get(tuple(clusters[:2]))
        if expected is None:
            continue
        seen += 1
        entry.choice = row
        # The larger of the camera's two nodes, unless too much of it is used; of equals the first.
        taken = {9: 2.5, 5: 0.5}
        found = book.segments(entry, taken)
        assert [(each.cluster, each.first, each.last) for each in found] == expected
        assert [each.node for each in found] == [
            {CAMERA: 3, PRIVATE: 6, CLOUD: 7}[each.cluster] for each in found
        ]
        components = entry.feed.query.plans[int(plans[row])].components
        for each in found:
            cores = sum(component.cores for component in components[each.first : each.last])
            assert taken[each.node] == pytest.approx(cores)
        assert (taken[9], taken[5]) == (2.5, 0.5)
        assert {each.node for each in book.segments(entry, {9: 1.5})} <= {9, 5, 7}
    assert seen >= 4
    taken = {}
    book.take(entry, 0, [Segment(CAMERA, 4, 0, 1), Segment(CAMERA, 4, 1, 2)], taken)
    first = entry.feed.query.plans[int(plans[0])].components
    assert taken == {4: pytest.approx(first[0].cores + first[1].cores)}
