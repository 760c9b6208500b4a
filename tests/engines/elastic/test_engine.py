"""The engine of scaling on a cluster that is a fake: away, back, asked again, never changed by a failure."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.drive import drive
from windlass.engines.elastic.engine import LiveScale
from windlass.engines.elastic.system import ClusterError, ClusterSnapshot
from windlass.model import InputError, PolicyError
from windlass.model.instances import InstanceType
from windlass.scale import Demands, Totals
from windlass.scale.policies.predictive import Predictive
from windlass.scale.policies.reactive import Reactive

TYPES = (InstanceType("small", cores=4, most=9),)


class FakeClock:
    """Time that passes when somebody sleeps, and stops after so many seconds."""

    def __init__(self, until: float) -> None:
        self.time, self.until, self.slept = 0.0, until, []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> bool:
        self.slept.append(seconds)
        self.time += seconds
        return self.time < self.until


class FakeCluster:
    """Says what it is told to; away while ``away`` says so, or when it is written to."""

    types = TYPES

    def __init__(self, clock, away=lambda now: False, refuses=lambda now: False) -> None:
        self.clock, self.away, self.refuses, self.totals = clock, away, refuses, []

    def look(self) -> ClusterSnapshot:
        if self.away(self.clock.now()):
            raise ClusterError("the cluster does not answer")
        none = np.zeros(1, np.int64)
        jobs = Demands(np.array([[0.0, 6.0, 0.0]]), np.zeros(1), np.full(1, np.inf))
        return ClusterSnapshot(none + 2, none, none + 2, jobs, Demands.none())

    def set_totals(self, totals, seen) -> None:
        if self.refuses(self.clock.now()):
            raise ClusterError("writing is forbidden")
        self.totals.append((self.clock.now(), totals.counts))

    def describe(self, totals, seen):
        return [f"would be {totals.counts[0]}"]


class Kept:
    """A history in memory."""

    def __init__(self) -> None:
        self.added = []

    def add(self, at, counts) -> None:
        self.added.append((at, counts.tolist()))

    def rows(self, at):
        return np.array([counts for _, counts in self.added]).reshape(-1, 1)


class Asked:
    """Answers with one more each time."""

    name = "asked"

    def __init__(self, answers=range(1, 10)) -> None:
        self.answers, self.views = iter(answers), []

    def decide(self, view):
        self.views.append(view)
        return Totals((next(self.answers),), ("so",))


def scaled(until=1000.0, policy=None, **more):
    clock = FakeClock(until)
    cluster, kept, said = FakeCluster(clock, **more), Kept(), []
    policy = policy or Asked()
    engine = LiveScale(cluster, kept, clock, period=300.0, notify=said.append)
    run = drive(engine, {"scale": policy})
    return run, cluster, kept, policy, said, clock


def test_it_asks_once_a_period_and_keeps_what_was_needed():
    run, cluster, kept, policy, said, _ = scaled()
    assert cluster.totals == [(0.0, (1,)), (300.0, (2,)), (600.0, (3,)), (900.0, (4,))]
    # Of a job larger than any instance, two whole ones.
    assert kept.added == [(at, [2.0]) for at in (0.0, 300.0, 600.0, 900.0)]
    assert [len(view.history) for view in policy.views] == [1, 2, 3, 4]
    assert (run.decisions, run.changes, run.failures) == (4, 4, 0)
    assert said[0] == "small: 1 in total: so"


def test_what_does_not_change_is_told_once():
    run, *_, said, _ = scaled(policy=Asked([2] * 9))
    assert (run.decisions, run.changes) == (4, 1)
    assert said == ["small: 2 in total: so"]


def test_while_the_cluster_is_away_nothing_is_decided_and_waits_grow():
    run, cluster, kept, policy, said, _ = scaled(away=lambda now: 300.0 <= now < 360.0)
    assert cluster.totals[0] == (0.0, (1,))
    assert cluster.totals[1][0] >= 360.0
    assert len(policy.views) == len(cluster.totals) == len(kept.added)
    assert said[1:4] == [f"the cluster does not answer; retrying in {wait} s" for wait in (1, 2, 4)]
    assert run.failures == 6
    assert said[7] == "the cluster answers again, after 6 failed tries"
    # Tried after 1, 2, 4 … s, so it is back soon.
    assert cluster.totals[1][0] <= 300.0 + 2 * 60.0


def test_one_that_refuses_to_be_written_to_is_looked_at_again_soon():
    run, cluster, *_ = scaled(refuses=lambda now: now < 5.0)
    assert run.failures == 3
    assert cluster.totals[0] == (7.0, (4,))


def test_a_period_below_a_second_is_no_wait_of_a_second():
    clock, said = FakeClock(1.0), []
    engine = LiveScale(FakeCluster(clock, lambda now: True), Kept(), clock, period=0.25, notify=said.append)
    assert engine.wait() is None
    assert set(said) == {"the cluster does not answer; retrying in 0.25 s"}


@pytest.mark.parametrize("policy", [Reactive(), Predictive("naive")])
def test_more_than_there_may_be_are_no_error(policy):
    clock = FakeClock(9.0)
    cluster = FakeCluster(clock)
    cluster.types = (InstanceType("small", cores=4, most=1),)
    engine = LiveScale(cluster, Kept(), clock, period=300.0)
    drive(engine, {"scale": policy})
    # Two hold jobs.
    assert cluster.totals == [(0.0, (2,))]


def test_waits_are_never_longer_than_a_period_even_where_the_clock_is_put_back():
    clock = FakeClock(np.inf)
    clock.time = 1e9
    engine = LiveScale(FakeCluster(clock), Kept(), clock, period=300.0)
    assert engine.wait() == "scale"
    clock.time = 0.0
    assert engine.wait() == "scale"
    assert clock.slept[-1] == 300.0


def test_an_answer_that_cannot_be_is_not_carried_out():
    with pytest.raises(
        PolicyError, match=r"'asked' small: 10 instances, expected a whole number from 0 to 9"
    ):
        scaled(policy=Asked([10]))


def test_a_plan_changes_and_keeps_nothing():
    clock, kept = FakeClock(9.0), Kept()
    cluster = FakeCluster(clock)
    said = LiveScale(cluster, kept, clock).plan(Asked())
    assert said == ["small: 1 in total, 2 ready: so", "would be 1"]
    assert (cluster.totals, kept.added) == ([], [])


def test_a_period_of_nothing_is_refused():
    with pytest.raises(InputError, match=r"period is 0"):
        LiveScale(FakeCluster(FakeClock(1.0)), Kept(), FakeClock(1.0), period=0.0)
