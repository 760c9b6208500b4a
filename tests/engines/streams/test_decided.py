"""The engine of streams step by step in virtual time: decisions, output, and starts and stops of chains."""

import math

import numpy as np
import pytest

from tests.engines.streams.cases import CAMERA, CLOUD, PRIVATE, TIERS, feed
from tests.engines.streams.fake import FakeStreams
from windlass.drive import drive
from windlass.engines.streams.chain_lifecycle import Patience
from windlass.engines.streams.engine import LiveStreams
from windlass.engines.streams.executor import (
    ChainBroken,
    ChainReady,
    Frame,
    FramesPassed,
    NodeCame,
    NodeGone,
    StreamNode,
)
from windlass.plan.view import Plan

QUICK = Patience(rest=1.0, longest_rest=8.0, start=6.0, quiet=4.0, boundary=2.0, drain=1.5, steady=3.0)


class RecordingStreams(FakeStreams):
    """An executor that records each order and its time (s)."""

    def __init__(self, *given, **more):
        super().__init__(TIERS, *given, **more)
        self.orders = []

    def launch(self, order):
        self.orders.append((round(self.time, 3), "launch", order.key))
        super().launch(order)

    def play(self, key, first):
        self.orders.append((round(self.time, 3), "play", key, first))
        super().play(key, first)

    def end(self, key, last):
        self.orders.append((round(self.time, 3), "end", key, last))
        super().end(key, last)

    def stop(self, key):
        self.orders.append((round(self.time, 3), "stop", key))
        super().stop(key)


class Chosen:
    """A policy that chooses the next of given options for every query at each decision."""

    name = "chosen"

    def __init__(self, *choices):
        self.choices, self.views = list(choices), []

    def decide(self, view):
        self.views.append(view)
        choice = self.choices.pop(0) if len(self.choices) > 1 else self.choices[0]
        return Plan((choice,) * len(view.queries), ("so",) * len(view.queries))


def run(executor, seconds, policy, queries_at=None, feeds=None, patience=QUICK, **more):
    lines, scored = [], []

    def score(own, found):
        scored.append((own.query.name, sorted(found)))
        return 0.5

    engine = LiveStreams(
        TIERS, queries_at or (lambda now: feeds or [feed("a")]), executor, score, seconds=seconds, patience=patience,
        notify=lines.append, **more,
    )  # fmt: skip
    result = drive(engine, {"plan": policy})
    return result, engine, lines, scored


def test_a_chain_starts_plays_and_is_scored_until_the_end():
    executor = RecordingStreams()
    result, engine, lines, scored = run(executor, 12.0, Chosen(0))
    # At two frames per second, frame 3 is the first one born after the chain is ready.
    assert executor.orders == [(0.0, "launch", 0), (1.0, "play", 0, 3)]
    assert executor.time == pytest.approx(12.0)
    (made,) = result.decisions
    assert (made.noticed, made.at, made.upon) == (0.0, 0.0, ("query a added",))
    label = engine.lives[0].entry.options.label(0)
    assert made.lines == (f"a: {label} (so)",)
    assert lines[:3] == [
        "     0.0 s  new plan (query a added)", f"     0.0 s    a: {label} (so)", f"     1.0 s  a: plays {label}",
    ]  # fmt: skip
    # No chain played three frames of the first playing: it is awaited until 9.5 s, five seconds after its last frame
    # was born; the next frame comes at 9.6 s. The second playing is complete as soon as its last frame comes.
    assert [(each.query, each.number, each.missed, each.accuracy) for each in result.playings] == [
        ("a", 0, 3, 0.5), ("a", 1, 0, 0.5),
    ]  # fmt: skip
    assert scored == [("a", list(range(3, 10))), ("a", list(range(10)))]
    assert [line for line in lines if "playing" in line] == [
        f"     9.6 s  {result.playings[0].summary}", f"     9.6 s  {result.playings[1].summary}",
    ]  # fmt: skip
    assert (result.failures, executor.closed) == (0, 1)


@pytest.mark.parametrize(
    ("late", "more", "missed"), [(4.99, {}, 3), (5.01, {}, 10), (5.01, {"missed_after": 6.0}, 3)]
)
def test_frames_may_be_five_seconds_late_by_default(late, more, missed):
    found, *_ = run(RecordingStreams(late_s=late), 16.0, Chosen(0), patience=Patience(), **more)
    assert found.playings[0].missed == missed


