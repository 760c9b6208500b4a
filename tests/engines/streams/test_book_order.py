"""The book of streams with clusters in any order and plans of different lengths, against a plain rule."""

import itertools

import pytest

from tests.engines.streams.cases import feed
from windlass.engines.streams.book import StreamBook
from windlass.engines.streams.executor import QueryFeed, StreamNode
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan

LONG = QueryPlan(0.9, (Component("a", 0.5, 9e4), Component("b", 1.0, 5e4), Component("c", 0.25, 0.0)))
SHORT = QueryPlan(0.4, (Component("d", 0.75, 0.0),))
CLUSTERS = [
    Cluster("camera", 2, up=1e6, parent="private"),
    Cluster("private", 4, up=1e6, parent="cloud"),
    Cluster("cloud", 8),
]
ORDERS = list(itertools.permutations(range(3)))


def made(order):
    hierarchy = Hierarchy(tuple(CLUSTERS[at] for at in order))
    book = StreamBook(hierarchy, [StreamNode(10 + at, at, 4.0, f"n{at}") for at in range(3)])
    return book, book.add(QueryFeed(Query("q", "camera", (LONG, SHORT), source=2e5), 2.0, 10), 0.0)


@pytest.mark.parametrize("order", ORDERS)
def test_an_option_is_possible_if_all_its_clusters_have_a_node(order):
    book, entry = made(order)
    names = [CLUSTERS[at].name for at in order]
    assert entry.camera == names.index("camera")
    every = dict(book.nodes)
    lengths = {len(entry.feed.query.plans[plan].components) for plan in entry.options.plan.tolist()}
    assert lengths == {1, 3}
    for living in itertools.chain.from_iterable(itertools.combinations(range(3), n) for n in range(4)):
        book.nodes = {10 + at: every[10 + at] for at in living}
        expected = []
        for row, (plan, place) in enumerate(
            zip(entry.options.plan.tolist(), entry.options.place.tolist(), strict=True)
        ):
            used = place[: len(entry.feed.query.plans[plan].components)]
            if entry.camera in living and set(used) <= set(living):
                expected.append(row)
        assert book.possible(entry).tolist() == expected
        assert book.alive().tolist() == [at in living for at in range(3)]
        assert book.view(1.0)[1] == ((entry,) if expected else ())


@pytest.mark.parametrize("order", ORDERS)
def test_segments_hold_each_component_once_in_order(order):
    book, entry = made(order)
    seen = set()
    for row, place in enumerate(entry.options.place.tolist()):
        entry.choice = row
        components = entry.feed.query.plans[int(entry.options.plan[row])].components
        segments = book.segments(entry, {})
        assert segments[0].cluster == entry.camera
        assert [each.first for each in segments] == [0, *(each.last for each in segments[:-1])]
        assert segments[-1].last == len(components)
        where = [each.cluster for each in segments for _ in range(each.first, each.last)]
        assert where == place[: len(components)]
        assert all(a.cluster != b.cluster for a, b in itertools.pairwise(segments))
        assert all(each.node == 10 + each.cluster for each in segments)
        seen.add(len(segments))
    assert seen == {1, 2, 3}


def test_a_query_that_cannot_run_does_not_shift_the_choices_of_others():
    book, entry = made((0, 1, 2))
    other = book.add(feed("other"), 1.0)
    view, queries = book.view(2.0)
    assert queries == (entry, other)
    assert [query.name for query in view.queries] == ["q", "other"]
    assert [query.current for query in view.queries] == [-1, -1]
