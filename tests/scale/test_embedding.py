"""Embedding, base instance, virtual instances and placement groups, against plain loops."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.model import InputError
from windlass.scale import embed
from windlass.scale.base_instance import base_instance
from windlass.scale.embedding import Embedding, balance

sizes = st.integers(0, 6)
vectors = st.lists(st.tuples(sizes, sizes, sizes), max_size=12)
buckets = st.lists(st.tuples(sizes, sizes, sizes).filter(any), min_size=1, max_size=5)


def naive_counts(requests, types):
    """Algorithm 2 with tuples, which Python compares lexicographically; an oversized job gets whole instances."""
    order = sorted(range(len(types)), key=lambda x: types[x])
    sums = [[0.0] * 3 for _ in types]
    extra = [0] * len(types)
    for vector in sorted(requests):
        under = [x for x in order if all(v <= b for v, b in zip(vector, types[x], strict=True))]
        if under:
            for r in range(3):
                sums[under[0]][r] += vector[r]
            continue
        able = [x for x in order if all(b > 0 for v, b in zip(vector, types[x], strict=True) if v > 0)]
        besides = {x: sum(b > 0 and v == 0 for v, b in zip(vector, types[x], strict=True)) for x in able}
        chosen = [x for x in able if besides[x] == min(besides.values())][-1]
        extra[chosen] += max(math.ceil(v / b) for v, b in zip(vector, types[chosen], strict=True) if b)
    return [
        extra[x] + max(s / b for s, b in zip(sums[x], types[x], strict=True) if b) for x in range(len(types))
    ]


def test_both_readings_give_the_paper_s_tables():
    requests, types = [(0, 1, 1), (0, 1, 2), (1, 2, 4)], [(0, 1, 2), (1, 2, 4)]
    assert embed(requests, types).tolist() == [2.0, 1.0]
    assert embed(requests, types, resource=2).tolist() == [1.5, 1.0]


def test_counting_by_one_resource_ignores_the_others():
    # Of the first resource the jobs need one instance, of the second two.
    assert embed([(1, 4), (0, 4)], [(1, 4)]).tolist() == [2.0]
    assert embed([(1, 4), (0, 4)], [(1, 4)], resource=0).tolist() == [1.0]


@settings(deadline=None)
@given(vectors, buckets)
def test_counts_equal_those_of_plain_loops(requests, types):
    # Equal types are one type in the order; which of them comes first is unspecified.
    types = list(dict.fromkeys(types))
    able = [v for v in requests if all(any(b[r] for b in types) or not v[r] for r in range(3))]
    able = [v for v in able if any(all(b[r] or not v[r] for r in range(3)) for b in types)]
    assert np.allclose(embed(np.array(able).reshape(-1, 3), types), naive_counts(able, types))


@settings(deadline=None)
@given(vectors, buckets, st.randoms())
def test_counts_are_independent_of_the_order_of_jobs_and_types(requests, types, random):
    types = [*dict.fromkeys(types), (6, 6, 6)] if (6, 6, 6) not in types else list(dict.fromkeys(types))
    jobs, places = list(requests), list(range(len(types)))
    random.shuffle(jobs)
    random.shuffle(places)
    before = embed(np.array(requests).reshape(-1, 3), types)
    after = embed(np.array(jobs).reshape(-1, 3), [types[x] for x in places])
    assert np.allclose(before[places], after)


@settings(deadline=None)
@given(vectors)
def test_whole_instances_hold_the_total_request(requests):
    types = np.array([(0, 2, 4), (1, 4, 4), (6, 6, 6)])
    counts = np.ceil(embed(np.array(requests).reshape(-1, 3), types) - 1e-9)
    total = np.array(requests).reshape(-1, 3).sum(axis=0)
    assert (counts @ types >= total).all()


def test_the_first_unequal_element_decides_the_order():
    """As printed, Algorithm 1 would call (2, 1) less than (1, 2) as well, since 1 < 2 follows."""
    assert Embedding([(2, 1, 1), (1, 2, 1)]).order.tolist() == [1, 0]
    assert embed([(1, 1, 1)], [(2, 1, 1), (1, 2, 1)]).tolist() == [0.0, 1.0]


def test_a_smaller_vector_that_does_not_fit_goes_to_the_next_type():
    """(0, 9, 1) comes before (1, 2, 4) in the order, and does not fit under it."""
    assert Embedding([(1, 2, 4), (1, 16, 4)]).assign([(0, 9, 1)]).tolist() == [1]


def test_a_job_larger_than_every_type_is_a_virtual_instance():
    kinds = Embedding([(0, 4, 8), (0, 16, 64), (1, 4, 16), (8, 32, 256)])
    requests = [(16, 8, 8), (0, 40, 8), (1, 4, 16), (0, 0, 130)]
    assert [(each.vector, each.bucket, each.size) for each in kinds.virtual(requests)] == [
        (0, 3, 2),
        (1, 1, 3),
    ]
    assert kinds.counts(requests).tolist() == [0, 3, 1, 2 + 130 / 256]


def test_a_whole_multiple_gets_no_extra_instance():
    assert Embedding([(0.1, 0, 0)]).virtual([(0.3, 0, 0)])[0].size == 3


def test_invalid_input_is_named_in_the_error():
    with pytest.raises(InputError, match=r"vectors: row 1, resource 2 is nan, expected 0 or more"):
        embed([(0, 1, 1), (0, 1, np.nan)], [(0, 1, 2)])
    with pytest.raises(InputError, match=r"vectors: row 0, resource 1 is -1\.0"):
        embed([(0, -1, 1)], [(0, 1, 2)])
    with pytest.raises(InputError, match=r"no bucket has the requested resource 0"):
        embed([(1, 1, 1)], [(0, 1, 2)])
    with pytest.raises(InputError, match=r"bucket 1 has no capacity"):
        embed([], [(0, 1, 2), (0, 0, 0)])
    with pytest.raises(InputError, match=r"vectors has shape \(1, 2\), expected \(n, 3\)"):
        embed([(1, 1)], [(0, 1, 2)])
    with pytest.raises(InputError, match="resource is 3"):
        embed([], [(0, 1, 2)], resource=3)


def test_no_jobs_need_no_instances():
    assert embed([], [(0, 1, 2), (1, 1, 1)]).tolist() == [0.0, 0.0]


def test_the_base_is_the_smallest_type_that_reduces_the_scale():
    """Jobs of two cores: instances of one core cannot hold them, those of four leave half of the last one idle."""
    types, price = [(0, 1, 1), (0, 2, 2), (0, 4, 4)], [1, 2, 4]
    snapshots = [[(0, 2, 2)] * n for n in (1, 2, 3)]
    base = base_instance(snapshots, types, price)
    assert (base.smallest, base.scale.tolist()) == (1, [12.0, 12.0, 16.0])
    assert base_instance([[(0, 4, 4)]], types, price).smallest == 2


def test_every_job_fits_a_type_from_the_base_on():
    base = base_instance([[(0, 1, 1)], [(1, 1, 1)]], [(1, 1, 1), (1, 8, 0)], [1, 1])
    assert base.smallest == 0
    assert len(base.scale) == 1


@settings(deadline=None)
@given(st.lists(st.integers(1, 8), max_size=20), st.integers(1, 5), st.integers(0, 9))
def test_members_go_to_groups_in_turn(members, groups, first):
    found = balance(members, groups, first)
    load = np.bincount(found, minlength=groups)
    assert load.max() - load.min() <= 1
    assert all((b - a) % groups == 1 % groups for a, b in itertools.pairwise(found))


def test_a_virtual_instance_needs_members_and_a_group():
    with pytest.raises(InputError, match="virtual instance 1 has 0 instances"):
        balance([1, 0], 2)
    with pytest.raises(InputError, match="groups is 0"):
        balance([1], 0)


def test_a_missing_number_is_named_by_row_and_resource():
    with pytest.raises(InputError, match="vectors: row 1, resource 0 is nan, expected 0 or more"):
        embed([[1], [None]], [[4]])
    with pytest.raises(InputError, match="buckets: row 0, resource 1 is nan"):
        embed([[1, 1]], [[4, None]])
    assert embed([[1], [2]], [[4]]).tolist() == [0.75]


@pytest.mark.parametrize("value", [-1.0, math.inf, math.nan])
def test_an_invalid_size_is_named_by_row_and_resource(value):
    for name, given_sizes, types in (
        ("vectors", [[1, 1], [1, value]], [[1, 2]]),
        ("buckets", [[1, 1]], [[1, 2], [1, value]]),
    ):
        with pytest.raises(InputError, match=f"^{name}: row 1, resource 1 is {value}, expected 0 or more$"):
            embed(given_sizes, types)