def test_a_new_choice_takes_over_at_the_next_playing_and_the_old_chain_drains():
    # A node joins at 7 s, so a new plan is made; the new chain is ready at 8 s.
    executor = RecordingStreams([(7.0, "comes", CLOUD)])
    result, _, _, _ = run(executor, 16.0, Chosen(0, 1))
    # The next playing starts with frame 20 at 10 s, two seconds later; the old chain is stopped 1.5 s after it.
    assert executor.orders == [
        (0.0, "launch", 0), (1.0, "play", 0, 3), (7.0, "launch", 1), (8.0, "end", 0, 20), (8.0, "play", 1, 20),
        (11.5, "stop", 0),
    ]  # fmt: skip
    assert [each.missed for each in result.playings[1:]] == [0, 0]
    assert all(each.undisturbed for each in result.playings[1:])
    assert result.decisions[1].upon == ("node cloud-node joined",)


def test_a_revoked_choice_is_stopped_before_it_plays():
    executor = RecordingStreams([(7.0, "comes", CLOUD), (7.5, "comes", CLOUD)])
    run(executor, 10.0, Chosen(0, 1, 0))
    assert executor.orders[2:] == [(7.0, "launch", 1), (7.5, "stop", 1)]
    executor = RecordingStreams([(7.0, "comes", CLOUD), (7.5, "comes", CLOUD)])
    run(executor, 10.0, Chosen(0, 0, -1))
    assert executor.orders[2:] == [(7.5, "stop", 0)]


def test_a_chain_that_is_not_ready_in_time_is_restarted_with_backoff():
    executor = RecordingStreams([(0.0, "hangs", 0)])
    result, engine, lines, _ = run(executor, 30.0, Chosen(0))
    # It times out after 6 s, followed by rests of 1, 2 and 4 s; it hangs for 20 s.
    launches = [at for at, what, *_ in executor.orders if what == "launch"]
    assert launches[:4] == [0.0, 7.0, 15.0, 25.0]
    assert [at for at, what, *_ in executor.orders if what == "stop"] == [6.0, 13.0, 21.0]
    assert (result.failures, engine.lives[0].state) == (3, "plays")
    assert [line for line in lines if "ready" in line] == [
        f"{at:8.1f} s  a: was not ready within 6 s; restart in {rest} s"
        for at, rest in ((6.0, 1), (13.0, 2), (21.0, 4))
    ]


def test_a_silent_chain_is_stopped_and_a_steady_one_resets_its_failures():
    executor = RecordingStreams([(9.0, "silences", 0)])
    result, _, lines, _ = run(executor, 20.0, Chosen(0))
    # The last frame came at 8.6 s; the chain is stopped four seconds later.
    assert [each[:2] for each in executor.orders[2:]] == [
        (12.6, "stop"), (13.6, "launch"), (14.6, "play"),
    ]  # fmt: skip
    assert result.failures == 1
    assert "    12.6 s  a: no frame for 4 s; restart in 1 s" in lines


def test_a_broken_chain_is_reported_once_and_other_queries_continue():
    executor = RecordingStreams([(5.0, "fails", 0)])
    result, engine, lines, _ = run(executor, 12.0, Chosen(0), feeds=[feed("a"), feed("b")])
    assert result.failures == 1
    assert [line for line in lines if "it fails" in line] == ["     5.0 s  a: it fails; restart in 1 s"]
    orders = [each for each in executor.orders if each[0] > 1.0 and each[1] != "stop"]
    assert orders == [(6.0, "launch", 2), (7.0, "play", 2, 15)]
    assert [life.state for life in engine.lives] == ["plays", "plays"]


def test_a_lost_node_ends_its_chains_without_counting_as_failure():
    executor = RecordingStreams([(5.0, "dies", CLOUD)])
    policy = Chosen(0)
    policy.decide = _furthest_up
    result, _, _, _ = run(executor, 20.0, policy)
    assert result.failures == 0
    gone = result.decisions[1]
    assert (gone.upon, gone.noticed, gone.at) == (("node cloud-node lost",), 6.0, 6.0)
    stops = [each for each in executor.orders if each[1] == "stop"]
    assert set(stops) == {(6.0, "stop", 0)}
    assert [each for each in executor.orders if each[0] >= 6.0 and each[1] == "launch"] == [
        (6.0, "launch", 1)
    ]
    torn = [each.number for each in result.playings if not each.undisturbed]
    assert torn == [0, 1]


def _furthest_up(view):
    """Return the cheapest plan as far up the tree as possible."""
    chosen = [int(np.flatnonzero(each.accuracy == each.accuracy.min())[-1]) for each in view.queries]
    return Plan(tuple(chosen), ("up",) * len(chosen))


