"""A segment at work, in threads of this process: order, sampling, bounded buffers, errors."""

import threading
import time
from dataclasses import dataclass

import pytest

from windlass.engines.streams.part import FrameItem, Passing, SegmentWorker, Task

FRAMES, RATE = 10, 200.0
LONG_S = 300


@dataclass(frozen=True)
class Counting:
    """A stage that returns the number of frames of this playing; it fails at a place of the clip.

    It sets ``begun`` when it has a frame, and waits for ``stuck``.
    """

    every: int = 1
    begun: threading.Event | None = None
    stuck: threading.Event | None = None
    fails: int = -1

    def start(self):
        seen = []

        def run(place, value):
            if self.begun is not None and self.stuck is not None:
                self.begun.set()
                self.stuck.wait()
            if place == self.fails:
                raise ValueError(f"frame {place} cannot be read")
            seen.append(place)
            return place, len(seen), value

        return run

    def sent(self, value):
        return 10


def task(stages, **changes):
    settings = {"zero": time.time(), "source": True, "last": True, "buffer": 100_000} | changes
    return Task(stages, RATE, FRAMES, **settings)


def gathered(part, count):
    found, until = [], time.monotonic() + LONG_S
    while len(found) < count:
        assert time.monotonic() < until
        found += part.take(0.02)
    return found


@pytest.mark.matrix
@pytest.mark.parametrize("every", [1, 3, 7, 20])
def test_sampled_frames_come_in_order_and_each_playing_restarts(every):
    part = SegmentWorker(task(Counting(every)), lambda item: None)
    part.play(5)
    part.end(35)
    looked = [number for number in range(5, 35) if number % FRAMES % every == 0]
    frames = gathered(part, len(looked))
    part.close()
    assert [frame.number for frame in frames] == looked
    for frame in frames:
        place, count, value = frame.found
        first = next(number for number in looked if number // FRAMES == frame.number // FRAMES)
        assert (place, value) == (frame.number % FRAMES, None)
        assert count == (frame.number - first) // every + 1
    whole = [frame.covers for frame in frames if 10 <= frame.number < 30]
    assert sum(whole) == 20


def test_no_frame_is_played_before_it_is_born_or_after_the_end():
    started = time.time()
    part = SegmentWorker(task(Counting(), zero=started), lambda item: None)
    part.end(7)
    part.play(3)
    frames = gathered(part, 4)
    assert part.take(0.2) == ()
    part.close()
    assert [frame.number for frame in frames] == [3, 4, 5, 6]
    assert all(frame.done >= started + frame.number / RATE for frame in frames)


def test_items_are_processed_in_order_with_their_bytes():
    first_sent, second = [], SegmentWorker(task(Counting(), source=False), lambda item: None)

    def hand_on(item):
        first_sent.append(item.size)
        second.push(item)

    first = SegmentWorker(task(Passing(every=2, size=70), last=False), hand_on)
    first.play(0)
    first.end(20)
    frames = gathered(second, 10)
    first.close()
    second.close()
    assert [frame.number for frame in frames] == list(range(0, 20, 2))
    assert first_sent == [70] * 10


def test_a_blocked_part_drops_the_oldest_items_beyond_its_buffer():
    begun, stuck = threading.Event(), threading.Event()
    part = SegmentWorker(task(Counting(1, begun, stuck), source=False, buffer=3), lambda item: None)
    part.push(FrameItem(0, None, 0))
    assert begun.wait(LONG_S)
    for number in range(1, 10):
        part.push(FrameItem(number, None, 0))
    stuck.set()
    assert [frame.number for frame in gathered(part, 4)] == [0, 7, 8, 9]
    assert part.take(0.1) == ()
    part.close()


@pytest.mark.matrix(0)
def test_a_blocked_source_skips_old_frames():
    begun, stuck = threading.Event(), threading.Event()
    part = SegmentWorker(task(Counting(1, begun, stuck), buffer=2), lambda item: None)
    part.play(0)
    assert begun.wait(LONG_S)
    time.sleep(0.5)
    now = (time.time() - part._task.zero) * RATE
    stuck.set()
    frames = gathered(part, 2)
    part.close()
    assert frames[0].number <= now - 90
    assert frames[1].number >= now - 3


def test_an_error_of_a_component_is_raised_by_take():
    part = SegmentWorker(task(Counting(fails=4)), lambda item: None)
    part.play(0)
    with pytest.raises(ValueError, match="frame 4 cannot be read"):
        gathered(part, 100)
    part.close()


def test_an_error_of_sending_is_raised_by_take():
    def hand_on(item):
        raise ConnectionError("nobody there")

    part = SegmentWorker(task(Counting(), last=False), hand_on)
    part.play(0)
    with pytest.raises(ConnectionError, match="nobody there"):
        gathered(part, 100)
    part.close()
