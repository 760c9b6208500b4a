"""The adversary of the driver of PBS: its commands fail, users and operators interfere, and the driver is killed."""

import contextlib
import sqlite3
import subprocess
from collections import Counter
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np

from tests.adversary.clock import BEGIN, VirtualClock
from tests.adversary.disk import JournalDisk, unsynchronised
from tests.adversary.plan import Action, Fault
from tests.engines.pbs.fake_pbs import OTHER_QUEUE, QUEUE, SERVER, FakePbs
from windlass.engines.batch import driver_lock
from windlass.engines.batch.holds import driver
from windlass.engines.batch.holds.driver import drive_holds, give_back_holds
from windlass.engines.batch.holds.entries import FORMAT, HeldAgain, HoldingAgain, Lifted, Lifting
from windlass.engines.batch.holds.journal import HoldJournal
from windlass.engines.batch.holds.settings import HoldDriving, HoldOptions
from windlass.engines.batch.holds.site import SystemAwayError
from windlass.engines.pbs.client import PbsClient
from windlass.engines.pbs.site import PbsSite
from windlass.model import InputError
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs

#: Faults of a command: its answer is lost before or after it is carried out, comes late, is that of an earlier call,
#: is cut short, or is a refusal; or the command is carried out twice.
COMMANDS = ("lost", "unanswered", "delayed", "stale", "cut", "refused", "twice")
#: The driver is killed before, within or after a write: a line of the journal, or a command that changes jobs.
KILLS = ("killed before", "killed within", "killed after")
#: The journal's disk is full, the driver receives SIGINT, the server is away, or a vnode is drained for a while.
OTHERS = ("disk full", "interrupted", "away", "drained")
FAULTS = (*COMMANDS, *KILLS, *OTHERS)
#: What users, operators and PBS do to a job.
ACTIONS = (
    "user holds",
    "user releases",
    "operator holds",
    "operator releases",
    "deleted",
    "requeued",
    "moved",
    "moved back",
    "request changed",
    "depends",
    "waits for a time",
    "cannot start",
)
#: When faults and actions end, s.
QUIET_S = 120.0
VNODES = (2, 2)
#: Waits without a change after which the queue counts as settled, and the most that it may take.
STILL, MOST_WAITS, MOST_DRIVERS = 6, 900, 60
POLICIES = {"easy": Easy, "fcfs": Fcfs}
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
class Plan:
    """A run. `ends_held` runs stop the driver while jobs may wait, all others when nothing is left to do."""

    seed: int
    policy: str
    jobs: tuple[Job, ...]
    actions: tuple[Action, ...]
    faults: tuple[Fault, ...]
    #: Time from a change until the scheduler's cycle, s.
    latency: float = 0.5
    #: Whether PBS keeps a history of ended jobs.
    history: bool = True
    #: After each of this many ends of a driver, `give-back` is run; 0 for never.
    give_back_every: int = 0
    #: Size at which the journal is rotated, bytes.
    journal_limit: int = 8 << 20
    ends_held: bool = False

    def without(self, part):
        """Return the plan without a fault, an action or a job."""
        return replace(
            self,
            faults=tuple(each for each in self.faults if each is not part),
            actions=tuple(each for each in self.actions if each is not part),
            jobs=tuple(each for each in self.jobs if each is not part),
        )


def draw(seed):
    """Return the plan of a seed."""
    rng = np.random.default_rng(seed)

    def below(limit):
        return int(rng.integers(limit))

    def time(begin=0.0):
        return round(begin + float(rng.random()) * (QUIET_S - begin), 1)

    jobs = tuple(
        Job(
            number,
            round(time() * (below(3) > 0) * 0.7, 1),
            1 + below(sum(VNODES)),
            round(2.0 + float(rng.random()) * (20.0, 60.0)[below(2)], 1),
            below(6) > 0,
            below(8) > 0,
        )
        for number in range(1, 3 + below(6))
    )
    actions = []
    for _ in range(below(8)):
        job = jobs[below(len(jobs))]
        kind = ACTIONS[below(len(ACTIONS))]
        actions.append(Action(kind, time(job.submit), job.number, float(1 + below(30))))
    faults = []
    for _ in range(below(14)):
        group = (COMMANDS, COMMANDS, KILLS, OTHERS)[below(4)]
        kind = group[below(len(group))]
        at = {COMMANDS: below(200), KILLS: below(60), OTHERS: time()}[group]
        faults.append(Fault(kind, below(60) if kind == "disk full" else at, round(float(rng.random()), 2)))
    return Plan(
        seed,
        ("fcfs", "easy")[below(2)],
        jobs,
        tuple(actions),
        tuple(faults),
        (0.0, 0.5, 3.0)[below(3)],
        below(3) > 0,
        (0, 0, 3)[below(3)],
        (8 << 20, 700)[below(2)],
        below(4) == 0,
    )


