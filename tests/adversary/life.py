"""The life of drivers in a run: killed at writes, stopped by a full disk, and restarted until nothing changes."""

import sqlite3
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from tests.adversary.clock import VirtualClock
from tests.adversary.disk import JournalDisk
from tests.adversary.plan import KILLS, Action, Fault
from windlass.model import InputError
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs

#: When faults and actions end, s.
QUIET_S = 120.0
#: Waits without a change after which the queue counts as settled, and the most drivers of a run.
STILL, MOST_DRIVERS = 6, 60
POLICIES = {"easy": Easy, "fcfs": Fcfs}


class Killed(BaseException):
    """The driver's process was killed."""


@dataclass(frozen=True, slots=True)
class DrawnPlan:
    """What all plans have. `actions` and `faults` happen to the `jobs`."""

    seed: int
    policy: str
    jobs: tuple
    actions: tuple[Action, ...]
    faults: tuple[Fault, ...]

    def without(self, part):
        """Return the plan without a fault, an action or a job."""
        return replace(
            self,
            faults=tuple(each for each in self.faults if each is not part),
            actions=tuple(each for each in self.actions if each is not part),
            jobs=tuple(each for each in self.jobs if each is not part),
        )


class Draw:
    """Draws the parts of a plan from a seed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def below(self, limit):
        return int(self.rng.integers(limit))

    def time(self, begin=0.0):
        return round(begin + float(self.rng.random()) * (QUIET_S - begin), 1)

    def seconds(self):
        """Return the run time of a job, s."""
        return round(2.0 + float(self.rng.random()) * (20.0, 60.0)[self.below(2)], 1)

    def actions(self, kinds, jobs, most, size):
        """Return fewer than `most` actions; their sizes are below or at `size`."""
        found = []
        for _ in range(self.below(most)):
            job = jobs[self.below(len(jobs))]
            kind = kinds[self.below(len(kinds))]
            found.append(Action(kind, self.time(job.submit), job.number, float(1 + self.below(size))))
        return tuple(found)

    def faults(self, requests, others, most):
        """Return faults: of one of `most` requests, of a write, or at a time."""
        found = []
        for _ in range(self.below(14)):
            group = (requests, requests, KILLS, others)[self.below(4)]
            kind = group[self.below(len(group))]
            at = {requests: self.below(most), KILLS: self.below(60), others: self.time()}[group]
            at = self.below(60) if kind == "disk full" else at
            found.append(Fault(kind, at, round(float(self.rng.random()), 2)))
        return tuple(found)


class Life:
    """Drivers of one journal.

    Parameters
    ----------
    plan
        What happens.
    folder
        An empty folder for the journal.
    requests
        The kinds of faults of a command or request.
    most_waits
        Waits without faults within which the queue must settle.
    """

    def __init__(self, plan, folder, requests, most_waits):
        self.plan, self.folder, self.file, self.clock = plan, folder, folder / "journal", VirtualClock()
        self._disk, self._most_waits = JournalDisk(self.file), most_waits
        self.problems, self.injected = [], Counter()
        self.drivers, self.polls, self.stops, self.written = 0, 0, Counter(), []
        self._requests, self._writes, self._last = 0, 0, {}
        self._dead = self._interrupted = self._quiet = self._over = self._shielded = False
        self._still, self._waits, self._away_until = 0, 0, 0.0
        self._by_request = {each.at: each for each in plan.faults if each.kind in requests}
        by_write = (*KILLS, "disk full")
        self._by_write = {each.at: each for each in plan.faults if each.kind in by_write}
        self._at_times = [each for each in plan.faults if each.kind not in (*requests, *by_write)]

    def _is_busy(self):
        """Return whether a job runs, is about to, or waits for Windlass alone."""
        raise NotImplementedError

    def _record(self, lines):
        """Note lines that the journal has."""

    def _note_full_disk(self):
        """Note that a driver goes on without a journal."""

    def _end_faults(self):
        self._quiet, self._away_until = True, 0.0
        self._by_request.clear()
        self._by_write.clear()

    def sleep(self, seconds):
        self._alive()
        self.clock.wait(seconds)
        self._alive()
        self.polls += 1
        if not self._quiet:
            return
        self._waits += 1
        self._still = 0 if self._is_busy() else self._still + 1
        if self._waits > self._most_waits:
            self.problems.append(f"not settled after {self._most_waits} waits without faults")
        if self._still >= STILL or self.problems:
            self._over = True
            self._die()

    def write(self, journal, lines):
        """Write lines of the journal; see :class:`JournalFile`."""
        self._alive()
        fault = self._by_write.get(self._writes)
        if fault is not None and fault.kind == "disk full":
            del self._by_write[self._writes]
            self._writes += 1
            self.injected["disk full"] += 1
            self._note_full_disk()
            raise sqlite3.OperationalError("database or disk is full")
        self._write(lambda: journal._store.add(lines), lines)

    def shorten(self, shorten, journal, now):
        """Delete the oldest lines of the journal."""
        self._alive()
        self._write(lambda: shorten(journal, now), ())

    def _write(self, write, lines):
        fault = self._by_write.get(self._writes)
        size = 0.0 if fault is None else fault.size
        kill = self._kill()
        if kill == "killed before":
            self._die()
        if kill != "killed within":
            write()
        elif not self._disk.cut(write, size):
            self._die()
        self._record(lines)
        if kill is not None:
            self._die()

    def _kill(self):
        fault = self._by_write.pop(self._writes, None)
        self._writes += 1
        if fault is None or fault.kind not in KILLS:
            return None
        self.injected[fault.kind] += 1
        return fault.kind

    def _die(self):
        self._dead = True
        raise Killed

    def _alive(self):
        if self._dead:
            raise Killed
        if self._interrupted and not self._shielded:
            self._interrupted = False
            raise KeyboardInterrupt

    def _how(self, drive, away):
        """Run a driver to its end; return how it ended. `away` are the errors of a system that stays away."""
        try:
            drive()
        except Killed:
            return "settled" if self._over else "killed"
        except KeyboardInterrupt:
            return "interrupted"
        except away:
            return "stopped"
        except Exception as error:
            if "cannot be written" not in str(error) or not isinstance(error, InputError):
                self.problems.append(f"the driver stopped: {type(error).__name__}: {error}")
            return "stopped"
        finally:
            self._disk.restart()
        return "ended"

    def _drive(self):
        """Start a driver; return how it ended."""
        raise NotImplementedError

    def _again(self):
        """Run one more driver on the settled queue: it must find nothing to do."""
        before, self._still, self._waits = len(self.written), 0, 0
        how = self._drive()
        if how != "settled" or len(self.written) != before:
            self.problems.append(f"a fresh driver ({how}) writes: {self.written[before:]}")
