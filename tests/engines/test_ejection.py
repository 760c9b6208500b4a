"""A replica whose requests fail: when it is ejected and tried again, and that it does not attract requests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from windlass.engines.serve.ejection import FAILURES, Ejection, RequestOutcome
from windlass.engines.serve.options import RouterOptions
from windlass.engines.serve.replicas import Replicas

SERVED, FAILED, DROPPED = RequestOutcome.SERVED, RequestOutcome.FAILED, RequestOutcome.DROPPED


def after(*outcomes, now=0.0):
    ejection = Ejection()
    for outcome in outcomes:
        ejection.count(outcome, now)
    return ejection


def test_only_failures_in_a_row_eject():
    assert not after(*[FAILED] * (FAILURES - 1)).is_out(0.0)
    assert after(*[FAILED] * FAILURES).is_out(0.0)
    assert not after(*[FAILED] * (FAILURES - 1), SERVED, FAILED).is_out(0.0)
    # A cancelled request says nothing of the replica.
    assert after(*[FAILED] * (FAILURES - 1), DROPPED, FAILED).is_out(0.0)
    assert not after(*[DROPPED] * 20).is_out(0.0)


def test_each_failed_trial_doubles_the_time_up_to_a_minute():
    ejection, now, lengths = after(*[FAILED] * FAILURES), 0.0, []
    for _ in range(9):
        begun = now
        while ejection.is_out(now):
            now += 0.5
        lengths.append(now - begun)
        assert ejection.is_on_trial(now)
        ejection.count(FAILED, now)
    assert lengths == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_a_served_trial_ends_the_ejection_and_the_next_one_is_short_again():
    ejection = after(*[FAILED] * FAILURES)
    ejection.count(FAILED, 1.0)
    assert ejection.is_out(2.9)
    ejection.count(SERVED, 3.0)
    assert not ejection.is_on_trial(3.0)
    for _ in range(FAILURES):
        ejection.count(FAILED, 4.0)
    assert (ejection.is_out(4.9), ejection.is_out(5.0)) == (True, False)


@given(some.lists(some.sampled_from([FAILED, DROPPED]), max_size=30))
def test_requests_that_were_under_way_do_not_lengthen_an_ejection(outcomes):
    ejection = after(*[FAILED] * FAILURES, *outcomes)
    assert (ejection.is_out(0.9), ejection.is_out(1.0)) == (True, False)


class World:
    """Replicas with one request at a time and a clock; those in ``failing`` fail at once."""

    def __init__(self, replicas, failing, dispatch="pull"):
        self.now, self.failing, rng = 0.0, set(failing), np.random.default_rng(1)
        self.rng, options = rng, RouterOptions(dispatch=dispatch)
        self.replicas = Replicas(lambda n: options.policy(n, rng), clock=lambda: self.now, rng=rng)
        self.replicas.members(replicas)
        self.ids, self.ends, self.free = list(replicas), [], dict.fromkeys(replicas, 0.0)
        self.sent = []

    def run(self, requests, rate=40.0, speed=20.0):
        for _ in range(requests):
            self.until(self.now + self.rng.exponential(1 / rate))
            self.replicas.arrived()
            ranked = self.replicas.rank({}, {}) or [self.ids[self.rng.integers(len(self.ids))]]
            one, request = ranked[0], len(self.sent)
            self.sent.append((self.now, one))
            taken = 0.001 if one in self.failing else self.rng.exponential(1 / speed)
            self.free[one] = max(self.now, self.free[one]) + taken
            self.ends.append((self.free[one], one, request))
            self.replicas.sent(one, request)

    def until(self, then):
        for end in sorted(end for end in self.ends if end[0] <= then):
            self.ends.remove(end)
            self.now = end[0]
            self.replicas.ended(end[1], end[2], FAILED if end[1] in self.failing else SERVED)
        self.now = then

    def share(self, one, since=0.0):
        later = [each for at, each in self.sent if at > since]
        return later.count(one) / len(later)


@pytest.mark.parametrize("dispatch", ["pull", "rosella"])
def test_a_replica_that_fails_at_once_gets_at_most_2_percent_after_a_second(dispatch):
    world = World("abcd", "b", dispatch)
    world.run(2000)
    assert world.share("b", since=1.0) <= 0.02
    assert world.share("b") > 0.0


def test_a_replica_that_works_again_gets_requests_again():
    world = World("abcd", "b")
    world.run(400)
    world.failing.clear()
    back = world.now
    world.run(1500)
    assert world.share("b", since=back + 20.0) > 0.1


def test_if_all_replicas_fail_all_get_requests():
    world = World("abc", "abc")
    world.run(600)
    assert all(world.share(one) > 0.1 for one in "abc")


def refreshed(replicas):
    """Return the speeds after some choices, with which the policy computes them."""
    for _ in range(5):
        replicas.arrived()
        replicas.rank({}, {})
    return replicas.speeds


def test_failures_are_not_learned_from():
    world = World("ab", "")
    world.run(200)
    world.until(world.now + 10.0)
    before = refreshed(world.replicas)
    for request in range(1000, 1000 + FAILURES - 1):
        world.replicas.sent("b", request)
        world.now += 1e-4
        world.replicas.ended("b", request, FAILED)
    assert refreshed(world.replicas)["b"] == pytest.approx(before["b"], rel=0.05)


def test_a_failure_counts_also_of_a_request_that_was_not_recorded_as_sent():
    world = World("ab", "")
    world.run(60)
    world.until(world.now + 10.0)
    for request in range(1000, 1000 + FAILURES):
        world.replicas.ended("b", request, FAILED)
    since = world.now
    world.run(15)
    assert world.now < since + 1.0
    assert world.share("b", since) == 0.0
