"""The cache never exceeds its budget, and evicts the entries of least worth."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.model import InputError
from windlass.plan.profile.cache import Cache

KEYS = st.integers(0, 5)
STEPS = st.one_of(
    st.tuples(st.just("begin"), KEYS),
    st.tuples(st.just("add"), KEYS, st.integers(0, 40), st.floats(0, 10)),
    st.tuples(st.just("end"), KEYS),
    st.tuples(st.just("read"), KEYS),
    st.tuples(st.just("release"), KEYS),
    st.tuples(st.just("drop"), KEYS),
    st.tuples(st.just("uses"), KEYS, st.integers(0, 5)),
)


class NaiveCache:
    """A naive cache: sizes and seconds of the values of each key; worth is recomputed at each call."""

    def __init__(self) -> None:
        self.sizes: dict[int, list[int]] = {}
        self.seconds: dict[int, list[float]] = {}

    def worth(self, key, uses, size=0):
        return uses[key] * sum(self.seconds[key]) / max(sum(self.sizes[key]) + size, 1)

    def forget(self, key):
        self.sizes.pop(key, None)
        self.seconds.pop(key, None)


@settings(deadline=None)
@given(st.integers(0, 100), st.lists(STEPS, max_size=60))
def test_the_cache_keeps_its_budget_and_the_most_valuable_entries(budget, steps):
    uses = dict.fromkeys(range(6), 1)
    cache, naive, reading = Cache(budget, uses.__getitem__), NaiveCache(), set()
    for what, key, *rest in steps:
        if what == "uses":
            uses[key] = rest[0]
        elif what == "begin" and key not in reading:
            cache.begin(key)
            naive.forget(key)
            naive.sizes[key], naive.seconds[key] = [], []
        elif what == "add" and cache.keeps(key) and not cache.has(key):
            size, seconds = rest
            naive.seconds[key].append(seconds)
            mine = naive.worth(key, uses, size)
            less = [
                other
                for other in naive.sizes
                if other not in reading and other != key and naive.worth(other, uses) < mine
            ]
            could = budget - sum(sum(held) for other, held in naive.sizes.items() if other not in less)
            before = {other: list(held) for other, held in naive.sizes.items() if other != key}
            kept = cache.add(key, "value", size, seconds)
            assert kept == (size <= could)
            if kept:
                naive.sizes[key].append(size)
                gone = [other for other in before if not cache.keeps(other)]
                assert set(gone) <= set(less)
                # No needless eviction: the best evicted entry would not fit, and no kept entry is worth less.
                free = budget - cache.held
                for other in gone:
                    assert all(
                        naive.worth(stays, uses) >= naive.worth(other, uses)
                        for stays in less
                        if stays not in gone
                    )
                if gone:
                    dearest = max(gone, key=lambda other: naive.worth(other, uses))
                    assert sum(before[dearest]) > free or not sum(before[dearest])
                for other in gone:
                    naive.forget(other)
            else:
                assert all(cache.keeps(other) for other in before)
                naive.forget(key)
        elif what == "end":
            cache.end(key)
        elif what == "read" and cache.has(key) and key not in reading:
            assert len(cache.read(key)) == len(naive.sizes[key])
            reading.add(key)
        elif what == "release" and key in reading:
            cache.release(key)
            reading.remove(key)
        elif what == "drop" and key not in reading:
            cache.drop(key)
            naive.forget(key)
        assert cache.held == sum(map(sum, naive.sizes.values())) <= cache.most_held <= budget
        assert {each for each in range(6) if cache.keeps(each)} == set(naive.sizes)


def test_a_more_often_used_entry_is_kept():
    uses = {"often": 9, "seldom": 1}
    for first, second in (("often", "seldom"), ("seldom", "often")):
        cache = Cache(10, uses.__getitem__)
        for key in (first, second):
            cache.begin(key)
            cache.add(key, key, 8, 1.0)
            cache.end(key)
        assert (cache.has("often"), cache.has("seldom")) == (True, False)


def test_a_negative_budget_is_rejected():
    with pytest.raises(InputError, match=r"cache is -1, expected a finite number at least 0"):
        Cache(-1, lambda key: 1)
