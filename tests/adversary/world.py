"""A run of a plan: drivers of Slurm that are killed and restarted, until faults stop and the queue is settled."""

import contextlib
import sqlite3
import subprocess
from collections import Counter
from unittest import mock

from tests.adversary.clock import BEGIN, VirtualClock
from tests.adversary.disk import JournalDisk, unsynchronised
from tests.adversary.history import Jobs, check
from tests.adversary.plan import COMMANDS, CPUS, KILLS, QUIET_S
from tests.adversary.records import Actor
from tests.adversary.slurm import VirtualSlurm
from tests.engines.slurm.fake_commands import NOBODY_THERE
from tests.engines.slurm.releases import AsRelease
from windlass.engines.batch import driver_lock as lock
from windlass.engines.batch import queue_return
from windlass.engines.slurm import driver
from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.driver import drive_slurm, give_back
from windlass.engines.slurm.entries import read_entry
from windlass.engines.slurm.journal import Journal
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import BatchError, InputError
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs

#: Polls without a write after which the queue counts as settled, and the most that it may take.
STILL, MOST_POLLS = 5, 400
#: Drivers that a run may start.
_MOST_DRIVERS = 60
_WRITES = ("release", "uhold", "hold", "update", "requeuehold")
_AWAY = "Unable to contact slurm controller (connect failure)"
POLICIES = {"easy": Easy, "fcfs": Fcfs}
_SHORTEN = Journal._shorten


class Killed(BaseException):
    """The driver's process was killed: nothing of it runs any more."""


class _NoGroups:
    """Control groups without quotas."""

    def __init__(self, name):
        self.name = name

    def release_all(self):
        pass


