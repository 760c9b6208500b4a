"""Emulated links, in virtual time: stated rates, and equal parts of them."""

import heapq
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.engines.live.wan import Links
from windlass.sim.links import max_min_rates

NO_LIMIT = float("inf")


def carried(links, flows, seconds):
    """Return the bytes of each endless transfer in `seconds`; each requests portions like the actor."""
    for flow in flows:
        links.open(*flow)
    passed = np.zeros(len(flows))
    queue = [(0.0, number, 0.0) for number in range(len(flows))]
    while queue:
        now, number, portion = heapq.heappop(queue)
        passed[number] += portion
        if now < seconds:
            size = links.portion(*flows[number])
            heapq.heappush(queue, (links.take(now, *flows[number], size), number, size))
    return passed / seconds


def fair(up, down, pair, flows):
    """Return the simulator's rate of each flow."""
    count = np.zeros((len(up), len(up)))
    np.add.at(count, tuple(np.transpose(flows)), 1)
    return max_min_rates(count, up, down, pair)[tuple(np.transpose(flows))]


def pairs(rows):
    return [[NO_LIMIT] * rows for _ in range(rows)]


@pytest.mark.parametrize(
    ("up", "down", "flows"),
    [
        ([20e6, 5e6, 10e6], [20e6, 5e6, 20e6], [(0, 2)]),
        ([20e6, 5e6, 10e6], [20e6, 5e6, 20e6], [(0, 2)] * 4 + [(0, 1)]),
        ([5e6, 1e6, 1e6], [5e6, 1e6, 20e6], [(0, 2)] * 9 + [(0, 1)]),
        ([20e6, 5e6, 1e6], [1e6, 1e6, 20e6], [(0, 2)] * 3 + [(1, 2)] * 3),
    ],
)
def test_flows_on_a_shared_link_get_equal_rates(up, down, flows):
    rates = carried(Links(up, down, pairs(3)), flows, 20.0)
    assert rates == pytest.approx(fair(up, down, pairs(3), flows), rel=0.03)


@settings(max_examples=60, deadline=None)
@given(
    up=st.lists(st.sampled_from([1e6, 2e6, 5e6, 10e6, 20e6]), min_size=4, max_size=4),
    down=st.lists(st.sampled_from([1e6, 2e6, 5e6, 10e6, 20e6]), min_size=4, max_size=4),
    limit=st.sampled_from([NO_LIMIT, 1e6, 3e6]),
    flows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda f: f[0] != f[1]), min_size=1, max_size=8
    ),
)
def test_no_link_exceeds_its_rate_and_rates_are_near_the_simulator(up, down, limit, flows):
    pair = pairs(4)
    pair[0][1] = limit
    links = Links(up, down, pair)
    rates = carried(links, flows, 10.0)
    for link, rate in zip(("up", "down"), (up, down), strict=True):
        used = Counter()
        for flow, passed in zip(flows, rates, strict=True):
            used[flow[0 if link == "up" else 1]] += passed
        assert all(used[site] <= rate[site] * 1.02 for site in used)
    expected = fair(up, down, pair, flows)
    # A bucket serves in turn, and does not delay late requests: nearly, but not exactly, max-min fair.
    assert (rates >= 0.8 * expected).all()
    assert rates.sum() >= 0.9 * expected.sum()


def test_the_portion_depends_on_open_transfers():
    links = Links([10e6, 1e6], [10e6, 1e6], pairs(2))
    assert links.portion(0, 1) == pytest.approx(0.02 * 1e6)
    links.open(0, 1)
    links.open(0, 0)
    assert links.portion(0, 0) == links.portion(0, 1)
    links.close(0, 1)
    assert links.portion(0, 0) == pytest.approx(0.02 * 10e6)