def test_queries_are_polled_each_second_and_compared_by_all_fields():
    times = []
    same = [feed("a"), feed("b")]
    changed = [feed("b"), feed("a", rate=4.0)]

    def queries_at(now):
        times.append(now)
        return same if now < 4.5 else changed

    executor = RecordingStreams()
    result, engine, _, _ = run(executor, 8.5, Chosen(0), queries_at=queries_at)
    assert times == pytest.approx([float(at) for at in range(9)], abs=1e-3)
    assert result.decisions[1].upon == ("query a removed", "query a added")
    assert [life.entry.name for life in engine.lives] == ["b", "a"]
    assert [life.entry.number for life in engine.lives] == [1, 2]
    assert engine.lives[1].entry.zero == pytest.approx(5.0, abs=1e-3)
    assert [each[1:] for each in executor.orders if 1.1 < each[0] < 5.5] == [("stop", 0), ("launch", 2)]


def test_without_a_feasible_query_the_policy_is_not_called():
    executor = RecordingStreams([(3.0, "dies", CAMERA), (8.0, "comes", CAMERA)])
    policy = Chosen(0)
    result, engine, lines, _ = run(executor, 14.0, policy)
    assert [view.now for view in policy.views] == pytest.approx([0.0, 8.0])
    assert [made.lines for made in result.decisions][1] == (
        "a: cannot run (no living node at its camera camera)",
    )
    assert "     4.0 s    a: cannot run (no living node at its camera camera)" in lines
    assert engine.lives[0].state == "plays"


class Scripted:
    """An executor that returns given events at given times."""

    def __init__(self, *events):
        self.events, self.time, self.orders = list(events), 0.0, []
        self.nodes = [
            StreamNode(at, at, cluster.cores, cluster.name) for at, cluster in enumerate(TIERS.clusters)
        ]

    def now(self):
        return self.time

    def poll(self, timeout):
        if self.events and self.events[0][0] <= self.time + timeout:
            self.time, event = max(self.time, self.events[0][0]), self.events.pop(0)[1]
            return [event]
        self.time += timeout
        return []

    def __getattr__(self, name):
        if name in ("launch", "play", "end", "stop", "close"):
            return lambda *given: self.orders.append((name, *given))
        raise AttributeError(name)


def test_events_of_unknown_chains_and_nodes_change_nothing():
    executor = Scripted(
        (0.5, NodeGone(77)), (0.6, ChainBroken(9, "unknown")), (0.7, ChainReady(9)),
        (0.8, FramesPassed(9, (Frame(0, 0.8, "x"),))),
        (1.0, ChainReady(0)), (1.1, ChainReady(0)), (2.0, NodeCame(StreamNode(50, PRIVATE, 3.0, "more"))),
        (2.2, ChainBroken(9, "again")),
    )  # fmt: skip
    engine = LiveStreams(
        TIERS, lambda now: [feed("a")], executor, lambda own, found: 0.0, seconds=3.0, patience=QUICK
    )
    result = drive(engine, {"plan": Chosen(0)})
    assert [each[0] for each in executor.orders] == ["launch", "play", "close"]
    assert result.failures == 0
    assert [made.upon for made in result.decisions] == [("query a added",), ("node more joined",)]
    assert engine.book.nodes[50].cores == 3.0
    assert engine.lives[0].plays.last_frame_at == pytest.approx(1.5)
    assert math.isinf(engine.lives[0].rests)


def test_frames_of_a_leaving_chain_still_count():
    executor = Scripted(
        (1.0, ChainReady(0)), (6.0, NodeCame(StreamNode(50, CLOUD, 3.0, "more"))), (6.5, ChainReady(1)),
        (6.9, FramesPassed(0, tuple(Frame(number, number / 2 + 0.4, "old") for number in range(3, 14)))),
        (7.4, FramesPassed(1, tuple(Frame(number, number / 2 + 0.4, "new") for number in range(14, 15)))),
    )  # fmt: skip
    seen = []

    def score(own, found):
        seen.append({place: frame.found for place, frame in found.items()})
        return 1.0

    engine = LiveStreams(
        TIERS, lambda now: [feed("a")], executor, score, seconds=15.0,
        patience=Patience(start=99.0, quiet=99.0, boundary=0.0, drain=1.0),
    )  # fmt: skip
    drive(engine, {"plan": Chosen(0, 1)})
    orders = [each for each in executor.orders if each[0] != "launch"]
    # The old chain is stopped one second after the first frame of the new one is born.
    assert orders == [("play", 0, 3), ("end", 0, 14), ("play", 1, 14), ("stop", 0), ("close",)]
    assert seen[0] == dict.fromkeys(range(3, 10), "old")
    assert seen[1] == {0: "old", 1: "old", 2: "old", 3: "old", 4: "new"}
