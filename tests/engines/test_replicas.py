"""Dispatch among replicas with a manual clock, without an engine."""

from collections import Counter

import numpy as np
import pytest

from windlass.dispatch import Rosella
from windlass.engines.serve.ejection import RequestOutcome
from windlass.engines.serve.options import RouterOptions
from windlass.engines.serve.replica import TRIALS
from windlass.engines.serve.replicas import Replicas
from windlass.model import InputError


class Served:
    """Replicas of known speeds that serve one request at a time, in a world with a clock of its own."""

    def __init__(self, speeds, rng=None, **options):
        self.now = 0.0
        self.speeds = dict(speeds)
        self.rng = np.random.default_rng(1) if rng is None else rng
        self.checked = RouterOptions(**{"dispatch": "rosella", **options})
        self.replicas = Replicas(
            lambda workers: self.checked.policy(workers, self.rng),
            clock=lambda: self.now,
            rng=self.rng,
            at_once=self.checked.at_once,
            explore_share=self.checked.explore_share,
        )
        self.replicas.members(self.speeds)
        self.ends = []  # (when, replica, request)
        self.free_at = dict.fromkeys(self.speeds, 0.0)
        self.sent = dict.fromkeys(self.speeds, 0)
        self.requests = 0

    def run(self, requests, rate):
        for _ in range(requests):
            self.until(self.now + self.rng.exponential(1 / rate))
            self.replicas.arrived()
            ranked = self.replicas.rank({}, {}) or [list(self.speeds)[self.rng.integers(len(self.speeds))]]
            self.send(ranked[0])

    def send(self, one):
        self.requests += 1
        self.sent[one] += 1
        begin = max(self.now, self.free_at.get(one, 0.0))
        self.free_at[one] = begin + self.rng.exponential(1.0) / self.speeds[one]
        self.ends.append((self.free_at[one], one, self.requests))
        self.replicas.sent(one, self.requests)

    def until(self, then):
        for end in sorted(end for end in self.ends if end[0] <= then):
            self.ends.remove(end)
            self.now = end[0]
            self.replicas.ended(*end[1:])
        self.now = then


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("load", [0.3, 0.6, 0.85])
def test_estimates_are_service_rates_whatever_the_queues_are(load):
    world = Served({"a": 1.0, "b": 2.0, "c": 4.0}, window=200)
    world.run(6000, rate=7 * load)
    speeds = world.replicas.speeds
    assert speeds["a"] == pytest.approx(1.0, rel=0.25)
    assert speeds["b"] == pytest.approx(2.0, rel=0.25)
    assert speeds["c"] == pytest.approx(4.0, rel=0.25)
    assert world.replicas.arrival_rate == pytest.approx(7 * load, rel=0.1)
    assert world.sent["c"] > world.sent["b"] > world.sent["a"] > 0


def test_concurrent_requests_do_not_make_a_replica_look_slow():
    """Processor sharing: four requests sent together end together, after four times as long."""
    world = Served({"a": 1.0})
    for _ in range(5):
        for request in range(4):
            world.replicas.sent("a", request)
        world.now += 4.0
        for request in range(4):
            world.replicas.ended("a", request)
    assert world.replicas.outstanding == {"a": 0}
    world.replicas.rank({}, {})
    assert world.replicas.speeds["a"] == pytest.approx(1.0, rel=0.2)


@pytest.mark.parametrize("together", [1, 4])
def test_the_estimate_of_a_replica_is_independent_of_its_concurrency(together):
    world = Served({"a": 1.0}, at_once=4)
    for _ in range(10):
        for request in range(together):
            world.replicas.sent("a", request)
        world.now += 2.0
        for request in range(together):
            world.replicas.ended("a", request)
    world.replicas.rank({}, {})
    assert world.replicas.speeds["a"] == pytest.approx(0.5, rel=0.3)


def test_swapped_speeds_are_noticed():
    world = Served({"a": 1.0, "b": 6.0})
    world.run(500, rate=4.0)
    before = world.replicas.speeds
    world.speeds = {"a": 6.0, "b": 1.0}
    world.run(300, rate=4.0)
    after = world.replicas.speeds
    assert before["b"] > 2 * before["a"]
    assert after["a"] > 2 * after["b"]


def test_remaining_replicas_stay_known_when_others_change():
    world = Served({"a": 1.0, "b": 6.0, "c": 2.0})
    world.run(500, rate=5.0)
    before = world.replicas.speeds
    world.speeds = {"d": 3.0, "b": 6.0, "a": 1.0}
    world.sent["d"] = 0
    world.replicas.members(world.speeds)
    ranked = world.replicas.rank({}, {})
    after = world.replicas.speeds
    # Windows hold up to a fifteenth more than the replayed times.
    assert after["a"] == pytest.approx(before["a"], rel=0.3)
    assert after["b"] == pytest.approx(before["b"], rel=0.3)
    assert "d" not in after
    assert ranked[0] == "d", "a new replica gets a request at once"
    world.run(300, rate=5.0)
    assert set(world.replicas.speeds) == {"a", "b", "d"}


