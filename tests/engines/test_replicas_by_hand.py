"""The replica of a request, and silence reported to a policy, with a policy of given answers."""

import numpy as np
import pytest

from windlass.engines.serve.replicas import Replicas


class Given:
    """A policy with the rates and the choice that a test gives it."""

    def __init__(self, rates, choice=0):
        self._rates, self.choice, self.completions, self.came = rates, choice, [], []

    @property
    def rates(self):
        return None if self._rates is None else np.array(self._rates, float)

    @property
    def estimated_rates(self):
        return None if self._rates is None else 2.0 * self.rates

    def arrived(self, now):
        self.came.append(now)

    def choose(self, lengths):
        self.lengths = lengths.tolist()
        return self.choice

    def completed(self, worker, work, seconds):
        self.completions.append((worker, work, seconds))


class World:
    """Replicas called by letters, at a time that a test sets."""

    def __init__(self, rates, replicas, choice=0, at_once=1, known=True, **more):
        self.now, self.policy = 0.0, Given(rates, choice)
        self.names = "abcdefgh"[:replicas]
        more = {"explore_share": 0.0} | more
        self.replicas = Replicas(
            lambda workers: self.policy, clock=lambda: self.now, rng=np.random.default_rng(1), at_once=at_once, **more
        )  # fmt: skip
        self.replicas.members(self.names)
        if known:
            self.learn()

    def learn(self):
        for one in self.names:
            for request in range(3):
                self.replicas.sent(one, request)
                self.now += 1.0
                self.replicas.ended(one, request)
        self.policy.completions.clear()


def test_a_policy_that_learns_no_rates_still_chooses():
    world = World(None, 3, choice=1)
    world.replicas.sent("a", "x")
    world.now += 100.0
    # Without rates no silence is too long; the choice comes first, then the shortest queues, equals in order.
    assert world.replicas.rank({"b": 4, "c": 3}, {}) == ["b", "c", "a"]
    assert world.policy.completions == []
    assert world.replicas.speeds == {}
    assert world.replicas.spare_rate == 0.0


def test_the_silence_of_an_unknown_replica_is_not_reported():
    world = World([1.0], 1, known=False)
    world.replicas.sent("a", 1)
    world.now += 50.0
    world.replicas.rank({}, {})
    assert world.policy.completions == []


def test_silence_beyond_two_service_times_is_reported_incrementally():
    world = World([0.5, 0.5], 2, at_once=2)
    for request in "xyz":
        world.replicas.sent("b", request)
    # Three requests, two of which count: 4 busy seconds are two service times, which the rate explains.
    world.now += 2.0
    world.replicas.rank({}, {})
    assert world.policy.completions == []
    world.now += 0.25
    world.replicas.rank({}, {})
    assert world.policy.completions == [(1, 0.0, 4.5)]
    world.now += 2.0
    world.replicas.rank({}, {})
    assert world.policy.completions == [(1, 0.0, 4.5)]
    world.now += 0.25
    world.replicas.rank({}, {})
    assert world.policy.completions == [(1, 0.0, 4.5), (1, 0.0, 4.5)]
    world.now += 0.5
    world.replicas.ended("b", "x")
    # The completion holds the time that was not reported before.
    assert world.policy.completions[2:] == [(1, 1.0, 1.0)]
    world.now += 0.25
    world.replicas.ended("b", "y")
    assert world.policy.completions[3:] == [(1, 1.0, 0.5)]


@pytest.mark.parametrize("seed", range(40))
def test_replicas_are_tried_in_order_of_expected_wait_after_the_choice(seed):
    rng = np.random.default_rng(seed)
    n, at_once = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    rates = rng.choice([0.0, 0.25, 0.5, 1.0, 4.0], n).tolist() if seed % 5 else None
    seen, own = rng.integers(0, 7, n).tolist(), rng.integers(0, 4, n).tolist()
    limits = [each or None for each in rng.integers(0, 7, n).tolist()]
    choice, passed = int(rng.integers(n)), float(rng.choice([0.0, 0.5, 3.0, 30.0]))
    world = World(rates, n, choice, at_once)
    for one, count in zip(world.names, own, strict=True):
        for request in range(count):
            world.replicas.sent(one, f"r{request}")
    world.now += passed
    found = world.replicas.rank(
        dict(zip(world.names, seen, strict=True)),
        {one: limit for one, limit in zip(world.names, limits, strict=True) if limit is not None},
    )
    waits, has_room = [], []
    for at in range(n):
        there = max(own[at], seen[at])
        has_room.append(limits[at] is None or there < limits[at])
        rate = 1.0 if rates is None else max(rates[at], 1e-12)
        silent = passed * min(own[at], at_once)
        waits.append(max((max(there, at_once - 1) + 1) / rate, silent) / at_once)
    assert world.policy.lengths == [max(each, seen[at], at_once - 1) for at, each in enumerate(own)]
    if has_room[choice]:
        waits[choice] = -1.0
    full = min((wait for wait, room in zip(waits, has_room, strict=True) if not room), default=np.inf)
    order = sorted(range(n), key=lambda at: (waits[at], at))
    assert found == [world.names[at] for at in order if has_room[at] and waits[at] <= full]


