"""Waits of a segment's threads, and the notifications that end them."""

import pytest

from windlass.engines.streams.executor import Frame
from windlass.engines.streams.part import FrameItem, Passing, SegmentWorker, Task


class Bell:
    """A condition that counts notifications; a wait is recorded, and runs the next of ``after``."""

    def __init__(self):
        self.rung, self.waits, self.after = 0, [], []

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return None

    def notify_all(self):
        self.rung += 1

    def wait_for(self, over, seconds=None):
        before = over()
        if not before and self.after:
            self.after.pop(0)()
        self.waits.append((before, over(), seconds))


def quiet(stages=None, hand_on=print, **more):
    """Return a worker without threads, which the test drives."""
    made = {"source": False, "last": False, "buffer": 2} | more
    part = SegmentWorker(Task(stages or Passing(1, 7), 10.0, 10, 0.0, **made), hand_on, lambda: 5.0)
    part.close()
    part._open, part._news = True, Bell()
    return part, part._news


def test_every_change_that_threads_wait_for_is_notified():
    part, bell = quiet()
    part.play(3)
    assert bell.rung == 1
    part.push(FrameItem(0, "x", 7))
    assert bell.rung == 2
    part.close()
    assert bell.rung == 3


def test_output_is_notified_to_the_sending_thread():
    part, bell = quiet()
    came = iter([FrameItem(0, "x", 3), FrameItem(1, "y", 3), None])
    part._handed = lambda: next(came)
    part._work()
    assert bell.rung == 2
    assert list(part._outbox) == [FrameItem(0, "x", 7), FrameItem(1, "y", 7)]


def test_an_error_of_either_thread_is_notified_and_ends_a_wait_for_frames():
    part, bell = quiet(last=True)

    def fails():
        raise ValueError("cannot be read")

    bell.after = [lambda: part._guarded(fails)]
    with pytest.raises(ValueError, match="cannot be read"):
        part.take(0.75)
    assert bell.waits == [(False, True, 0.75)]
    assert bell.rung == 1
    part._guarded(lambda: None)
    assert bell.rung == 1


def test_frames_are_collected_during_the_whole_wait_unless_the_part_closes():
    part, bell = quiet(last=True)
    frame = Frame(1, 2.0, "x", 1)
    bell.after = [lambda: part._frames.append(frame), part.close]
    assert part.take(0.5) == (frame,)
    assert part.take(0.25) == ()
    assert part.take(0.125) == ()
    # A frame does not end a wait, so that later frames are taken with it; closing the part ends every wait.
    assert bell.waits == [(False, False, 0.5), (False, True, 0.25), (True, True, 0.125)]


def test_a_thread_waits_until_an_item_arrives_or_the_part_closes():
    part, bell = quiet()
    item = FrameItem(4, "x", 3)
    bell.after = [lambda: part.push(item), part.close]
    assert part._handed() == item
    part.push(FrameItem(5, "x", 3))
    assert part._handed() == FrameItem(5, "x", 3)
    assert part._handed() is None
    assert bell.waits == [(False, True, None), (True, True, None), (False, True, None)]
    assert part._waited(part._outbox) is None


def test_items_are_handed_on_in_order_until_the_part_is_closed():
    sent = []
    part, bell = quiet(hand_on=sent.append)
    part._outbox.extend([FrameItem(0, "x", 7), FrameItem(1, "y", 7)])
    bell.after = [part.close]
    part._send()
    assert sent == [FrameItem(0, "x", 7), FrameItem(1, "y", 7)]


def test_a_full_buffer_drops_the_oldest_item():
    part, _ = quiet()
    for number in range(4):
        part.push(FrameItem(number, "x", 7))
    assert [item.number for item in part._inbox] == [2, 3]
    came = iter([FrameItem(number, "x", 7) for number in range(5)] + [None])
    part._handed = lambda: next(came)
    part._work()
    assert [item.number for item in part._outbox] == [3, 4]


@pytest.mark.parametrize(("last", "threads"), [(True, 1), (False, 2)])
def test_only_a_part_with_a_successor_has_a_sending_thread(last, threads):
    part, _ = quiet(last=last)
    assert len(part._threads) == threads
    assert all(thread.daemon for thread in part._threads)
