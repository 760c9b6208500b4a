"""Play times of a source's frames, on a clock that advances only during waits, and records of the last part."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.engines.streams.executor import Frame
from windlass.engines.streams.part import FrameItem, Passing, SegmentWorker, Task

ZERO = 64.0


class Clock:
    """A clock and a condition in one: a timed wait advances the clock, an untimed one runs the next of ``after``."""

    def __init__(self, now, after=()):
        self.now, self.after, self.looks = now, list(after), 0

    def __call__(self):
        self.looks += 1
        assert self.looks < 10_000, "it looks at the clock for ever"
        return self.now

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return None

    def wait(self, seconds=None):
        if seconds is None:
            self.after.pop(0)()
        else:
            assert seconds > 0
            self.now += seconds

    def notify_all(self):
        pass


def source(now, rate=4.0, frames=10, every=1, buffer=2):
    """Return a source without threads, whose frames the test takes."""
    clock = Clock(now)
    part = SegmentWorker(
        Task(Passing(every, 0), rate, frames, ZERO, source=True, last=True, buffer=buffer), print, clock
    )
    part.close()
    part._open, part._news = True, clock
    return part, clock


def closes(part):
    def close():
        part._open = False

    return close


@given(
    st.integers(-256, 640), st.sampled_from([0.5, 2.0, 4.0]), st.integers(1, 12), st.integers(1, 5),
    st.integers(1, 3), st.integers(0, 60), st.integers(0, 20), st.lists(st.integers(0, 128), min_size=8, max_size=8),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_source_plays_recent_frames_as_soon_as_they_are_born(
    ticks, rate, frames, every, buffer, first, count, works
):
    part, clock = source(ZERO + ticks / 64, rate, frames, every, buffer)
    part.play(first)
    part.end(first + count)
    clock.after = [closes(part)]
    looked_at = [number for number in range(4000) if number % frames % every == 0]
    after = first
    for work in works:
        # Times are multiples of 1/64 s, so that all sums are exact.
        at = clock.now
        too_old = {number for number in looked_at if number + buffer * every < int((at - ZERO) * rate // 1)}
        number = next(each for each in looked_at if each >= after and each not in too_old)
        item = part._born()
        if number >= first + count:
            assert item is None
            break
        assert item == FrameItem(number, None, 0)
        assert clock.now == max(at, ZERO + number / rate)
        after = number + 1
        clock.now += work / 64


def test_an_ended_source_resumes_when_its_end_is_extended():
    part, clock = source(ZERO)
    ends = iter((5, 6))

    def on():
        part.end(next(ends))

    clock.after = [lambda: part.play(3), on, on, closes(part)]
    part.end(3)
    assert [part._born(), part._born(), part._born()] == [
        FrameItem(3, None, 0),
        FrameItem(4, None, 0),
        FrameItem(5, None, 0),
    ]
    assert clock.now == ZERO + 5 / 4
    assert part._born() is None


@dataclass(frozen=True)
class Doubling:
    """A stage that doubles its input and adds the place in the clip."""

    every: int = 4

    def start(self):
        return lambda place, value: 2 * value + place

    def sent(self, value):
        return value + 1


@pytest.mark.parametrize("last", [True, False])
def test_the_last_part_records_frames_and_others_send_them(last):
    sent = []
    part = SegmentWorker(Task(Doubling(), 10.0, 10, ZERO, source=False, last=last), sent.append, lambda: 99.5)
    part.close()
    came = iter([FrameItem(0, 0, 5), FrameItem(8, 800, 5), FrameItem(14, 1400, 5), None])
    part._handed = lambda: next(came)
    part._work()
    if last:
        # Every fourth of ten frames is processed: the last one covers two.
        assert part._frames == [Frame(0, 99.5, 0, 4), Frame(8, 99.5, 1608, 2), Frame(14, 99.5, 2804, 4)]
        assert not part._outbox
        return
    assert list(part._outbox) == [FrameItem(0, 0, 1), FrameItem(8, 1608, 1609), FrameItem(14, 2804, 2805)]
    assert part._frames == []
    # Items that wait when a part closes are not sent.
    part._send()
    assert sent == []
