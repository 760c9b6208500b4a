"""The scaling engine on a fake cluster: outages, retries, and no change by a failure."""

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
    """A clock that advances during sleeps and stops at a given time."""

    def __init__(self, until: float) -> None:
        self.time, self.until, self.slept = 0.0, until, []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> bool:
        self.slept.append(seconds)
        self.time += seconds
        return self.time < self.until


class FakeCluster:
    """A cluster with given answers: unreachable while ``away`` is true, and rejecting writes while ``refuses`` is."""

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


class MemoryHistory:
    """A history in memory."""

    def __init__(self) -> None:
        self.added = []

    def add(self, at, counts) -> None:
        self.added.append((at, counts.tolist()))

    def rows(self, at):
        return np.array([counts for _, counts in self.added]).reshape(-1, 1)


class CountingPolicy:
    """A policy that returns one more instance each time."""

    name = "asked"

    def __init__(self, answers=range(1, 10)) -> None:
        self.answers, self.views = iter(answers), []

    def decide(self, view):
        self.views.append(view)
        return Totals((next(self.answers),), ("so",))


def scaled(until=1000.0, policy=None, **more):
    clock = FakeClock(until)
    cluster, history, lines = FakeCluster(clock, **more), MemoryHistory(), []
    policy = policy or CountingPolicy()
    engine = LiveScale(cluster, history, clock, period=300.0, notify=lines.append)
    run = drive(engine, {"scale": policy})
    return run, cluster, history, policy, lines, clock


def test_the_policy_is_called_once_a_period_and_the_need_is_recorded():
    run, cluster, history, policy, lines, _ = scaled()
    assert cluster.totals == [(0.0, (1,)), (300.0, (2,)), (600.0, (3,)), (900.0, (4,))]
    # A job larger than any instance needs two whole ones.
    assert history.added == [(at, [2.0]) for at in (0.0, 300.0, 600.0, 900.0)]
    assert [len(view.history) for view in policy.views] == [1, 2, 3, 4]
    assert (run.decisions, run.changes, run.failures) == (4, 4, 0)
    assert lines[0] == "small: 1 in total: so"


def test_an_unchanged_total_is_reported_once():
    run, *_, lines, _ = scaled(policy=CountingPolicy([2] * 9))
    assert (run.decisions, run.changes) == (4, 1)
    assert lines == ["small: 2 in total: so"]


def test_during_an_outage_nothing_is_decided_and_waits_grow():
    run, cluster, history, policy, lines, _ = scaled(away=lambda now: 300.0 <= now < 360.0)
    assert cluster.totals[0] == (0.0, (1,))
    assert cluster.totals[1][0] >= 360.0
    assert len(policy.views) == len(cluster.totals) == len(history.added)
    assert lines[1:4] == [f"the cluster does not answer; retrying in {wait} s" for wait in (1, 2, 4)]
    assert run.failures == 6
    assert lines[7] == "the cluster answers again, after 6 failed tries"
    # Retries after 1, 2, 4 … s notice its return soon.
    assert cluster.totals[1][0] <= 300.0 + 2 * 60.0


def test_a_cluster_that_rejects_writes_is_retried_soon():
    run, cluster, *_ = scaled(refuses=lambda now: now < 5.0)
    assert run.failures == 3
    assert cluster.totals[0] == (7.0, (4,))


def test_waits_are_at_most_a_period_below_one_second():
    clock, lines = FakeClock(1.0), []
    engine = LiveScale(
        FakeCluster(clock, lambda now: True), MemoryHistory(), clock, period=0.25, notify=lines.append
    )
    assert engine.wait() is None
    assert set(lines) == {"the cluster does not answer; retrying in 0.25 s"}


@pytest.mark.parametrize("policy", [Reactive(), Predictive("naive")])
def test_more_instances_than_the_maximum_are_no_error(policy):
    clock = FakeClock(9.0)
    cluster = FakeCluster(clock)
    cluster.types = (InstanceType("small", cores=4, most=1),)
    engine = LiveScale(cluster, MemoryHistory(), clock, period=300.0)
    drive(engine, {"scale": policy})
    # Two hold jobs.
    assert cluster.totals == [(0.0, (2,))]


def test_waits_are_at_most_a_period_even_if_the_clock_is_set_back():
    clock = FakeClock(np.inf)
    clock.time = 1e9
    engine = LiveScale(FakeCluster(clock), MemoryHistory(), clock, period=300.0)
    assert engine.wait() == "scale"
    clock.time = 0.0
    assert engine.wait() == "scale"
    assert clock.slept[-1] == 300.0


def test_an_invalid_answer_is_not_carried_out():
    with pytest.raises(
        PolicyError, match=r"'asked' small: 10 instances, expected a whole number from 0 to 9"
    ):
        scaled(policy=CountingPolicy([10]))


def test_a_plan_changes_and_records_nothing():
    clock, history = FakeClock(9.0), MemoryHistory()
    cluster = FakeCluster(clock)
    lines = LiveScale(cluster, history, clock).plan(CountingPolicy())
    assert lines == ["small: 1 in total, 2 ready: so", "would be 1"]
    assert (cluster.totals, history.added) == ([], [])


def test_a_period_of_zero_is_rejected():
    with pytest.raises(InputError, match=r"period is 0"):
        LiveScale(FakeCluster(FakeClock(1.0)), MemoryHistory(), FakeClock(1.0), period=0.0)
