"""Replicas and options of a router alone, by hand."""

import heapq
import inspect
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.dispatch.lib.bandit import FADING
from windlass.dispatch.state import OWN_INT
from windlass.engines.serve.ejection import RequestOutcome
from windlass.engines.serve.options import RouterDispatch, RouterOptions
from windlass.engines.serve.replica import Replica
from windlass.engines.serve.replicas import Replicas
from windlass.model import InputError


class RecordingPolicy:
    """A policy whose answer the test sets; it records its calls."""

    def __init__(self, workers):
        self.workers, self.calls, self.answer = workers, [], 0
        self._rates = np.arange(1.0, workers + 1.0)

    @property
    def rates(self):
        return None if self._rates is None else self._rates.copy()

    @property
    def estimated_rates(self):
        return None if self._rates is None else 1.25 * self._rates

    def arrived(self, now):
        self.calls.append(("arrived", now))

    def choose(self, lengths):
        self.calls.append(("choose", lengths.tolist()))
        return self.answer

    def completed(self, worker, work, seconds):
        self.calls.append(("completed", worker, work, seconds))


class World:
    """Replicas under such a policy, and a clock."""

    def __init__(self, names, rng=None, **more):
        self.now, self.policies = 0.0, []
        more.setdefault("explore_share", 0.0)
        self.replicas = Replicas(
            self._made, clock=lambda: self.now, rng=rng or np.random.default_rng(1), **more
        )
        self.replicas.members(names)

    def _made(self, workers):
        self.policies.append(RecordingPolicy(workers))
        return self.policies[-1]

    @property
    def policy(self):
        return self.policies[-1]

    def serve(self, one, request, begin, end):
        self.now = begin
        self.replicas.sent(one, request)
        self.now = end
        self.replicas.ended(one, request)

    def known(self, *names):
        for one in names:
            for at in range(3):
                self.serve(one, f"known {one} {at}", self.now, self.now + 1.0)
        self.policy.calls.clear()


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_busy_seconds_are_those_in_which_requests_are_under_way(seed, at_once):
    rng = np.random.default_rng(seed)
    spans = [(begin, begin + rng.uniform(0.1, 3.0)) for begin in rng.uniform(0.0, 10.0, 8)]
    events = sorted([(t, at, kind) for at, span in enumerate(spans) for kind, t in enumerate(span)])
    replica, last = Replica(0.0, 16), 0.0
    for now, at, kind in events:
        if kind == 0:
            replica.begin(at, now, at_once)
            continue
        done = replica.end(at, now, at_once)
        # Since the last end, at most `at_once` requests count at a time.
        cuts = sorted({last, now, *(t for span in spans for t in span if last < t < now)})
        busy = sum(
            (b - a) * min(at_once, sum(begin <= a and b <= stop for begin, stop in spans))
            for a, b in itertools.pairwise(cuts)
        )
        assert done.work == 1.0
        assert done.seconds == pytest.approx(busy)
        last = now
        assert (replica.last_active, replica.busy, replica.reported) == (now, 0.0, 0.0)
    assert replica.ended == 8


def test_a_replica_is_known_after_two_completions_that_are_learned_from():
    replica = Replica(5.0, 3)
    assert (replica.last_active, replica.known, replica.last.maxlen) == (5.0, False, 3)
    for ended in range(1, 4):
        replica.begin("a", 6.0, 1)
        replica.end("a", 7.0, 1)
        assert (replica.ended, replica.known) == (ended, ended > 2)


def test_requests_of_other_routers_count_by_queue_length():
    replica = Replica(0.0, 16)
    # With only its own requests there are no others.
    replica.begin("a", 1.0, 2, length=1)
    replica.begin("b", 1.0, 2, length=2)
    assert replica.end("a", 3.0, 2) == (1.0, 4.0)
    assert replica.end("b", 4.0, 2) == (1.0, 1.0)
    replica.begin("c", 4.0, 2, length=3)
    assert replica.end("c", 6.0, 2) == (3.0, 4.0)
    # A request from before the last end counts from that end on.
    replica.begin("d", 6.0, 2, length=4)
    replica.begin("e", 6.0, 2, length=4)
    assert replica.end("e", 8.0, 2) == (4.0, 4.0)
    assert replica.end("d", 10.0, 2) == (2.0, 4.0)
    replica.begin("f", 10.0, 2, length=4)
    replica.reported = 3.0
    assert replica.end("f", 12.0, 2) == (4.0, 1.0)
    replica.begin("g", 12.0, 2, length=4)
    replica.reported = 99.0
    assert replica.end("g", 13.0, 2).seconds == 0.0
    replica.begin("h", 13.0, 2, length=4)
    assert replica.end("h", 13.0, 2) == (1.0, 0.0)


