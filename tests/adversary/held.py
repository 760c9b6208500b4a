"""A run of drivers of a queue whose jobs wait on hold: its commands fail, and the drivers are killed."""

import contextlib
import subprocess
from collections import Counter
from dataclasses import dataclass
from unittest import mock

from tests.adversary.clock import BEGIN
from tests.adversary.disk import unsynchronised
from tests.adversary.life import MOST_DRIVERS, POLICIES, QUIET_S, Draw, DrawnPlan, Killed, Life
from tests.adversary.plan import KILLS
from windlass.engines.batch import driver_lock, queue_return
from windlass.engines.batch.holds.driver import drive_holds, give_back_holds
from windlass.engines.batch.holds.entries import FORMAT, HeldAgain, HoldingAgain, Lifted, Lifting
from windlass.engines.batch.holds.journal import HoldJournal
from windlass.engines.batch.holds.settings import HoldDriving, HoldOptions
from windlass.engines.batch.holds.site import SystemAwayError

#: Faults of a command: its answer is lost before or after it is carried out, comes late, is that of an earlier call,
#: is cut short, or is a refusal; or the command is carried out twice.
COMMANDS = ("lost", "unanswered", "delayed", "stale", "cut", "refused", "twice")
#: The journal's disk is full, the driver receives SIGINT, the system is away, or a node is drained for a while.
OTHERS = ("disk full", "interrupted", "away", "drained")
FAULTS = (*COMMANDS, *KILLS, *OTHERS)
#: CPUs of the nodes.
NODES = (2, 2)
#: Waits without faults within which the queue must settle.
MOST_WAITS = 900
_SHORTEN = HoldJournal._shorten


@dataclass(frozen=True, slots=True)
class Job:
    """A job as submitted: times in s, and whether it is in the queue of Windlass, and held."""

    number: int
    submit: float
    procs: int
    seconds: float
    queue: bool = True
    held: bool = True


@dataclass(frozen=True, slots=True)
class Plan(DrawnPlan):
    """A run. `ends_held` runs stop the driver while jobs may wait, all others when nothing is left to do."""

    #: Time from a change until the scheduler's cycle, s.
    latency: float = 0.5
    #: Whether the system keeps a history of ended jobs.
    history: bool = True
    #: After each of this many ends of a driver, `give-back` is run; 0 for never.
    give_back_every: int = 0
    #: Size at which the journal is rotated, bytes.
    journal_limit: int = 8 << 20
    ends_held: bool = False


def draw_held(seed, actions):
    """Return the plan of a seed, with these kinds of actions."""
    drawn = Draw(seed)
    below = drawn.below
    jobs = tuple(
        Job(
            number,
            round(drawn.time() * (below(3) > 0) * 0.7, 1),
            1 + below(sum(NODES)),
            drawn.seconds(),
            below(6) > 0,
            below(8) > 0,
        )
        for number in range(1, 3 + below(6))
    )
    return Plan(
        seed=seed,
        jobs=jobs,
        actions=drawn.actions(actions, jobs, 8, 30),
        faults=drawn.faults(COMMANDS, OTHERS, 200),
        policy=("fcfs", "easy")[below(2)],
        latency=(0.0, 0.5, 3.0)[below(3)],
        history=below(3) > 0,
        give_back_every=(0, 0, 3)[below(3)],
        journal_limit=(8 << 20, 700)[below(2)],
        ends_held=below(4) == 0,
    )


class Journaled:
    """What the journal of drivers has about the jobs of a fake."""

    def __init__(self, problems):
        self.problems = problems
        #: What the journal has about each job since its last change, and the jobs that drivers ever released.
        self.intent, self.confirmed, self.once = {}, set(), set()

    def note(self, entry):
        """Note an entry that is on disk."""
        match entry:
            case Lifting() | HoldingAgain():
                self.intent[entry.job] = type(entry)
            case Lifted():
                self.confirmed.add(entry.job)
            case HeldAgain():
                self.confirmed.discard(entry.job)

    def report(self, wrong, what):
        """Report the rules that a change breaks."""
        self.problems += [f"{rule}: {what}" for rule, broken in wrong.items() if broken]