def test_a_new_replica_that_hangs_costs_one_request():
    world = Served({"a": 1.0})
    world.run(20, rate=0.5)
    world.speeds["hung"] = 1e-9
    world.sent["hung"], world.free_at["hung"] = 0, 0.0
    world.replicas.members(world.speeds)
    world.run(200, rate=0.5)
    assert world.sent["hung"] == 1


def test_a_replica_s_first_request_is_not_learned_from():
    world = Served({"a": 1.0})
    for request, seconds in enumerate([100.0, *[1.0] * TRIALS]):
        world.replicas.sent("a", request)
        world.now += seconds
        world.replicas.ended("a", request)
    world.replicas.rank({}, {})
    assert world.replicas.speeds["a"] == pytest.approx(1.0, rel=0.1)


def test_without_known_replicas_there_is_no_ranking():
    world = Served({"a": 1.0, "b": 1.0})
    assert sorted(world.replicas.rank({}, {})) == ["a", "b"]
    world.replicas.sent("a", 1)
    world.replicas.sent("b", 2)
    assert world.replicas.rank({}, {}) is None
    world.replicas.members([])
    assert world.replicas.rank({}, {}) is None
    assert world.replicas.speeds == {}


def test_queues_filled_by_other_routers_are_avoided():
    world = Served({"a": 1.0, "b": 1.0}, explore_share=0.0)
    world.run(200, rate=0.5)
    world.until(world.now + 1000)
    chosen = [world.replicas.rank({"a": 50, "b": None}, {})[0] for _ in range(200)]
    # Not always: all drawn workers may be the same.
    assert chosen.count("b") > 160


def known_speeds(speeds):
    """Replicas of known speeds, idle."""
    world = Served(speeds, explore_share=0.0)
    for step in range(40):
        world.replicas.arrived()
        for one, speed in speeds.items():
            world.now = 1000.0 * (step + 1)
            world.replicas.sent(one, step)
            world.now += 1 / speed
            world.replicas.ended(one, step)
        world.replicas.rank({}, {})
    return world


def test_a_request_waits_for_a_fast_replica_rather_than_join_a_slow_one():
    world = known_speeds({"slow": 1.0, "fast": 10.0})
    limits = {"slow": 5, "fast": 5}
    assert world.replicas.rank({"slow": 0, "fast": 5}, limits) == []
    assert world.replicas.rank({"slow": 0, "fast": 12}, {"slow": 5, "fast": 12}) == ["slow"]
    assert world.replicas.rank({"slow": 5, "fast": 4}, limits)[0] == "fast"
    assert world.replicas.rank({"slow": 5, "fast": 5}, limits) == []


def test_free_places_cost_no_wait():
    world = Served({"slow": 1.0, "fast": 2.0}, at_once=4, explore_share=0.0)
    for step in range(40):
        world.replicas.arrived()
        for one, speed in world.speeds.items():
            world.now += 10.0
            world.replicas.sent(one, step)
            world.now += 1 / speed
            world.replicas.ended(one, step)
        world.replicas.rank({}, {})
    limits = {"slow": 4, "fast": 4}
    # Eight times as many as would slow it down with one place.
    assert world.replicas.rank({"slow": 0, "fast": 3}, limits) == ["fast", "slow"]
    assert world.replicas.rank({"slow": 4, "fast": 4}, limits) == []


def test_no_request_waits_for_a_hanging_replica():
    world = known_speeds({"slow": 1.0, "fast": 10.0})
    limits = {"slow": 5, "fast": 5}
    for request in "abcde":
        world.replicas.sent("fast", request)
    assert world.replicas.rank({}, limits) == []
    world.now += 1.5
    assert world.replicas.rank({}, limits) == ["slow"]


def test_exploring_corrects_an_estimate_that_is_far_too_low():
    """A stall makes a replica look dead; without exploring, a light load would never send it anything again."""

    def share_after_a_stall(explore_share):
        world = Served({"a": 10.0, "b": 10.0}, explore_share=explore_share)
        world.run(200, rate=1.0)
        world.send("a")
        world.free_at["a"] = world.ends[-1][0] + 2000.0
        world.ends[-1] = (world.free_at["a"], *world.ends[-1][1:])
        world.until(world.now + 2001.0)
        before = world.sent["a"]
        world.run(4000, rate=1.0)
        return (world.sent["a"] - before) / 4000

    assert share_after_a_stall(0.0) < 0.05
    assert share_after_a_stall(0.02) > 0.2


def test_unmatched_starts_and_ends_are_ignored():
    world = Served({"a": 1.0})
    world.replicas.ended("a", "not sent")
    world.replicas.sent("gone", "of another replica")
    world.replicas.ended("gone", "of another replica")
    assert world.replicas.outstanding == {"a": 0}
    world.replicas.sent("a", "never ends")
    world.replicas.members(["b"])
    assert world.replicas.outstanding == {"b": 0}


