"""A stream served at a given rate, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import query_streams
from windlass.sim.queries.streams import Streams


def streamed(waiting, rate, seconds, buffer=2.0, deadline=0.5):
    streams = Streams(1, buffer, deadline)
    streams.present[0] = streams.works[0] = True
    streams.waiting[0], streams.rate[0], streams.accuracy[0] = waiting, rate, 0.5
    streams.advance(seconds)
    return streams


@pytest.mark.parametrize(
    ("waiting", "rate", "seconds", "served", "late", "lost", "left"),
    [
        # At rate 1 nothing changes: all frames are late or none.
        (0.0, 1.0, 8.0, 8.0, 0.0, 0.0, 0.0),
        (0.5, 1.0, 8.0, 8.0, 0.0, 0.0, 0.5),
        (0.75, 1.0, 8.0, 8.0, 8.0, 0.0, 0.75),
        # Slower: late once half a second waits, lost once two seconds wait.
        (0.0, 0.5, 4.0, 2.0, 1.5, 0.0, 2.0),
        (0.0, 0.5, 6.0, 3.0, 2.5, 1.0, 2.0),
        (0.75, 0.5, 1.0, 0.5, 0.5, 0.0, 1.25),
        (0.25, 0.75, 0.5, 0.375, 0.0, 0.0, 0.375),
        (0.0, 0.0, 3.0, 0.0, 0.0, 1.0, 2.0),
        # Faster: late until half a second waits.
        (1.0, 1.25, 2.0, 2.5, 2.5, 0.0, 0.5),
        (1.0, 1.25, 4.0, 5.0, 2.5, 0.0, 0.0),
        (0.5, 1.25, 1.0, 1.25, 0.0, 0.0, 0.25),
        (1.5, 1.25, 1.0, 1.25, 1.25, 0.0, 1.25),
        # No duration.
        (1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0),
    ],
)
def test_a_stream_matches_values_worked_out_by_hand(waiting, rate, seconds, served, late, lost, left):
    streams = streamed(waiting, rate, seconds)
    found = streams.served[0], streams.late[0], streams.lost[0], streams.waiting[0]
    assert found == pytest.approx((served, late, lost, left))
    assert streams.arrived[0] == seconds
    assert streams.accurate[0] == pytest.approx(0.5 * served)
    assert streams.results() == pytest.approx(0.5 * rate)
    assert streams.silent[0] == 0.0
    expected = left / (rate - 1.0) if rate > 1.0 and left > 0.0 else np.inf
    assert streams.caught_up_in() == pytest.approx(expected)


@settings(max_examples=150)
@given(st.integers(0, 10**6), st.sampled_from((0.0, 0.4, 2.0, np.inf)), st.sampled_from((0.0, 0.4, np.inf)))
def test_many_streams_equal_the_plain_version_to_the_bit(seed, buffer, deadline):
    rng = np.random.default_rng(seed)
    streams, plainly = Streams(6, buffer, deadline), Streams(6, buffer, deadline)
    for _ in range(8):
        present = rng.random(6) < 0.8
        works = present & (rng.random(6) < 0.8)
        accuracy = rng.random(6)
        rate = np.where(works, rng.choice([0.0, 1.0, 1.25, *(2.0 * rng.random(2))], 6), 0.0)
        waiting = np.minimum(rng.choice([0.0, 0.4, *rng.random(2)], 6), buffer)
        seconds = float(rng.choice([0.1, 1.0, 7.0]) * rng.choice([1.0, rng.random()]))
        for each in (streams, plainly):
            each.present[:], each.works[:], each.accuracy[:] = present, works, accuracy
            each.rate[:], each.waiting[:] = rate, waiting
        streams.advance(seconds)
        query_streams.advance(plainly, seconds, buffer, deadline)
        for name in ("arrived", "served", "late", "lost", "silent", "accurate", "waiting"):
            assert getattr(streams, name).tolist() == getattr(plainly, name).tolist(), name


def test_frames_are_late_only_beyond_the_deadline():
    assert streamed(0.5, 0.5, 4.0, buffer=0.5, deadline=0.5).late[0] == 0.0
    assert streamed(0.5, 0.5, 4.0, buffer=0.75, deadline=0.5).late[0] == pytest.approx(2.0)


def test_a_stopped_stream_loses_its_buffer_and_is_silent():
    streams = Streams(3, 2.0, 0.5)
    streams.present[:2] = streams.works[:2] = True
    streams.waiting[:], streams.rate[:], streams.accuracy[:] = [1.5, 1.0, 0.0], [1.5, 1.25, 0.0], 0.5
    assert streams.caught_up_in() == 3.0
    streams.stop(0)
    assert streams.caught_up_in() == 4.0
    assert (streams.lost[0], streams.waiting[0], streams.rate[0]) == (1.5, 0.0, 0.0)
    streams.advance(2.0)
    assert streams.arrived.tolist() == [2.0, 2.0, 0.0]
    assert streams.silent.tolist() == [2.0, 0.0, 0.0]
    assert streams.lost.tolist() == [3.5, 0.0, 0.0]
    assert streams.results() == 0.625