def test_first_completions_are_ignored_and_others_are_reported():
    world = World(["a", "b"])
    world.serve("b", 1, 0.0, 2.0)
    assert world.policy.calls == []
    world.serve("b", 2, 3.0, 4.5)
    assert world.policy.calls == [("completed", 1, 1.0, 1.5)]
    # A replica that is not a member, and ends without a start.
    world.serve("z", 3, 5.0, 6.0)
    world.replicas.ended("b", 9)
    assert world.replicas.outstanding == {"a": 0, "b": 0}
    world.replicas.sent("b", 9)
    assert world.replicas.outstanding == {"a": 0, "b": 1}
    world.now = 7.0
    world.replicas.arrived()
    assert world.policy.calls[-1] == ("arrived", 7.0)


def test_when_replicas_change_a_new_policy_receives_the_last_times():
    world = World(["a", "b"], window=2)
    # Four are kept for each replica.
    for at in range(10):
        world.now = float(at)
        world.replicas.arrived()
    for at in range(5):
        world.serve("b", at, 10.0 + 2 * at, 10.0 + 2 * at + 0.25 * (at + 1))
    world.replicas.members(["b", "a"])
    assert len(world.policies) == 1
    world.replicas.members(["b", "c"])
    assert world.policy.workers == 2
    assert world.policy.calls == [
        *(("arrived", float(at)) for at in range(2, 10)), ("completed", 0, 1.0, 1.0), ("completed", 0, 1.0, 1.25),
    ]  # fmt: skip
    world.serve("c", "x", 30.0, 31.0)
    world.serve("c", "y", 31.0, 32.0)
    assert world.policy.calls[-1] == ("completed", 1, 1.0, 1.0)
    world.replicas.members([])
    assert world.replicas.rank({}, {}) is None
    assert (world.replicas.speeds, world.replicas.spare_rate) == ({}, 0.0)
    world.replicas.arrived()


def test_new_idle_replicas_are_tried_in_turn():
    world = World(["a", "b", "c"])
    world.now = 5.0
    assert world.replicas.rank({}, {})[0] == "a"
    world.now = 6.0
    # Before that request is sent, the next replica is due.
    assert world.replicas.rank({}, {})[0] == "b"
    world.replicas.sent("b", 1)
    assert world.replicas.rank({"c": 1}, {})[0] == "a"
    world.replicas.sent("a", 2)
    assert world.replicas.rank({"c": 1}, {}) is None
    assert world.policy.calls[-1] == ("choose", [1, 1, 1])
    assert world.replicas.rank({"c": None}, {})[0] == "c"


def test_the_policy_s_choice_comes_first_and_the_others_by_wait():
    world = World(["a", "b", "c"])
    world.known("a", "b", "c")
    world.policy.answer = 1
    # Rates of 1, 2 and 3: waits of 2, 1 and 5/3 s with 1, 1 and 4 requests there.
    found = world.replicas.rank({"a": 1, "b": 1, "c": 4}, {})
    assert found == ["b", "c", "a"]
    assert world.policy.calls == [("choose", [1, 1, 4])]
    # A replica at its limit is left out, and so are those that would answer later.
    assert world.replicas.rank({"a": 1, "b": 1, "c": 4}, {"c": 4}) == ["b"]
    assert world.replicas.rank({"a": 1, "b": 1, "c": 4}, {"c": 5}) == ["b", "c", "a"]
    assert world.replicas.rank({"a": 1, "b": 1, "c": 4}, {"b": 1}) == []
    assert world.replicas.rank({"a": 0, "b": 1, "c": 1}, {"b": 1}) == ["c", "a"]
    for each in "abc":
        world.replicas.sent(each, f"one {each}")
    # The own count is higher than the engine's.
    world.replicas.rank({"a": 0, "b": 0}, {})
    assert world.policy.calls[-1] == ("choose", [1, 1, 1])