def test_rosella_learns_the_same_through_replicas():
    """Rosella learns the same through replicas as when it is called directly."""
    world = Served({"a": 1.0, "b": 3.0})
    world.run(300, rate=2.0)
    direct = world.checked.policy(2, np.random.default_rng(5))
    assert isinstance(direct, Rosella)
    direct.arrived(0.0)
    for worker, replica in enumerate(world.replicas._replicas.values()):
        for work, seconds in replica.last:
            direct.completed(worker, work, seconds)
    direct.choose(np.zeros(2, np.int64))
    world.replicas.members(["b"])
    world.replicas.members(["a", "b"])
    world.replicas.rank({"a": 1, "b": 1}, {})
    assert world.replicas.speeds["b"] == pytest.approx(direct.rates[1] / (1 - direct.accuracy))


def test_the_spare_rate_and_idle_replicas_are_reported():
    world = Served({"a": 1.0, "b": 3.0}, window=200)
    assert world.replicas.spare_rate == 0.0
    world.run(3000, rate=2.0)
    assert world.replicas.spare_rate == pytest.approx(2.0, rel=0.3)
    world.until(1e9)
    assert {world.replicas.idle({}) for _ in range(50)} == {"a", "b"}
    assert {world.replicas.idle({"a": 1}) for _ in range(50)} == {"b"}
    world.replicas.sent("b", "request")
    assert world.replicas.idle({"a": 1}) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"probe": 3}, "unknown option 'probe', expected one of at_once"),
        ({"at_once": 0}, "at_once is 0, expected a whole number of at least 1"),
        ({"window": 8}, "window is 8, expected a whole number of at least 16"),
        ({"probes": True}, "probes is True"),
        ({"explore_share": 1.5}, "explore_share is 1.5, expected a number from 0 to 1"),
        ({"by": "luck"}, "by is 'luck', expected 'queue' or 'wait'"),
        ({"dispatch": "pul"}, "dispatch is 'pul', expected one of 'pull', 'rosella', "),
        ({"dispatch": "pull", "probes": 2}, "probes: has no effect with dispatch 'pull'"),
        ({"seed": -1}, "seed is -1"),
        ({"benchmark": "a b"}, "benchmark is 'a b', expected the name of a method"),
        ({"benchmark_share": 0}, "benchmark_share is 0, expected a number above 0, at most 1"),
    ],
)
def test_invalid_options_are_named_in_the_error(given, message):
    with pytest.raises(InputError, match=message):
        RouterOptions.of(given)


@pytest.mark.parametrize("begin", [0, 100])
@pytest.mark.parametrize("patience", [0.05, 0.5, 5.0])
def test_a_replica_whose_requests_are_cancelled_gets_few_more(patience, begin):
    """It hangs, and its clients give up after a time that may be shorter than an answer of the other replica."""
    now, rng = [0.0], np.random.default_rng(1)
    replicas = Replicas(lambda n: RouterOptions().policy(n, rng), clock=lambda: now[0], rng=rng)
    replicas.members(["good", "hangs"])
    sent = Counter()
    for request in range(600):
        replicas.arrived()
        ranked = replicas.rank({}, {}) or ["good" if request % 2 else "hangs"]
        replicas.sent(ranked[0], request)
        hangs = ranked[0] == "hangs" and request >= begin
        sent[ranked[0]] += request >= begin
        now[0] += patience if hangs else 1.0
        replicas.ended(ranked[0], request, RequestOutcome.DROPPED if hangs else RequestOutcome.SERVED)
    # Explorations of one request in a hundred are among them.
    assert sent["hangs"] < 30
    assert replicas.speeds["good"] == pytest.approx(1.0)


def test_cancelled_requests_of_a_good_replica_leave_its_speed():
    """Clients cancel a third of the requests after a random time: completions per busy second stay the rate."""
    now, rng, speeds = [0.0], np.random.default_rng(1), []
    replicas = Replicas(lambda n: RouterOptions().policy(n, rng), clock=lambda: now[0], rng=rng)
    replicas.members(["one"])
    for request in range(2000):
        replicas.arrived()
        replicas.rank({}, {})
        replicas.sent("one", request)
        answer, patience = rng.exponential(1.0), rng.exponential(2.0)
        now[0] += min(answer, patience)
        outcome = RequestOutcome.SERVED if answer < patience else RequestOutcome.DROPPED
        replicas.ended("one", request, outcome)
        speeds.extend(replicas.speeds.values())
    assert np.median(speeds) == pytest.approx(1.0, rel=0.1)


def test_requests_cancelled_while_a_replica_loads_leave_its_speed_unlearned():
    """Its first answer includes the loading, and is not learned from, whatever clients cancelled before."""
    now, rng = [0.0], np.random.default_rng(1)
    replicas = Replicas(lambda n: RouterOptions().policy(n, rng), clock=lambda: now[0], rng=rng)
    replicas.members(["loads"])
    for request in range(40):
        replicas.arrived()
        replicas.rank({}, {})
        replicas.sent("loads", request)
        loading = request < 6
        now[0] += 10.0 if loading else 1.0
        replicas.ended("loads", request, RequestOutcome.DROPPED if loading else RequestOutcome.SERVED)
    assert replicas.speeds["loads"] > 0.9