class Killed(BaseException):
    """The driver's process was killed."""


class Checked(FakePbs):
    """A PBS that checks each command that changes a job."""

    def __init__(self, clock, latency, history, problems):
        super().__init__(clock, VNODES, latency, history)
        self.problems = problems
        #: What the journal has about each job since its last change, and the jobs that drivers ever released.
        self.intent, self.confirmed, self.once = {}, set(), set()
        #: The party that set the hold `o` of each job; "unclear" if no journal shows it.
        self.owner = {}
        #: When the present list was made, and when each job last left the queue, s: a release names no queue.
        self._listed, self._left = 0.0, {}

    def __call__(self, command, timeout):
        if tuple(command[:2]) == ("qstat", "-f"):
            self._listed = self.clock.now
        return super().__call__(command, timeout)

    def move(self, job, queue):
        if queue != QUEUE:
            self._left[job] = self.clock.now
        super().move(job, queue)

    def journal(self, entry):
        """Note an entry that is on disk."""
        match entry:
            case Lifting() | HoldingAgain():
                self.intent[entry.job] = type(entry)
            case Lifted():
                self.confirmed.add(entry.job)
            case HeldAgain():
                self.confirmed.discard(entry.job)

    def hold(self, job, kind, by):
        if by == "operator" and kind == "o" and job in self.jobs and "o" not in self.jobs[job].holds:
            # Only a confirmed release shows that the hold came after it.
            self.owner[job] = "operator" if job in self.confirmed else "unclear"
        super().hold(job, kind, by)

    def _holds(self, verb, kind, jobs):
        if kind != "o":
            self.problems.append(f"only its own hold: {verb} -h {kind}")
        for job in jobs:
            if job in self.jobs:
                self._check(verb, self.jobs[job])
        return super()._holds(verb, kind, jobs)

    def _check(self, verb, job):
        held, name = "o" in job.holds, job.job
        if verb == "qrls":
            wrong = {
                "left alone": (job.queue != QUEUE and self._left.get(name, 0.0) < self._listed)
                or (held and self.owner.get(name) == "operator"),
                "journaled first": self.by == "driver" and self.intent.get(name) is not Lifting,
            }
            if held:
                self.once.add(name)
                self.confirmed.discard(name)
                self.owner.pop(name, None)
        else:
            wrong = {
                "held again only after a release": name not in self.once,
                "journaled first": self.intent.get(name) is not HoldingAgain,
            }
            self.owner[name] = "driver"
        self.problems += [
            f"{rule}: {verb} {name} at {self.clock.now}" for rule, broken in wrong.items() if broken
        ]