def test_free_places_cost_no_wait_and_silence_is_expected_to_last():
    world = World(["a", "b"], at_once=3)
    world.known("a", "b")
    world.replicas.rank({"a": 1, "b": 5}, {})
    assert world.policy.calls == [("choose", [2, 5])]
    assert world.replicas._waits(np.array([1, 5])).tolist() == [1.0, 1.0]
    world.replicas.sent("a", 1)
    world.now += 1.5
    world.replicas.rank({}, {})
    # 1.5 busy seconds at a rate of 1: fewer than two service times are not reported yet.
    assert [each[0] for each in world.policy.calls] == ["choose", "choose"]
    world.now += 2.0
    world.replicas.rank({}, {})
    assert world.policy.calls[2] == ("completed", 0, 0.0, 3.5)
    assert world.replicas._waits(np.array([1, 5])).tolist() == [3.5 / 3, 1.0]
    world.now += 1.0
    world.replicas.ended("a", 1)
    assert world.policy.calls[-1] == ("completed", 0, 1.0, 1.0)


def test_a_share_of_requests_goes_to_the_replica_active_longest_ago():
    class Draws:
        def __init__(self, *values):
            self.values = list(values)

        def random(self):
            return self.values.pop(0)

        def integers(self, most):
            return most - 1

    world = World(["a", "b", "c"], rng=Draws(0.3, 0.29, 0.0), explore_share=0.3)
    world.known("b", "a", "c")
    assert world.replicas.rank({}, {})[0] == "a"
    assert world.replicas.rank({}, {})[0] == "b"
    # If all have requests, none is idle, and the policy chooses.
    world.policy.answer = 2
    assert world.replicas.rank({"a": 1, "b": 1, "c": 1}, {})[0] == "c"
    assert world.replicas.idle({"c": 2}) == "b"
    world.replicas.sent("b", 1)
    assert world.replicas.idle({"c": 0}) == "c"
    assert world.replicas.idle({"a": 1, "c": 1}) is None


def test_speeds_and_the_spare_rate_are_of_known_replicas():
    world = World(["a", "b"], at_once=2)
    world.known("b")
    for second in range(4):
        world.now = 10.0 + second / 3.0
        world.replicas.arrived()
    # The policy decides by 2.0 requests/s, which has a margin.
    assert world.replicas.speeds == {"b": pytest.approx(2.5)}
    assert world.replicas.arrival_rate == pytest.approx(3.0)
    assert world.replicas.spare_rate == pytest.approx(2.0)
    world.policy._rates = None
    assert world.replicas.speeds == {}
    assert world.replicas.spare_rate == 0.0
    assert world.replicas._waits(np.array([0, 3])).tolist() == [1.0, 2.0]