class HeldWorld(Life):
    """A run of a plan: its system, and the drivers. A subclass has the system.

    Parameters
    ----------
    plan, folder
        See :class:`~tests.adversary.life.Life`.
    """

    #: Exit status, output and errors of a command while the system is away, and the time of one command, s.
    AWAY = (1, "", "")

    def __init__(self, plan, folder):
        super().__init__(plan, folder, COMMANDS, MOST_WAITS)
        self._locked = self._ends = False
        self.fake = self.make()
        at = self.clock.at
        for each in plan.jobs:
            at(BEGIN + each.submit, lambda each=each: self.arrive(each))
        for each in plan.actions:
            at(BEGIN + each.at, lambda each=each: self.act(self.identifier(each.job), each))
        for each in self._at_times:
            at(BEGIN + each.at, lambda each=each: self._strike(each))
        at(BEGIN + QUIET_S, self._end_faults)

    # -- what a system has

    def make(self):
        """Return the fake, with `journal` as in :class:`Journaled`."""
        raise NotImplementedError

    def identifier(self, number):
        """Return the identifier of a job of the plan."""
        raise NotImplementedError

    def arrive(self, job):
        """Submit a job of the plan."""
        raise NotImplementedError

    def act(self, job, action):
        """Let an action happen."""
        raise NotImplementedError

    def drain(self, away):
        """Drain the second node, or return it."""
        raise NotImplementedError

    def writes(self, command):
        """Return whether a command changes jobs."""
        raise NotImplementedError

    def refused(self, command, timeout, share):
        """Carry a command out for a share of its jobs; return its answer."""
        raise NotImplementedError

    def cut(self, answer, share):
        """Return an answer of which a share arrived."""
        status, out, errors = answer
        return status, out[: int(share * len(out))], errors

    def site(self, patience):
        """Return the queue."""
        raise NotImplementedError

    def is_active(self, job):
        """Return whether a job runs, or is about to."""
        raise NotImplementedError

    def waits_for_us(self, job):
        """Return whether a job waits for Windlass alone."""
        raise NotImplementedError

    def left_held(self, job):
        """Return whether a job is held for Windlass."""
        raise NotImplementedError

    def requeues(self):
        """Return how often each job was requeued, or may have been, by identifier."""
        kinds = ("requeued",)
        return Counter(self.identifier(each.job) for each in self.plan.actions if each.kind in kinds)

    # -- what happens at a time

    def _strike(self, fault):
        self.injected[fault.kind] += 1
        ends = self.clock.now + 40.0 * fault.size
        match fault.kind:
            case "interrupted":
                self._interrupted = True
            case "away":
                self._away_until = ends
            case "drained":
                self.drain(True)
                self.clock.at(ends, lambda: self.drain(False))

    def _end_faults(self):
        super()._end_faults()
        if self.plan.ends_held:
            self._interrupted = True

    # -- the commands of the driver

    def __call__(self, command, timeout):
        self._alive()
        command = tuple(command)
        writes = self.writes(command)
        kill = self._kill() if writes else None
        if kill == "killed before":
            self._die()
        answer = self._faulty(command, timeout, writes)
        if writes:
            self.written.append((self.clock.now, command))
            self._still = 0
        if kill is not None:
            self._die()
        return answer

    def _faulty(self, command, timeout, writes):
        self._requests += 1
        self.clock.wait(0.05)
        if self.clock.now < self._away_until:
            status, out, errors = self.AWAY
            return status, out, f"{command[0]}: {errors}"
        fault = self._by_request.pop(self._requests, None)
        kind = "" if fault is None else fault.kind
        if fault is not None:
            self.injected[kind] += 1
        match kind:
            case "lost":
                self.clock.wait(timeout)
                raise subprocess.TimeoutExpired(command[0], timeout)
            case "unanswered":
                self.fake(command, timeout)
                self.clock.wait(timeout)
                raise subprocess.TimeoutExpired(command[0], timeout)
            case "delayed":
                answer = self.fake(command, timeout)
                self.clock.wait(min(20.0 * fault.size, timeout - 1.0))
                return answer
            case "stale" if command in self._last:
                return self._last[command]
            case "cut":
                return self.cut(self.fake(command, timeout), fault.size)
            case "refused" if writes:
                return self.refused(command, timeout, fault.size)
            case "twice":
                self.fake(command, timeout)
        answer = self.fake(command, timeout)
        if not writes:
            self._last[command] = answer
        return answer

    # -- the journal and the life of the driver

    def _is_busy(self):
        return any(self.is_active(job) or self.waits_for_us(job) for job in self.fake.jobs.values())

    def _note_full_disk(self):
        # The driver gives the queue back without a journal.
        self.fake.by = "give-back"

    def _record(self, lines):
        for line in lines:
            entry = FORMAT.read(line.line)
            self.fake.journal.note(entry)
            if type(entry).__name__ == "QueueReturned":
                # What is given back is journaled as a whole.
                self.fake.journal.intent |= dict.fromkeys(entry.jobs, Lifting)
        self._still = 0 if lines else self._still

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
        self.drivers += 1
        self._dead = self._over = self._locked = False
        self.fake.by = "driver"
        policies = {"order": POLICIES[self.plan.policy]()}
        driving = HoldDriving(policies, self.file, HoldOptions(2.0), forgets=True)

        def drive():
            drive_holds(self.site(60.0), driving, lambda line: None, clock=self.clock.time, sleep=self.sleep)

        return self._how(drive, SystemAwayError)

    def _give_back(self):
        self._dead, self.fake.by = False, "give-back"
        with contextlib.suppress(Killed, KeyboardInterrupt, SystemAwayError):
            give_back_holds(self.site(20.0), self.file, lambda line: None, self.clock.time)
        self._disk.restart()

    def _live(self):
        while self.drivers < MOST_DRIVERS and not self.problems:
            how = self._drive()
            self.stops[how] += 1
            if how == "settled":
                return
            if self.plan.ends_held and self._quiet and how == "interrupted":
                if self._locked:
                    return
                # It had not begun to drive.
                self._ends = True
            every = self.plan.give_back_every
            if every and not self._quiet and self.drivers % every == 0:
                self._give_back()
            self.clock.wait(3.0)
        if not self.problems:
            self.problems.append(f"not settled by {self.drivers} drivers")

    def run(self):
        """Run the plan; return the problems."""
        with (
            mock.patch.object(HoldJournal, "_write", lambda journal, lines: self.write(journal, lines)),
            mock.patch.object(
                HoldJournal, "_shorten", lambda journal, now: self.shorten(_SHORTEN, journal, now)
            ),
            mock.patch.object(HoldJournal.__init__, "__defaults__", (self.plan.journal_limit,)),
            mock.patch.object(driver_lock, "_folder", self._lock),
            mock.patch.object(queue_return, "undisturbed", self._shield),
            unsynchronised(mock),
        ):
            self._live()
            if not self.problems and not self.plan.ends_held:
                self._again()
        if not self.problems:
            self._check()
        return self.problems

    def _check(self):
        """Check what is left: nothing waits for a driver; after a stop, no job is held for one."""
        requeues = self.requeues()
        for job, times in Counter(self.fake.ran).items():
            if times > 1 + requeues[job]:
                self.problems.append(f"runs once: {job} ran {times} times")
        for job in self.fake.jobs.values():
            if self.plan.ends_held and self.left_held(job):
                self.problems.append(f"given back: {job.job} stays held")
            if not self.plan.ends_held and self.waits_for_us(job):
                self.problems.append(f"settled: {job.job} still waits")