class World:
    """A run.

    Parameters
    ----------
    plan
        What happens.
    folder
        A folder for the journal.
    """

    def __init__(self, plan, folder):
        self.plan, self.folder, self.clock = plan, folder, VirtualClock()
        self._disk = JournalDisk(folder / "journal")
        self.slurm = VirtualSlurm(self.clock, CPUS)
        is_usual = plan.release == "22.05.9"
        self._answers = self.slurm if is_usual else AsRelease(plan.release, self.slurm)
        self.problems, self.injected, self.entries, self.polls = [], Counter(), [], 0
        self.written, self.drivers, self.stops = [], 0, Counter()
        self._commands, self._writes, self._last = 0, 0, {}
        self._dead = self._shielded = self._interrupted = self._full = False
        self._ends = False
        self._quiet, self._still, self._quiet_polls, self._away_until = False, 0, 0, 0.0
        self._by_command = {each.at: each for each in plan.faults if each.kind in COMMANDS}
        by_write = (*KILLS, "disk full")
        self._by_write = {each.at: each for each in plan.faults if each.kind in by_write}
        for each in plan.jobs:
            self.clock.at(BEGIN + each.submit, lambda each=each: self.slurm.arrive(each))
        for each in plan.actions:
            self.clock.at(BEGIN + each.at, lambda each=each: self.slurm.act(each))
        for each in plan.faults:
            if each.kind not in COMMANDS and each.kind not in by_write:
                self.clock.at(BEGIN + each.at, lambda each=each: self._strike(each))
        self.clock.at(BEGIN + QUIET_S, self._end_faults)

    # -- what happens at a time

    def _strike(self, fault):
        self.injected[fault.kind] += 1
        match fault.kind:
            case "interrupted":
                self._interrupted = True
            case "restarted":
                self._away_until = self.slurm.booted = self.clock.now + fault.size
            case "rolled back":
                self.slurm.forget()
                self._away_until = self.slurm.booted = self.clock.now + 3.0
            case "drained":
                self.slurm.drain("w2", back=False)
                self.clock.at(self.clock.now + fault.size, lambda: self.slurm.drain("w2", back=True))

    def _end_faults(self):
        self._quiet, self._away_until = True, 0.0
        self._by_command.clear()
        self._by_write.clear()
        for name in ("w1", "w2"):
            self.slurm.drain(name, back=True)
        self._interrupted = self._interrupted or self.plan.ends_held

    # -- the driver's commands, waits and lines of the journal

    def __call__(self, command, timeout):
        self._alive()
        self._commands += 1
        fault = self._by_command.pop(self._commands, None)
        writes = command[0] == "scontrol" and command[1] in _WRITES
        kill = self._kill() if writes else None
        if kill == "killed before":
            self._die()
        self.clock.wait(0.02)
        if self.clock.now < self._away_until:
            return self._nothing(command)
        if writes:
            self.written.append((self.clock.now, *command[1:]))
            self._still = 0
        answer = self._answer(command, timeout, fault)
        if kill is not None:
            self._die()
        if command[0] == "squeue":
            self._polled()
        self._alive()
        return answer

    def _answer(self, command, timeout, fault):
        kind = "" if fault is None else fault.kind
        self.injected[kind] += kind != ""
        writes = command[1] in _WRITES
        match kind:
            case "lost":
                self.clock.wait(1.0)
                return self._nothing(command)
            case "unanswered":
                self._answers(command, timeout)
                self.clock.wait(timeout)
                raise subprocess.TimeoutExpired(command[0], timeout)
            case "delayed":
                answer = self._answers(command, timeout)
                self.clock.wait(min(fault.size, timeout - 1.0))
                return answer
            case "stale" if command in self._last:
                return self._last[command]
            case "cut":
                status, out, errors = self._answers(command, timeout)
                return status, out[: int(fault.size * len(out))], errors
            case "refused" if writes and command[1] in ("release", "uhold"):
                return self._refused(command, timeout, fault.size)
            case "twice":
                self._answers(command, timeout)
        answer = self._answers(command, timeout)
        if not writes:
            self._last[command] = answer
        return answer

    def _refused(self, command, timeout, share):
        """Carry a command out for some of its jobs."""
        jobs = command[2].split(",")
        done = jobs[: int(share * len(jobs))]
        if done:
            self._answers((*command[:2], ",".join(done)), timeout)
        refused = jobs[len(done) :]
        return 1, "", " ".join(f"Access/permission denied for job {each}" for each in refused)

    def _nothing(self, command):
        """Return what a command prints without its controller."""
        return (0, NOBODY_THERE, "") if command[0] == "squeue" else (1, "", _AWAY)

    def wait(self, seconds):
        self._alive()
        self.clock.wait(seconds)
        self._alive()

    def write(self, journal, lines):
        """Write lines of the journal; see :class:`Journal`."""
        self._alive()
        fault = self._by_write.get(self._writes)
        if fault is not None and fault.kind == "disk full":
            self._by_write.pop(self._writes)
            self._writes += 1
            self.injected["disk full"] += 1
            # The driver gives the queue back without a journal.
            self.slurm.by = Actor.GIVE_BACK
            raise sqlite3.OperationalError("database or disk is full")
        self._write(lambda: journal._store.add(lines), lines)

    def shorten(self, journal, now):
        """Delete the oldest lines of the journal."""
        self._alive()
        self._write(lambda: _SHORTEN(journal, now), ())

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
        self._still = 0 if lines else self._still
        self.entries += [read_entry(each.line) for each in lines]
        if kill is not None:
            self._die()

    def _kill(self):
        fault = self._by_write.pop(self._writes, None)
        self._writes += 1
        if fault is None:
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

    def _polled(self):
        self.polls += 1
        if not self._quiet:
            return
        self._quiet_polls += 1
        self._still = 0 if self.slurm.busy else self._still + 1
        if self._quiet_polls > MOST_POLLS:
            self.problems.append(f"not settled after {MOST_POLLS} polls without faults")
        if self._still >= STILL or self.problems:
            self._over = True
            self._die()

    # -- the life of drivers

    def _lock(self):
        self._locked, self._interrupted = True, self._interrupted or self._ends
        return self.folder

    @contextlib.contextmanager
    def _shield(self):
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False

    def _drive(self):
        """Run a driver to its end; return how it ended."""
        self.drivers += 1
        self._dead, self._over, self._locked, self.slurm.by = False, False, False, Actor.DRIVER
        client = Client(self, 60.0, 10.0, sleep=self.wait, clock=self.clock.time)
        policy = POLICIES[self.plan.policy]()
        driving = Driving(
            {"order": policy}, self.folder / "journal", SlurmOptions(self.plan.pace), forgets=True
        )
        try:
            drive_slurm(client, driving, lambda line: None, clock=self.clock.time, sleep=self.wait)
        except Killed:
            return "settled" if self._over else "killed"
        except KeyboardInterrupt:
            return "interrupted"
        except AwayError:
            return "stopped"
        except (BatchError, InputError) as error:
            if "cannot be written" not in str(error):
                self.problems.append(f"the driver stopped: {error}")
            return "stopped"
        finally:
            self._disk.restart()
        return "ended"

    def _give_back(self):
        self._dead, self.slurm.by = False, Actor.GIVE_BACK
        with contextlib.suppress(Killed, KeyboardInterrupt, BatchError, InputError):
            give_back(
                Client(self, 20.0, 10.0, sleep=self.wait, clock=self.clock.time),
                self.folder / "journal",
                SlurmOptions(),
                lambda line: None,
                self.clock.time,
            )
        self._disk.restart()

    def _live(self):
        while self.drivers < _MOST_DRIVERS:
            how = self._drive()
            self.stops[how] += 1
            if how == "settled" or self.problems:
                return
            if self.plan.ends_held and self._quiet and how == "interrupted":
                if self._locked:
                    self.clock.wait(600.0)
                    return
                # It had not begun to drive.
                self._ends = True
            every = self.plan.give_back_every
            if every and not self._quiet and self.drivers % every == 0:
                self._give_back()
            self.clock.wait(3.0)
        self.problems.append(f"{_MOST_DRIVERS} drivers were started")

    def _again(self):
        """Run one more driver on the settled queue: it must find nothing to do; then give the queue back."""
        before = len(self.written), len(self.entries)
        self._still = self._quiet_polls = 0
        how = self._drive()
        if how != "settled" or before != (len(self.written), len(self.entries)):
            new = self.written[before[0] :], self.entries[before[1] :]
            self.problems.append(f"a fresh driver ({how}) writes: {new}")
        self._quiet, self._interrupted = False, False
        self.clock.at(self.clock.now + 2.5 * self.plan.pace, lambda: setattr(self, "_interrupted", True))
        self._drive()

    def run(self):
        """Run the plan; return the problems."""
        with contextlib.ExitStack() as stack:
            for each in (
                mock.patch.object(Journal, "_write", lambda journal, lines: self.write(journal, lines)),
                mock.patch.object(Journal, "_shorten", lambda journal, now: self.shorten(journal, now)),
                mock.patch.object(Journal.__init__, "__defaults__", (self.plan.journal_limit,)),
                unsynchronised(mock),
                mock.patch.object(lock, "_folder", self._lock),
                mock.patch.object(queue_return, "undisturbed", self._shield),
                mock.patch.object(driver, "detect_groups", _NoGroups),
            ):
                stack.enter_context(each)
            self._live()
            if not self.problems and not self.plan.ends_held:
                self._again()
        if not self.problems:
            slurm = self.slurm
            others = frozenset(each.number for each in self.plan.jobs if not each.opted)
            jobs = Jobs(frozenset(slurm.ours), frozenset(slurm.lost), others)
            found = check(self.entries, slurm.ran, slurm.log, slurm.listed(), jobs, given_back=True)
            self.problems += map(str, found)
        return self.problems


def run(plan, folder):
    """Run a plan in an empty folder; return the world afterwards."""
    JournalDisk(folder / "journal").clear()
    world = World(plan, folder)
    world.run()
    return world