def test_options_have_their_defaults_and_bounds():
    options = RouterOptions()
    assert (options.at_once, options.explore_share, options.window, options.dispatch) == (1, 0.01, 16, "pull")
    assert (options.probes, options.by, options.benchmark, options.benchmark_share, options.seed) == (
        None,
        "wait",
        None,
        0.1,
        None,
    )
    RouterOptions(at_once=1, explore_share=1, window=16, dispatch="rosella", probes=2, by="queue", seed=0)
    RouterOptions(explore_share=0, benchmark_share=1, benchmark="warm_up")
    for bad in (
        {"at_once": 0}, {"at_once": True}, {"at_once": 1.0}, {"window": 15}, {"probes": 1, "dispatch": "rosella"},
        {"seed": -1}, {"explore_share": -0.1}, {"explore_share": 1.1}, {"explore_share": True}, {"explore_share": "1"},
        {"benchmark_share": 0}, {"benchmark_share": 1.1}, {"benchmark_share": True}, {"benchmark": "a b"},
        {"benchmark": 3}, {"by": "speed"}, {"dispatch": "sparrow"}, {"probes": 3}, {"by": "queue"},
        {"probes": 3, "dispatch": "jsq"}, {"by": "queue", "dispatch": "prequal"},
    ):  # fmt: skip
        with pytest.raises(InputError, match=next(iter(bad))):
            RouterOptions(**bad)
    assert RouterOptions.of({"window": 20}).window == 20
    names = [
        each for each in inspect.signature(Replicas).parameters.values() if each.default is not each.empty
    ]
    assert {each.name: each.default for each in names} == {"at_once": 1, "explore_share": 0.01, "window": 16}


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_policy_has_the_given_window_and_no_dead_workers(monkeypatch, workers):
    made = []
    for name in ("Pull", "Rosella"):
        monkeypatch.setattr(
            f"windlass.engines.serve.policies.{name}", lambda *given, **named: made.append((given, named))
        )
    rng = np.random.default_rng(1)
    RouterOptions(window=24).policy(workers, rng)
    RouterOptions(window=24, dispatch="rosella", probes=3, by="queue").policy(workers, rng)
    # Rosella's window is its scale times log(n) over its accuracy squared, which is 0.3 of what is left of the load.
    scale = 24 * (0.3 * 0.05) ** 2 / math.log(max(workers, 2))
    alike = {
        "rng": rng, "gaps": 2 * 24 * workers, "probe_share": 0.0, "window_scale": pytest.approx(scale),
        "most_load": 0.95,
    }  # fmt: skip
    assert made == [
        ((workers, 1e-9), {**alike, "late": False}), ((workers, 1e-9), {**alike, "probes": 3, "by": "queue"}),
    ]  # fmt: skip


@pytest.mark.parametrize("dispatch", RouterDispatch)
def test_each_policy_routes_and_finds_the_fast_replica(dispatch):
    options, rng, now = RouterOptions(dispatch=dispatch), np.random.default_rng(1), [0.0]
    replicas = Replicas(lambda workers: options.policy(workers, rng), clock=lambda: now[0], rng=rng)
    replicas.members(["slow", "fast"])
    taken, ends = {"slow": 0, "fast": 0}, {"slow": 0.0, "fast": 0.0}
    under_way: list[tuple[float, str, int]] = []
    for request in range(600):
        now[0] += 0.12
        while under_way and under_way[0][0] <= now[0]:
            _, one, ended = heapq.heappop(under_way)
            replicas.ended(one, ended)
        replicas.arrived()
        one = (replicas.rank({}, {}) or ["slow"])[0]
        replicas.sent(one, request)
        ends[one] = max(ends[one], now[0]) + {"slow": 0.8, "fast": 0.1}[one]
        heapq.heappush(under_way, (ends[one], one, request))
        taken[one] += 1
    # A router that draws uniformly sends half of the requests to each.
    assert taken["fast"] > 2 * taken["slow"]


def test_a_policy_of_the_simulator_gets_the_router_s_window_and_probes():
    rng = np.random.default_rng(1)
    memory = RouterOptions(dispatch="ll", window=32, probes=5).policy(4, rng)
    assert memory.floats[FADING] == 1.0 - 1.0 / 32.0
    by_default, more = (RouterOptions(dispatch="prequal", probes=each).policy(4, rng) for each in (None, 5))
    assert more.ints[OWN_INT + 4] - by_default.ints[OWN_INT + 4] == 5 - 3


def test_the_policy_sees_no_idle_replica_that_is_ejected():
    world = World(["a", "b", "c"])
    world.known("a", "b", "c")
    for request in range(5):
        world.replicas.sent("b", request)
        world.replicas.ended("b", request, RequestOutcome.FAILED)
    assert world.replicas.allowed() == {"a", "c"}
    world.replicas.rank({"a": 2, "b": 0, "c": 3}, {})
    (chosen,) = [call for call in world.policy.calls if call[0] == "choose"]
    assert chosen == ("choose", [2, 1_000_000, 3])
    # A second later one request may try it.
    world.now += 1.0
    assert world.replicas.allowed() == {"a", "b", "c"}
    world.replicas.sent("b", "trial")
    assert world.replicas.allowed() == {"a", "c"}
