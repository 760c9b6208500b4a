"""Shares of scarce resources, with shared pieces and different demands, compared with a plain version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import query_loads
from tests.oracles.queries import Followed, pieces_of
from tests.oracles.shared import shared
from tests.plan.test_merging import sharing_view, some_choices
from windlass.plan import QueryOptions
from windlass.sim.queries.sharing import QueryLoad, load_of, share

SEEDS = range(250)


def drawn(seed: int):
    """Draw a load with pieces of one or several queries; some queries run nothing, some pieces demand nothing."""
    rng = np.random.default_rng(seed)
    queries, pieces, wide = int(rng.integers(1, 6)), int(rng.integers(1, 7)), int(rng.integers(1, 5))
    demand = rng.integers(0, 9, (pieces, wide)) / 8 * (rng.random((pieces, wide)) < 0.7)
    users = [
        sorted({int(row) for row in rng.integers(0, queries, rng.integers(1, 4))}) for _ in range(pieces)
    ]
    uses = [(piece, row) for piece, rows in enumerate(users) for row in rows]
    uses = [uses[at] for at in rng.permutation(len(uses))]
    load = QueryLoad(demand, np.array([p for p, _ in uses]), np.array([q for _, q in uses]), queries)
    capacity = rng.choice([0.0, 0.5, 1.0, 2.0, 3.0, np.inf], wide)
    behind = rng.random(queries) < 0.5
    named = {piece: (demand[piece].tolist(), set(users[piece])) for piece in range(pieces)}
    return load, named, capacity, behind, float(rng.choice([0.0, 0.25, 1.0]))


def test_rates_and_held_cores_equal_the_plain_version():
    behind_ones = 0
    for seed in SEEDS:
        load, pieces, capacity, behind, catch_up = drawn(seed)
        found = share(load, capacity, behind, catch_up)
        late = set(np.flatnonzero(behind).tolist())
        expected = shared(pieces, load.queries, capacity.tolist(), late, catch_up)
        assert found.base.tolist() == pytest.approx(expected.base, abs=1e-12), seed
        assert found.extra.tolist() == pytest.approx(expected.extra, abs=1e-12), seed
        assert found.held.tolist() == pytest.approx(expected.held, abs=1e-12), seed
        both = [base + extra for base, extra in zip(expected.base, expected.extra, strict=True)]
        assert found.rate.tolist() == pytest.approx(both, abs=1e-12)
        assert (load.usage(found.rate) <= capacity + 1e-9).all()
        behind_ones += 0.0 < found.extra.max(initial=0.0) < catch_up
    assert behind_ones > 10


@settings(max_examples=200)
@given(st.integers(0, 10**6), st.floats(0.3, 3.0), st.sampled_from((0.0, 0.25)), st.booleans())
def test_loads_and_speeds_equal_the_plain_version_to_the_bit(seed, scale, catch_up, merged):
    """Demands are scaled so that sums are rounded."""
    view, rng = sharing_view(seed), np.random.default_rng(seed)
    queries = [
        QueryOptions(
            each.query,
            each.name,
            each.accuracy,
            each.demand * scale,
            piece=each.piece,
            piece_demand=None if each.piece_demand is None else each.piece_demand * scale,
        )
        for each in view.queries
    ]
    choices = np.array([int(rng.integers(-1, len(each))) for each in queries])
    load, plainly = load_of(queries, choices, merged), query_loads.load_of(queries, choices, merged)
    for name in ("demand", "piece", "query", "queries"):
        assert np.array_equal(getattr(load, name), getattr(plainly, name)), name
    behind = (rng.random(len(queries)) < rng.choice([0.0, 0.5])) & (choices >= 0)
    found = share(load, view.capacity, behind, catch_up)
    expected = query_loads.share(plainly, view.capacity, behind, catch_up)
    for name in ("base", "extra", "held", "wanted"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_queries_that_are_behind_use_capacity_left_by_slow_ones():
    """The first query has half of its link, and uses half of the cores it asks for; the second may use the rest.

    Both together ask for all 4 cores. The first is as slow as its link, which has 1 of 2: it uses 1 of its 2 cores. So
    1 is left, which is what the second, which is behind, takes at half its stream's pace more.
    """
    load = QueryLoad(np.array([[2.0, 2.0], [2.0, 0.0]]), np.arange(2), np.arange(2), 2)
    found = share(load, np.array([4.0, 1.0]), np.array([False, True]), 0.5)
    assert found.base.tolist() == [0.5, 1.0]
    assert found.extra.tolist() == [0.0, 0.5]
    assert found.held.tolist() == [4.0, 1.0]


def test_an_empty_load_runs_at_full_rate_and_holds_nothing():
    load = QueryLoad(np.zeros((0, 2)), np.empty(0, np.int64), np.empty(0, np.int64), 3)
    found = share(load, np.array([1.0, 2.0]), np.array([True, False, True]), 0.25)
    assert found.base.tolist() == [1.0] * 3
    assert found.extra.tolist() == [0.0] * 3
    assert found.held.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("merged", [False, True])
def test_a_load_lists_each_piece_with_its_queries(merged):
    for seed in range(80):
        view = sharing_view(seed)
        choices = some_choices(view, np.random.default_rng(seed))
        load = load_of(view.queries, choices, merged)
        users = [set() for _ in load.demand]
        for piece, query in zip(load.piece, load.query, strict=True):
            users[piece].add(int(query))
        found = sorted((sorted(own), demand) for own, demand in zip(users, load.demand.tolist(), strict=True))
        rows = [Followed(choice=int(choice)) for choice in choices]
        expected = pieces_of(rows, view.queries, merged).values()
        assert found == sorted((sorted(own), list(demand)) for demand, own in expected), seed
        assert load.queries == len(choices)
        assert load.demand.shape[1] == len(view.capacity)


def test_no_queries_make_an_empty_load():
    load = load_of((), np.empty(0, np.int64), merged=True)
    assert (load.demand.shape, load.queries) == ((0, 0), 0)