class World:
    """A run of a plan: its PBS, and the drivers."""

    def __init__(self, plan, folder):
        self.plan, self.folder, self.file, self.clock = plan, folder, folder / "journal", VirtualClock()
        self._disk = JournalDisk(self.file)
        self.problems, self.injected = [], Counter()
        self.pbs = Checked(self.clock, plan.latency, plan.history, self.problems)
        self.drivers, self.polls, self.stops, self.written = 0, 0, Counter(), []
        self._commands, self._writes, self._last = 0, 0, {}
        self._dead = self._interrupted = self._quiet = self._over = self._shielded = False
        self._locked = self._ends = False
        self._still, self._waits, self._away_until = 0, 0, 0.0
        self._by_command = {each.at: each for each in plan.faults if each.kind in COMMANDS}
        by_write = (*KILLS, "disk full")
        self._by_write = {each.at: each for each in plan.faults if each.kind in by_write}
        at = self.clock.at
        for each in plan.jobs:
            at(BEGIN + each.submit, lambda each=each: self._arrive(each))
        for each in plan.actions:
            at(BEGIN + each.at, lambda each=each: self._act(each))
        for each in plan.faults:
            if each.kind in OTHERS and each.kind != "disk full":
                at(BEGIN + each.at, lambda each=each: self._strike(each))
        at(BEGIN + QUIET_S, self._end_faults)

    # -- what happens at a time

    def _arrive(self, job):
        self.pbs.submit(
            job.seconds,
            job.procs,
            300.0,
            QUEUE if job.queue else OTHER_QUEUE,
            "o" if job.held else "",
            job.number,
        )

    def _act(self, action):
        pbs, job = self.pbs, f"{action.job}.{SERVER}"
        match action.kind:
            case "user holds":
                pbs.hold(job, "u", "user")
                pbs.clock.at(self.clock.now + action.size, lambda: pbs.lift(job, "u", "user"))
            case "user releases":
                pbs.lift(job, "u", "user")
            case "operator holds":
                pbs.hold(job, "o", "operator")
            case "operator releases":
                pbs.lift(job, "o", "operator")
            case "deleted":
                pbs.delete(job)
            case "requeued":
                pbs.rerun(job)
            case "moved":
                pbs.move(job, OTHER_QUEUE)
            case "moved back":
                pbs.move(job, QUEUE)
            case "request changed":
                pbs.alter(job, ncpus=int(1 + action.size % 6))
            case "depends":
                pbs.hold(job, "s", "PBS")
                pbs.clock.at(self.clock.now + action.size, lambda: pbs.lift(job, "s", "PBS"))
            case "waits for a time":
                pbs.alter(job, waits_until=self.clock.now + action.size)
            case "cannot start":
                pbs.alter(job, blocked="Not Running: Queue windlass job limit reached for user ann")
                pbs.clock.at(self.clock.now + action.size, lambda: pbs.alter(job, blocked=""))

    def _strike(self, fault):
        self.injected[fault.kind] += 1
        ends = self.clock.now + 40.0 * fault.size
        match fault.kind:
            case "interrupted":
                self._interrupted = True
            case "away":
                self._away_until = ends
            case "drained":
                self.pbs.drain("n2", True)
                self.clock.at(ends, lambda: self.pbs.drain("n2", False))

    def _end_faults(self):
        self._quiet, self._away_until = True, 0.0
        self._by_command.clear()
        self._by_write.clear()
        if self.plan.ends_held:
            self._interrupted = True

    # -- the commands of the driver

    def __call__(self, command, timeout):
        self._alive()
        command, writes = tuple(command), command[0] in ("qhold", "qrls")
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
        self._commands += 1
        self.clock.wait(0.05)
        if self.clock.now < self._away_until:
            return 15010 & 255, "", f"{command[0]}: cannot connect to server {SERVER} (errno=15010)\n"
        fault = self._by_command.pop(self._commands, None)
        kind = "" if fault is None else fault.kind
        if fault is not None:
            self.injected[kind] += 1
        match kind:
            case "lost":
                self.clock.wait(timeout)
                raise subprocess.TimeoutExpired(command[0], timeout)
            case "unanswered":
                self.pbs(command, timeout)
                self.clock.wait(timeout)
                raise subprocess.TimeoutExpired(command[0], timeout)
            case "delayed":
                answer = self.pbs(command, timeout)
                self.clock.wait(min(20.0 * fault.size, timeout - 1.0))
                return answer
            case "stale" if command in self._last:
                return self._last[command]
            case "cut":
                status, out, errors = self.pbs(command, timeout)
                return status, out[: int(fault.size * len(out))], errors
            case "refused" if writes:
                return self._refused(command, timeout, fault.size)
            case "twice":
                self.pbs(command, timeout)
        answer = self.pbs(command, timeout)
        if not writes:
            self._last[command] = answer
        return answer

    def _refused(self, command, timeout, share):
        """Carry a command out for some of its jobs."""
        jobs = command[3:]
        done = jobs[: int(share * len(jobs))]
        if done:
            self.pbs((*command[:3], *done), timeout)
        lines = [f"{command[0]}: Unauthorized Request  {job}\n" for job in jobs[len(done) :]]
        return 15007 & 255, "", "".join(lines)

    # -- the clock, the journal and the life of the driver

    def sleep(self, seconds):
        self._alive()
        self.clock.wait(seconds)
        self._alive()
        self.polls += 1
        if not self._quiet:
            return
        self._waits += 1
        self._still = 0 if self._is_busy() else self._still + 1
        if self._waits > MOST_WAITS:
            self.problems.append(f"not settled after {MOST_WAITS} waits without faults")
        if self._still >= STILL or self.problems:
            self._over = True
            self._die()

    def _is_busy(self):
        """Return whether a job runs, is about to, or waits for Windlass alone."""
        return any(
            job.state in "RW" or (job.state == "Q" and job.ncpus <= sum(VNODES)) or self._waits_for_us(job)
            for job in self.pbs.jobs.values()
        )

    def _waits_for_us(self, job):
        ours = job.queue == QUEUE and self.pbs.owner.get(job.job) not in ("operator", "unclear")
        return ours and job.holds == {"o"} and job.ncpus <= sum(VNODES)

    def write(self, journal, lines):
        """Write lines of the journal; see :class:`HoldJournal`."""
        self._alive()
        fault = self._by_write.get(self._writes)
        if fault is not None and fault.kind == "disk full":
            del self._by_write[self._writes]
            self._writes += 1
            self.injected["disk full"] += 1
            # The driver gives the queue back without a journal.
            self.pbs.by = "give-back"
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
        for line in lines:
            entry = FORMAT.read(line.line)
            self.pbs.journal(entry)
            if type(entry).__name__ == "QueueReturned":
                # What is given back is journaled as a whole.
                self.pbs.intent |= dict.fromkeys(entry.jobs, Lifting)
        self._still = 0 if lines else self._still
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

    def _site(self, patience):
        clock = self.clock
        client = PbsClient(self, patience, 10.0, sleep=self.sleep, clock=clock.time, wall=clock.time)
        return PbsSite(client, QUEUE)

    def _drive(self):
        """Run a driver to its end; return how it ended."""
        self.drivers += 1
        self._dead = self._over = self._locked = False
        self.pbs.by = "driver"
        driving = HoldDriving(
            {"order": POLICIES[self.plan.policy]()}, self.file, HoldOptions(2.0), forgets=True
        )
        try:
            drive_holds(self._site(60.0), driving, lambda line: None, clock=self.clock.time, sleep=self.sleep)
        except Killed:
            return "settled" if self._over else "killed"
        except KeyboardInterrupt:
            return "interrupted"
        except SystemAwayError:
            return "stopped"
        except Exception as error:
            if "cannot be written" not in str(error) or not isinstance(error, InputError):
                self.problems.append(f"the driver stopped: {type(error).__name__}: {error}")
            return "stopped"
        finally:
            self._disk.restart()
        return "ended"

    def _give_back(self):
        self._dead, self.pbs.by = False, "give-back"
        with contextlib.suppress(Killed, KeyboardInterrupt, SystemAwayError):
            give_back_holds(self._site(20.0), self.file, lambda line: None)

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

    def _again(self):
        """Run one more driver on the settled queue: it must find nothing to do."""
        before, self._still, self._waits = len(self.written), 0, 0
        how = self._drive()
        if how != "settled" or len(self.written) != before:
            self.problems.append(f"a fresh driver ({how}) writes: {self.written[before:]}")

    def run(self):
        """Run the plan; return the problems."""
        with (
            mock.patch.object(HoldJournal, "_write", lambda journal, lines: self.write(journal, lines)),
            mock.patch.object(HoldJournal, "_shorten", lambda journal, now: self.shorten(journal, now)),
            mock.patch.object(HoldJournal.__init__, "__defaults__", (self.plan.journal_limit,)),
            mock.patch.object(driver_lock, "_folder", self._lock),
            mock.patch.object(driver, "undisturbed", self._shield),
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
        runs = Counter(self.pbs.ran)
        requeues = Counter(f"{each.job}.{SERVER}" for each in self.plan.actions if each.kind == "requeued")
        for job, times in runs.items():
            if times > 1 + requeues[job]:
                self.problems.append(f"runs once: {job} ran {times} times")
        for job in self.pbs.jobs.values():
            ours = "o" in job.holds and job.queue == QUEUE
            theirs = self.pbs.owner.get(job.job) in ("operator", "unclear")
            if self.plan.ends_held and ours and not theirs:
                self.problems.append(f"given back: {job.job} stays held")
            if not self.plan.ends_held and self._waits_for_us(job):
                self.problems.append(f"settled: {job.job} still waits")


def run(plan, folder):
    """Run a plan in an empty folder; return the world afterwards."""
    JournalDisk(folder / "journal").clear()
    world = World(plan, folder)
    world.run()
    return world
