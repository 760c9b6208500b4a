"""The adversary of the driver of PBS: its commands fail, users and operators interfere, and the driver is killed."""

from tests.adversary.disk import JournalDisk
from tests.adversary.held import FAULTS, NODES, HeldWorld, Job, Journaled, Plan, draw_held
from tests.engines.pbs.fake_pbs import OTHER_QUEUE, QUEUE, SERVER, FakePbs
from windlass.engines.batch.holds.entries import HoldingAgain, Lifting
from windlass.engines.pbs.client import PbsClient
from windlass.engines.pbs.site import PbsSite

__all__ = ["ACTIONS", "FAULTS", "Job", "Plan", "World", "draw", "run"]

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


def draw(seed):
    """Return the plan of a seed."""
    return draw_held(seed, ACTIONS)


class Checked(FakePbs):
    """A PBS that checks each command that changes a job."""

    def __init__(self, clock, latency, history, problems):
        super().__init__(clock, NODES, latency, history)
        self.journal = Journaled(problems)
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

    def hold(self, job, kind, by):
        if by == "operator" and kind == "o" and job in self.jobs and "o" not in self.jobs[job].holds:
            # Only a confirmed release shows that the hold came after it.
            self.owner[job] = "operator" if job in self.journal.confirmed else "unclear"
        super().hold(job, kind, by)

    def _holds(self, verb, kind, jobs):
        if kind != "o":
            self.journal.problems.append(f"only its own hold: {verb} -h {kind}")
        for job in jobs:
            if job in self.jobs:
                self._check(verb, self.jobs[job])
        return super()._holds(verb, kind, jobs)

    def _check(self, verb, job):
        held, name, journal = "o" in job.holds, job.job, self.journal
        if verb == "qrls":
            wrong = {
                "left alone": (job.queue != QUEUE and self._left.get(name, 0.0) < self._listed)
                or (held and self.owner.get(name) == "operator"),
                "journaled first": self.by == "driver" and journal.intent.get(name) is not Lifting,
            }
            if held:
                journal.once.add(name)
                journal.confirmed.discard(name)
                self.owner.pop(name, None)
        else:
            wrong = {
                "held again only after a release": name not in journal.once,
                "journaled first": journal.intent.get(name) is not HoldingAgain,
            }
            self.owner[name] = "driver"
        journal.report(wrong, f"{verb} {name} at {self.clock.now}")


class World(HeldWorld):
    """A run of a plan: its PBS, and the drivers."""

    AWAY = (15010 & 255, "", f"cannot connect to server {SERVER} (errno=15010)\n")

    @property
    def pbs(self):
        return self.fake

    def make(self):
        return Checked(self.clock, self.plan.latency, self.plan.history, self.problems)

    def identifier(self, number):
        return f"{number}.{SERVER}"

    def arrive(self, job):
        queue, holds = QUEUE if job.queue else OTHER_QUEUE, "o" if job.held else ""
        self.pbs.submit(job.seconds, job.procs, 300.0, queue, holds, job.number)

    def act(self, job, action):
        pbs, ends = self.pbs, self.clock.now + action.size
        match action.kind:
            case "user holds":
                pbs.hold(job, "u", "user")
                pbs.clock.at(ends, lambda: pbs.lift(job, "u", "user"))
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
                pbs.clock.at(ends, lambda: pbs.lift(job, "s", "PBS"))
            case "waits for a time":
                pbs.alter(job, waits_until=ends)
            case "cannot start":
                pbs.alter(job, blocked="Not Running: Queue windlass job limit reached for user ann")
                pbs.clock.at(ends, lambda: pbs.alter(job, blocked=""))

    def drain(self, away):
        self.pbs.drain("n2", away)

    def writes(self, command):
        return command[0] in ("qhold", "qrls")

    def refused(self, command, timeout, share):
        jobs = command[3:]
        done = jobs[: int(share * len(jobs))]
        if done:
            self.pbs((*command[:3], *done), timeout)
        lines = [f"{command[0]}: Unauthorized Request  {job}\n" for job in jobs[len(done) :]]
        return 15007 & 255, "", "".join(lines)

    def site(self, patience):
        clock = self.clock
        client = PbsClient(self, patience, 10.0, sleep=self.sleep, clock=clock.time, wall=clock.time)
        return PbsSite(client, QUEUE)

    def is_active(self, job):
        return job.state in "RW" or (job.state == "Q" and job.ncpus <= sum(NODES))

    def waits_for_us(self, job):
        return self.left_held(job) and job.holds == {"o"} and job.ncpus <= sum(NODES)

    def left_held(self, job):
        theirs = self.pbs.owner.get(job.job) in ("operator", "unclear")
        return "o" in job.holds and job.queue == QUEUE and not theirs


def run(plan, folder):
    """Run a plan in an empty folder; return the world afterwards."""
    JournalDisk(folder / "journal").clear()
    world = World(plan, folder)
    world.run()
    return world
