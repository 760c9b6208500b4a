"""Kills of a driver at its commands."""

import os
import signal
import time

#: How long a test waits for a process, s.
PATIENCE = 60.0


class Ends:
    """Kills a process before or after its nth command that releases jobs, or after its nth that lists them.

    Parameters
    ----------
    rng
        A generator.
    release, listing
        The programs.
    """

    def __init__(self, rng, release, listing):
        self.rng, self.pid, self.left = rng, 0, 0
        self.release, self.listing = release, listing
        self.how = ""

    def arm(self):
        self.how = str(self.rng.choice(["before a release", "after a release", "after a list"]))
        self.left, self.pid = int(self.rng.integers(1, 4)), 0

    def before(self, command):
        if self.how == "before a release" and command[0] == self.release:
            self._count()

    def after(self, command):
        kind = {"after a release": self.release, "after a list": self.listing}.get(self.how)
        if command[0] == kind:
            self._count()

    def _count(self):
        self.left -= 1
        if self.left == 0:
            end = time.monotonic() + PATIENCE
            while not self.pid and time.monotonic() < end:
                time.sleep(0.01)
            os.kill(self.pid, signal.SIGKILL)
