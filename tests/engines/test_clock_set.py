"""Polls of a batch system on a host whose clock is set."""

import itertools

import pytest

from windlass.engines.batch.polling import Polls
from windlass.engines.batch.status import DriverStatus


class Host:
    """A host whose clock is set by `change` (s) once `true` seconds are over, in a sleep or in a poll."""

    def __init__(self, change, true, in_poll):
        self.time, self.ahead, self.change, self.true, self.in_poll = 0.0, 1e6, change, true, in_poll
        self.polled = []
        self.polls = Polls(self.poll, 1.0, False, lambda: self.time + self.ahead, self.sleep, DriverStatus())

    def set(self):
        if self.time >= self.true:
            self.ahead, self.true = self.ahead + self.change, float("inf")

    def sleep(self, seconds):
        self.time += seconds
        if not self.in_poll:
            self.set()

    def poll(self):
        self.polls.began()
        self.polled.append(self.time)
        self.time += 0.01
        if self.in_poll:
            self.set()
        self.polls.ended(1, 0, 0)

    def longest_pause(self, timeout):
        while self.time < 600.0:
            self.polls.wait(timeout)
        return max(later - before for before, later in itertools.pairwise([*self.polled, self.time]))


@pytest.mark.parametrize("timeout", [0.5, 60.0])
@pytest.mark.parametrize(
    ("change", "in_poll", "most"),
    [(-3600.0, False, 2.0), (-3600.0, True, 2.0), (3600.0, False, 2.0), (3600.0, True, 242.0)],
)
def test_a_clock_that_is_set_does_not_stop_polls(change, in_poll, most, timeout):
    assert Host(change, 20.0, in_poll).longest_pause(timeout) <= most
