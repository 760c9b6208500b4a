"""Chains, playings, nodes and transfers of streams alone, against results computed by hand or one by one."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.streams.cases import TIERS
from windlass.engines.streams.chain_lifecycle import Chain, Life, Patience
from windlass.engines.streams.executor import Frame
from windlass.engines.streams.part import Passing, Task
from windlass.engines.streams.result import PlanDecision
from windlass.engines.streams.scoring import Playing, Playings

SHORT = Patience(rest=1.0, longest_rest=6.0, start=20.0, quiet=8.0, boundary=3.0, drain=2.0, steady=5.0)


def life(choice=0, zero=100.0, rate=2.0, frames=10):
    entry = SimpleNamespace(feed=SimpleNamespace(rate=rate, frames=frames), zero=zero, choice=choice)
    return Life(entry)


def chain(key, choice=0, since=0.0, **more):
    return Chain(key, choice, (), since, **more)


def test_the_default_patience_is_documented():
    patience = Patience()
    assert (patience.rest, patience.longest_rest, patience.start, patience.quiet) == (0.5, 30.0, 300.0, 60.0)
    assert (patience.boundary, patience.drain, patience.steady) == (10.0, 5.0, 10.0)


def test_rests_of_a_failing_chain_double_until_it_was_steady():
    one, rests = life(), []
    for at in range(6):
        one.rest(10.0 * at, SHORT, failed=chain(at, since=10.0, last_frame_at=14.9))
        rests.append(one.rests - 10.0 * at)
    assert rests == [1.0, 2.0, 4.0, 6.0, 6.0, 6.0]
    one.rest(0.0, SHORT, failed=chain(9, since=10.0, last_frame_at=15.0))
    assert (one.failures, one.rests) == (1, 1.0)
    one.rest(0.0, SHORT, failed=chain(9))
    assert (one.failures, one.rests) == (2, 2.0)
    # The loss of its node is no failure: it rests as long as after the earlier failures.
    one.rest(50.0, SHORT)
    assert (one.failures, one.rests) == (2, 52.0)
    fresh = life()
    fresh.rest(50.0, SHORT)
    assert (fresh.failures, fresh.rests) == (0, 51.0)
    one.failures = 5000
    one.rest(0.0, SHORT)
    assert one.rests == 6.0
    # If another chain of the choice already plays, none is started.
    playing = life()
    playing.plays = chain(1)
    playing.rest(0.0, SHORT, failed=chain(2))
    assert (playing.failures, playing.rests) == (1, math.inf)


def test_a_query_is_settled_by_a_chain_of_its_choice_and_has_a_state():
    one = life()
    assert (one.settled, one.state) == (False, "cannot run")
    one.rests = 5.0
    assert one.state == "rests"
    one.starts = chain(1)
    assert (one.settled, one.state) == (True, "starts")
    one.plays = chain(2, choice=3)
    assert (one.settled, one.state) == (True, "plays")
    one.starts = None
    assert not one.settled
    one.entry.choice = -1
    assert one.settled
    one.leaving = [(chain(4), 9.0)]
    one.starts = chain(1)
    assert [each.key for each in one.chains()] == [2, 1, 4]


@pytest.mark.parametrize(
    ("choice", "plays", "starts", "stopped", "left"),
    [
        # The playing chain continues until a chain of the new choice takes over.
        (1, 0, None, [], (0, None)), (1, 0, 1, [], (0, 1)), (1, 0, 2, [2], (0, None)), (1, None, 0, [0], (None, None)),
        # The playing chain is the chosen one again: the starting chain is not wanted.
        (1, 1, 0, [0], (1, None)), (1, 1, 1, [1], (1, None)), (1, 1, None, [], (1, None)),
        (-1, 0, 1, [1, 0], (None, None)), (-1, None, None, [], (None, None)), (-1, 0, None, [0], (None, None)),
    ],
)  # fmt: skip
def test_unwanted_chains_are_stopped(choice, plays, starts, stopped, left):
    one = life(choice)
    one.plays = None if plays is None else chain(1, plays)
    one.starts = None if starts is None else chain(2, starts)
    assert [each.choice for each in one.unwanted()] == stopped
    assert (one.plays and one.plays.choice, one.starts and one.starts.choice) == left


@given(st.integers(-128, 1920), st.sampled_from([0.5, 2.0, 4.0]), st.integers(1, 12), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_chain_takes_over_at_the_next_playing_if_that_is_soon(ticks, rate, frames, plays):
    # Times with exact sums.
    one, now = life(rate=rate, frames=frames), 100.0 + ticks / 64
    one.plays = chain(1) if plays else None
    # The first frame born after now, and the first one of the next playing.
    at = next(number for number in range(200) if 100.0 + number / rate > now)
    boundary = next(number for number in range(at, 300) if number % frames == 0)
    soon = 100.0 + boundary / rate - now <= SHORT.boundary
    assert one.handover(now, SHORT) == (boundary if plays and soon else at)


def test_a_chain_that_takes_over_counts_from_its_first_frame():
    one, old, new = life(), chain(1, choice=1, last_frame_at=100.0), chain(2, since=99.0)
    one.plays, one.starts, one.rests = old, new, 7.0
    # Frames 0 to 9 are a playing: frame 10 is born at 105, in 2.5 s.
    assert one.take_over(102.5, SHORT) == (new, old, 10)
    assert (old.last, new.first, new.since, new.last_frame_at) == (10, 10, 105.0, 105.0)
    assert one.leaving == [(old, 107.0)]
    assert (one.plays, one.starts, one.rests, one.past) == (new, None, math.inf, [new])
    later = chain(3)
    one.starts, one.plays = later, None
    assert one.take_over(102.7, SHORT) == (later, None, 6)
    assert (later.since, one.past) == (103.0, [new, later])
    # A frame born before now: from now on.
    early = life(zero=200.0)
    early.starts = chain(4)
    assert early.take_over(150.0, SHORT)[2] == 0
    assert early.plays.since == 200.0


def test_a_lost_chain_ends_now():
    one, plays, starts, leaves = life(), chain(1, first=3), chain(2), chain(3)
    one.plays, one.starts, one.leaving = plays, starts, [(leaves, 110.0), (chain(4), 111.0)]
    assert one.lose(9, 102.0) is None
    assert one.lose(3, 102.0) is leaves
    assert [each.key for each, _ in one.leaving] == [4]
    assert one.lose(2, 102.0) is starts
    assert one.starts is None
    assert starts.last == math.inf
    assert one.lose(1, 102.2) is plays
    assert (one.plays, plays.last) == (None, 5)
    # Before its first frame it has played none.
    one.plays = chain(5, first=8)
    assert one.lose(5, 102.0).last == 8


def test_the_wake_time_is_the_earliest_deadline():
    one = life()
    assert one.wakes(SHORT) == math.inf
    one.rests = 50.0
    assert one.wakes(SHORT) == 50.0
    one.plays = chain(1, last_frame_at=41.0)
    assert one.wakes(SHORT) == 49.0
    one.starts = chain(2, since=28.0)
    assert one.wakes(SHORT) == 48.0
    one.leaving = [(chain(3), 49.0), (chain(4), 47.0)]
    assert one.wakes(SHORT) == 47.0


@given(st.integers(1, 5), st.integers(1, 12), st.integers(0, 40))
@settings(max_examples=100, deadline=None)
def test_sampled_frames_are_every_nth_of_a_playing(every, frames, number):
    task = Task(Passing(every, 0), 10.0, frames, 0.0, True, True)
    looked_at = [at for at in range(80) if (at % frames) % every == 0]
    assert task.wanted(number) == min(at for at in looked_at if at >= number)
    start = task.wanted(number)
    later = min(at for at in looked_at if at > start)
    assert task.covers(start) == later - start
    assert task.buffer == 16


def entry_of(choice=0, frames=5, rate=2.0, zero=100.0):
    options = SimpleNamespace(
        accuracy=np.array([0.5, 0.75]), label=lambda at: f"option {at}", plan=np.zeros(2, int)
    )
    return SimpleNamespace(
        name="q", feed=SimpleNamespace(frames=frames, rate=rate), zero=zero, options=options, choice=choice
    )


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_playings_are_scored_by_the_frames_that_came_in_time(seed):
    rng = np.random.default_rng(seed)
    n, rate, wait, every = int(rng.integers(1, 7)), 2.0, 1.5, int(rng.integers(1, 4))
    own, scored = Life(entry_of(frames=n)), []

    def score(feed_, found):
        scored.append(dict(found))
        return len(found) / 100

    playings = Playings(own, score, wait, TIERS)
    playings._transit = lambda choice: 10.0 + choice
    changes = sorted(rng.integers(0, 4 * n, 3).tolist())
    own.past = [
        chain(at, choice=at % 2, first=first, last=last)
        for at, (first, last) in enumerate(
            [(changes[0], changes[1]), (changes[1], changes[2]), (changes[2], math.inf)]
        )
    ]
    past = list(own.past)
    looked_at = [number for number in range(4 * n) if (number % n) % every == 0]
    frames = [
        Frame(number, 100.0 + number / rate + rng.uniform(0.0, 2.0), number, min(every, n - number % n))
        for number in looked_at if rng.random() < 0.8
    ]  # fmt: skip
    found = []
    for frame in sorted(frames, key=lambda each: each.done):
        found += playings.closed(frame.done)
        playings.take([frame])
    found += playings.closed(100.0 + (4 * n - 1) / rate + wait)
    assert [each.number for each in found[:4]] == [0, 1, 2, 3]
    for at in range(4):
        judged, first = found[at], at * n
        good = [
            frame for frame in frames
            if first <= frame.number < first + n and frame.done - 100.0 - frame.number / rate <= wait
        ]  # fmt: skip
        assert scored[at] == {frame.number - first: frame for frame in good}
        assert judged.late.tolist() == [frame.done - 100.0 - frame.number / rate for frame in good]
        assert judged.missed == n - sum(frame.covers for frame in good)
        assert judged.accuracy == len(good) / 100
        own_chains = [each for each in past if each.first < first + n <= each.last]
        if own_chains:
            last = own_chains[-1]
            assert (judged.planned, judged.expected) == ((0.5, 0.75)[last.choice], 10.0 + last.choice)
            assert judged.undisturbed == (last.first <= first)
            assert judged.label == f"option {last.choice}"
        else:
            assert (judged.planned, judged.undisturbed, judged.label) == (0.0, False, "")
            assert math.isnan(judged.expected)


def test_a_playing_is_scored_once_its_last_frame_came_or_is_overdue():
    own = Life(entry_of(frames=4))
    playings = Playings(own, lambda feed_, found: 1.0, 3.0, TIERS)
    own.past = [chain(1, first=0, last=4), chain(2, choice=1, first=4)]
    playings._transit = lambda choice: 0.0

    def came(number, late=0.1, covers=1):
        playings.take([Frame(number, 100.0 + number / 2.0 + late, "x", covers)])

    for number in (0, 1, 3):
        came(number)
    came(3, late=0.2)
    assert playings.closed(104.4) == []
    (first,) = playings.closed(104.5)
    assert (first.missed, len(first.late), first.undisturbed) == (1, 3, True)
    assert first.late[2] == pytest.approx(0.1)
    # Chains that ended with that playing are dropped; a late frame of it does not count.
    assert [each.key for each in own.past] == [2]
    came(2)
    came(4, late=3.0, covers=2)
    came(6, late=3.001, covers=2)
    assert playings.closed(104.6) == []
    came(6, late=0.0, covers=2)
    (second,) = playings.closed(104.6)
    assert (second.number, second.missed, second.planned) == (1, 0, 0.75)
    assert playings.closed(104.7) == []


def test_summaries_of_a_playing_and_of_a_plan():
    playing = Playing("q", 3, 0.75, 0.5, 0.1, False, 2, np.array([0.1, 0.3]), "x")
    assert (
        playing.summary
        == "q: playing 3: accuracy 0.500, planned 0.750, disturbed; 2 frames missed, 0.20 s late"
    )
    quiet = Playing("q", 3, 0.75, 0.5, 0.1, True, 2, np.zeros(0), "x")
    assert quiet.summary == "q: playing 3: accuracy 0.500, planned 0.750; 2 frames missed"
    assert PlanDecision(1.0, 2.0, ("a", "b"), ("c",)).report() == ["new plan (a; b)", "  c"]