def test_speeds_are_those_without_the_margin_of_the_policy_s_rates():
    world = World([0.5, 2.0], 2, at_once=3)
    for _ in range(4):
        world.now += 1.0 / 3.0
        world.replicas.arrived()
    assert world.replicas.speeds == {"a": 1.0, "b": 4.0}
    assert world.replicas.spare_rate == pytest.approx(3 * 5.0 - 3.0)
    for _ in range(200):
        world.now += 1.0 / 16.0
        world.replicas.arrived()
    assert world.replicas.spare_rate == 0.0


def test_a_new_policy_receives_the_last_times_of_remaining_replicas():
    world = World([1.0] * 3, 3, known=False, window=2)
    for seconds in (9.0, 1.0, 2.0, 4.0):
        world.replicas.arrived()
        world.replicas.sent("b", seconds)
        world.now += seconds
        world.replicas.ended("b", seconds)
    assert world.policy.completions == [(1, 1.0, 1.0), (1, 1.0, 2.0), (1, 1.0, 4.0)]
    first, world.policy = world.policy, Given([1.0] * 2)
    world.replicas.members("abc")
    assert not world.policy.completions
    world.replicas.members("cb")
    # Twice as many arrivals as completions are kept.
    assert first.came == world.policy.came == [0.0, 9.0, 10.0, 12.0]
    assert world.policy.completions == [(1, 1.0, 2.0), (1, 1.0, 4.0)]
    world.now += 1.0
    world.replicas.arrived()
    world.policy = Given([1.0])
    world.replicas.members("b")
    assert world.policy.came == [9.0, 10.0, 12.0, 17.0]
    assert world.policy.completions == [(0, 1.0, 2.0), (0, 1.0, 4.0)]


def test_the_new_replica_active_longest_ago_is_tried_first():
    world = World([1.0] * 3, 3, choice=2, known=False)
    assert world.replicas.rank({}, {})[0] == "a"
    # It was tried at this time; another one is next once time has passed.
    world.now = 1.0
    firsts = []
    for _ in range(4):
        firsts.append(world.replicas.rank({}, {})[0])
        world.now += 1.0
    assert firsts == ["a", "b", "c", "a"]
    world.replicas.sent("b", "x")
    assert world.replicas.rank({"c": 1}, {})[0] == "a"
    world.replicas.sent("a", "x")
    assert world.replicas.rank({"c": 1}, {}) is None


def test_each_request_explores_with_a_share_of_one():
    world = World([1.0] * 3, 3, choice=2, explore_share=1.0)
    world.now += 5.0
    firsts = []
    for _ in range(4):
        firsts.append(world.replicas.rank({}, {})[0])
        world.now += 1.0
    # The first one was active longest ago, as it ended its requests before the others.
    assert firsts == ["a", "b", "c", "a"]
    for one in "ab":
        world.replicas.sent(one, "x")
    assert world.replicas.rank({}, {})[0] == "c"
    world.replicas.sent("c", "x")
    world.policy.choice = 1
    assert world.replicas.rank({}, {})[0] == "b"


def test_replicas_of_rate_zero_are_tried_by_queue_length():
    world = World([0.0] * 4, 4, choice=0)
    lengths = {"a": 9, "b": 5, "c": 1, "d": 3}
    assert world.replicas.rank(lengths, {}) == ["a", "c", "d", "b"]
    # Replicas with longer queues than one at its limit are left out.
    assert world.replicas.rank(lengths, {"d": 3}) == ["a", "c"]
