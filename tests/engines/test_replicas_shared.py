"""Replicas shared by several routers: requests of other routers do not count as slowness."""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.engines.serve.options import RouterOptions
from windlass.engines.serve.replica import Replica
from windlass.engines.serve.replicas import Replicas

SPEEDS = (1.0, 4.0)


def estimates(routers: int, load: float, requests: int = 12_000) -> list[dict[int, float]]:
    """Return each router's speed estimates; replicas serve in turn and report their queue lengths."""
    rng, now = np.random.default_rng(7), 0.0
    options = RouterOptions(window=200)
    learning = [
        Replicas(lambda workers: options.policy(workers, rng), clock=lambda: now, rng=rng)
        for _ in range(routers)
    ]
    for each in learning:
        each.members(range(len(SPEEDS)))
    there, free, ends = [0] * len(SPEEDS), [0.0] * len(SPEEDS), list[tuple[float, int, int, int]]()
    due = 0.0
    for request in range(requests):
        due += rng.exponential(1 / (load * sum(SPEEDS)))
        while ends and ends[0][0] <= due:
            now, replica, router, ended = heapq.heappop(ends)
            there[replica] -= 1
            learning[router].ended(replica, ended)
        now = due
        router, replica = int(rng.integers(routers)), int(rng.random() < SPEEDS[1] / sum(SPEEDS))
        there[replica] += 1
        free[replica] = max(now, free[replica]) + rng.exponential(1 / SPEEDS[replica])
        heapq.heappush(ends, (free[replica], replica, router, request))
        learning[router].arrived()
        learning[router].rank({}, {})
        learning[router].sent(replica, request, there[replica])
    return [each.speeds for each in learning]


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("routers", [1, 2, 8])
@pytest.mark.parametrize("load", [0.3, 0.85])
def test_estimates_are_service_rates_for_any_number_of_routers(routers, load):
    for speeds in estimates(routers, load):
        for replica, speed in enumerate(SPEEDS):
            assert speeds[replica] == pytest.approx(speed, rel=0.3)


def test_no_second_is_counted_twice():
    replica = Replica(now=0.0, window=16)
    replica.begin("a", now=0.0, at_once=1, length=3)
    replica.begin("b", now=1.0, at_once=1, length=4)
    assert replica.end("a", now=3.0, at_once=1) == (3.0, 3.0)
    # Four requests in the three seconds from 1 to 4, of which the second from 3 on is left.
    assert replica.end("b", now=4.0, at_once=1) == pytest.approx((4 / 3, 1.0))
    replica.begin("c", now=10.0, at_once=1, length=2)
    assert replica.end("c", now=12.0, at_once=1) == (2.0, 2.0)


def test_reported_seconds_of_silence_are_not_reported_again():
    replica = Replica(now=0.0, window=16)
    replica.begin("a", now=0.0, at_once=1, length=2)
    replica.count(5.0, at_once=1)
    replica.reported = 4.0
    assert replica.end("a", now=6.0, at_once=1) == (2.0, 2.0)


@given(at_once=st.integers(1, 4), length=st.integers(1, 8))
def test_a_concurrent_replica_has_the_same_speed_with_and_without_others(at_once, length):
    """All requests share it: beyond its capacity at full speed, each takes proportionally longer."""
    replica = Replica(now=0.0, window=16)
    replica.begin("a", now=0.0, at_once=at_once, length=length)
    done = replica.end("a", now=2.0 * max(length, at_once) / at_once, at_once=at_once)
    assert done.work / done.seconds == pytest.approx(0.5)
