"""An autoscaler through random outages, against a plain loop."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from windlass.drive import drive
from windlass.engines.elastic.clock import SystemClock
from windlass.engines.elastic.engine import LiveScale, ScaleRun
from windlass.engines.elastic.system import ClusterError, ClusterSnapshot
from windlass.model import PolicyError
from windlass.model.instances import InstanceType
from windlass.scale import Demands, Totals

SMALL = InstanceType("small", cores=4, memory=8, most=5)
LARGE = InstanceType("large", gpus=2, cores=8, memory=64, most=3)
TYPES = (SMALL, LARGE)


def demands(*rows):
    """Each row: GPUs, cores, memory, since when, and the walltime."""
    table = np.array(rows, np.float64).reshape(-1, 5)
    return Demands(table[:, :3], table[:, 3], table[:, 4])


RUNNING = demands((0, 2, 1, 5.0, 60.0), (0, 1, 6, 6.0, np.inf), (1, 2, 8, 7.0, 70.0), (5, 8, 0, 8.0, np.inf))
#: By hand: 7 of 8 bytes of a small instance; half of the GPUs of a large one, and a gang of three.
NEEDED = [7 / 8, 3.5]
WAITING = demands((0, 3, 2, 9.0, 90.0))


class Clock:
    """A clock that advances during sleeps and while the cluster answers."""

    def __init__(self, start, until):
        self.time, self.until, self.slept = start, until, 0

    def now(self):
        return self.time

    def sleep(self, seconds):
        assert seconds >= 0.0
        self.slept += 1
        assert self.slept < 5_000, "it never comes to an end"
        self.time += seconds
        return self.time < self.until


class Cluster:
    """A cluster that answers after a delay; in given intervals it is unreachable, or rejects writes."""

    def __init__(self, clock, away, refuses, takes, types=TYPES):
        self.clock, self.away, self.refuses, self.takes, self.types = clock, away, refuses, takes, types
        self.looks, self.written = [], []
        self.seen = ClusterSnapshot(np.array([4, 1]), np.array([0, 1]), np.array([2, 1]), RUNNING, WAITING)

    def look(self):
        self.clock.time += self.takes
        self.looks.append(self.clock.time)
        if inside(self.clock.time, self.away):
            raise ClusterError("away")
        return self.seen

    def set_totals(self, totals, seen):
        assert seen is self.seen
        self.clock.time += self.takes
        if inside(self.clock.time, self.refuses):
            raise ClusterError("read-only")
        self.written.append((self.clock.time, totals.counts))

    def describe(self, totals, seen):
        assert seen is self.seen
        return [f"would set {totals.counts}"]


class MemoryHistory:
    """A history in memory that records the times of its reads."""

    def __init__(self, rows=()):
        self.added, self.read_at, self.before = [], [], list(rows)

    def add(self, at, counts):
        self.added.append((at, counts.tolist()))

    def rows(self, at):
        self.read_at.append(at)
        return np.array(self.before + [counts for _, counts in self.added], np.float64).reshape(-1, 2)


class Answers:
    """A policy that returns given answers in turn, and records its views."""

    name = "answers"

    def __init__(self, answers):
        self.answers, self.views = answers, []

    def decide(self, view):
        self.views.append(view)
        return Totals(self.answers[(len(self.views) - 1) % len(self.answers)], ("few", "many"))


def inside(now, intervals):
    return any(begin <= now < end for begin, end in intervals)


@dataclass
class Course:
    """The events of a plain loop."""

    looks: list
    added: list
    written: list
    reported: list
    run: ScaleRun


def plain(period, start, until, takes, away, refuses, answers):
    """The nth failure in a row is followed by a try after 2**(n - 1) times a second, or a period if that is less."""
    looks, added, written, reported = [], [], [], []
    now, due, row, decisions, changes, failures, last = start, -math.inf, 0, 0, 0, 0, None
    while True:
        now += min(max(0.0, due - now), period)
        if not now < until:
            return Course(looks, added, written, reported, ScaleRun(decisions, changes, failures))
        now += takes
        looks.append(now)
        failed = "away" if inside(now, away) else ""
        if not failed:
            added.append((now, NEEDED))
            due = now + period
            counts = answers[decisions % len(answers)]
            decisions += 1
            now += takes
            failed = "read-only" if inside(now, refuses) else ""
        if failed:
            failures, row = failures + 1, row + 1
            wait = min(period, min(1.0, period) * 2.0 ** (row - 1))
            reported.append(f"{failed}; retrying in {wait:g} s")
            due = now + wait
            continue
        written.append((now, counts))
        if row:
            reported.append(f"the cluster answers again, after {row} failed tries")
        row = 0
        if counts != last:
            changes += 1
            reported += [f"small: {counts[0]} in total: few", f"large: {counts[1]} in total: many"]
        last = counts


intervals = st.lists(
    st.tuples(st.integers(0, 900), st.sampled_from([1, 3, 20, 90, 300])).map(lambda x: (x[0], x[0] + x[1])),
    max_size=4,
)
counts = st.tuples(st.integers(0, 5), st.integers(0, 3))


# Two long outages: the waits of the second one start at 1 s again.
@example(300.0, 0.0, 0.0, [(300, 360), (700, 790)], [], [(1, 1)])
@example(60.0, 1e6, 0.25, [], [(0, 5), (200, 280)], [(1, 1), (1, 2)])
@settings(max_examples=60, deadline=None)
@given(
    period=st.sampled_from([0.25, 1.0, 5.0, 60.0, 300.0]),
    start=st.sampled_from([0.0, 37.0, 250.0]),
    takes=st.sampled_from([0.0, 0.25, 2.0]),
    away=intervals,
    refuses=intervals,
    answers=st.lists(counts, min_size=1, max_size=4),
)
def test_times_and_lines_equal_those_of_a_plain_loop(period, start, takes, away, refuses, answers):
    until = start + min(1000.0, 60 * period)
    clock = Clock(start, until)
    cluster, history, policy, reported = (
        Cluster(clock, away, refuses, takes),
        MemoryHistory(),
        Answers(answers),
        [],
    )
    run = drive(LiveScale(cluster, history, clock, period=period, notify=reported.append), {"scale": policy})
    want = plain(period, start, until, takes, away, refuses, answers)
    assert cluster.looks == want.looks
    assert history.added == want.added
    assert cluster.written == want.written
    assert reported == want.reported
    assert run == want.run
    for (at, _), view in zip(want.added, policy.views, strict=True):
        # The policy is called as soon as the cluster has answered, with the row of that time as the last.
        assert (view.now, view.period, view.look, view.due) == (at, period, 10.0, True)
        assert (view.ready.tolist(), view.coming.tolist(), view.used.tolist()) == ([4, 1], [0, 1], [2, 1])
        assert view.running is RUNNING
        assert view.waiting is WAITING
    assert [len(view.history) for view in policy.views] == list(range(1, len(want.added) + 1))
    assert set(history.read_at) <= {at for at, _ in want.added}


@pytest.mark.parametrize("ready", [0, 2, 3, 9])
@pytest.mark.parametrize("coming", [0, 1, 4])
def test_ready_and_launching_instances_raise_the_maximum(ready, coming):
    clock, policy = Clock(0.0, 1.0), Answers([(0, 0)])
    cluster = Cluster(clock, [], [], 0.0)
    none = np.zeros(2, np.int64)
    cluster.seen = ClusterSnapshot(
        np.array([1, ready]), np.array([1, coming]), none + 1, Demands.none(), Demands.none()
    )
    drive(LiveScale(cluster, MemoryHistory(), clock), {"scale": policy})
    (view,) = policy.views
    assert [kind.most for kind in view.types] == [5, max(3, ready + coming)]
    assert [(kind.name, kind.cores, kind.gpus) for kind in view.types] == [("small", 4, 0), ("large", 8, 2)]


def test_jobs_that_fit_no_type_do_not_count():
    odd = demands((0, 2, 0, 0.0, 1.0), (1, 1, 0, 0.0, 1.0), (0, 0, 4, 0.0, 1.0))
    cluster = Cluster(Clock(0.0, 1.0), [], [], 0.0, types=(SMALL, InstanceType("bare", cores=16, most=2)))
    cluster.seen = ClusterSnapshot(*np.zeros((3, 2), np.int64), odd, Demands.none())
    assert LiveScale(cluster, MemoryHistory(), Clock(0.0, 1.0)).demand(cluster.seen).tolist() == [0.5, 0.0]


def test_a_plan_shows_the_present_as_the_last_row_and_names_each_type():
    clock, policy = Clock(40.0, 50.0), Answers([(5, 2)])
    cluster, history = Cluster(clock, [], [], 0.0), MemoryHistory([[1.0, 0.0]])
    lines = LiveScale(cluster, history, clock, period=20.0).plan(policy)
    assert lines == [
        "small: 5 in total, 4 ready: few",
        "large: 2 in total, 1 ready: many",
        "would set (5, 2)",
    ]
    (view,) = policy.views
    assert view.history.tolist() == [[1.0, 0.0], NEEDED]
    assert (view.now, view.period, history.read_at) == (40.0, 20.0, [40.0])
    assert (cluster.written, history.added) == ([], [])


def test_an_invalid_plan_is_rejected():
    clock = Clock(0.0, 1.0)
    with pytest.raises(PolicyError, match="large: 4 instances, expected a whole number from 0 to 3"):
        LiveScale(Cluster(clock, [], [], 0.0), MemoryHistory(), clock).plan(Answers([(1, 4)]))


def test_an_answer_above_the_maximum_is_not_written():
    clock = Clock(0.0, 1000.0)
    cluster = Cluster(clock, [], [], 0.0)
    with pytest.raises(PolicyError, match="small: 6 instances"):
        drive(LiveScale(cluster, MemoryHistory(), clock), {"scale": Answers([(6, 1)])})
    assert cluster.written == []


def test_the_default_period_is_five_minutes():
    clock = Clock(0.0, 601.0)
    cluster = Cluster(clock, [], [], 0.0)
    assert drive(LiveScale(cluster, MemoryHistory(), clock), {"scale": Answers([(1, 1)])}) == ScaleRun(
        3, 1, 0
    )
    assert cluster.looks == [0.0, 300.0, 600.0]


def test_the_system_clock_sleeps_as_long_as_requested(monkeypatch):
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "time", lambda: 1234.5)
    clock = SystemClock()
    assert clock.sleep(2.5) is True
    assert (slept, clock.now()) == ([2.5], 1234.5)
