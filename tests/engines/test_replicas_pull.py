"""The pull rule among live replicas, with immediate binding."""

import numpy as np
import pytest
from benchmarks.routers import ROUTERS, Setting, responses

from tests.engines.test_replicas import Served


@pytest.mark.parametrize("load", [0.3, 0.85])
def test_pull_learns_the_speeds_of_replicas(load):
    world = Served({"a": 1.0, "b": 2.0, "c": 4.0}, dispatch="pull", window=200)
    world.run(3000, rate=7 * load)
    speeds = world.replicas.speeds
    assert [speeds[one] for one in "abc"] == pytest.approx([1.0, 2.0, 4.0], rel=0.25)
    assert world.sent["c"] > world.sent["b"] > world.sent["a"] > 0


def test_each_request_goes_where_it_is_expected_to_end_first():
    """With constant service times, only ties and exploration are random."""
    speeds = {"slow": 1.0, "fast": 10.0, "middle": 3.0}
    world = Served(speeds, dispatch="pull", explore_share=0.0, window=400)
    for step in range(400):
        world.replicas.arrived()
        for one, speed in speeds.items():
            world.now += 100.0
            world.replicas.sent(one, step)
            world.now += 1 / speed
            world.replicas.ended(one, step)
        world.replicas.rank({}, {})
    rng = np.random.default_rng(3)
    for _ in range(50):
        lengths = dict(zip(speeds, rng.integers(0, 25, 3).tolist(), strict=True))
        waits = {one: (lengths[one] + 1) / speeds[one] for one in speeds}
        first, second = sorted(waits.values())[:2]
        # Estimates shrink towards their mean by their standard error.
        if second > 1.1 * first:
            assert world.replicas.rank(lengths, {})[0] == min(waits, key=waits.get)


def test_in_virtual_time_equal_routers_get_equal_requests_and_equal_responses():
    setting = Setting((1, 2, 4), 0.6)
    found = {router: [responses(setting, router, 1) for _ in range(2)] for router in ROUTERS}
    assert all(np.array_equal(*twice) for twice in found.values())
    assert len({len(first) for first, _ in found.values()}) == 1


def test_a_lone_replica_is_a_queue():
    """With one replica there is no choice: Lindley's recursion gives each response."""
    setting = Setting((1,), 0.5)
    rng = np.random.default_rng(4)
    came = np.cumsum(rng.exponential(1 / 5.0, 700))
    came = came[came < 35.0]
    free, expected = 0.0, []
    for due, work in zip(came, rng.exponential(1.0, len(came)), strict=True):
        free = max(due, free) + work / 10.0
        expected.append(free - due)
    expected = np.array(expected)[came >= 5.0]
    for router in ("pull", "rosella"):
        np.testing.assert_allclose(responses(setting, router, 4), expected, rtol=1e-9)
