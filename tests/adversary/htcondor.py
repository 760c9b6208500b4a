"""The adversary of the driver of HTCondor: its commands fail, users interfere, and the driver is killed."""

from tests.adversary.disk import JournalDisk
from tests.adversary.held import FAULTS, NODES, HeldWorld, Job, Journaled, Plan, draw_held
from tests.engines.htcondor.fake_condor import (
    BY_COMMAND,
    HELD,
    IDLE,
    OTHER_QUEUE,
    POLICY,
    QUEUE,
    RUNNING,
    SUSPENDED,
    WINDLASS,
    FakeCondor,
)
from windlass.engines.batch.holds.entries import HoldingAgain, Lifting
from windlass.engines.htcondor.client import CondorClient
from windlass.engines.htcondor.site import CondorSite

__all__ = ["ACTIONS", "FAULTS", "Job", "Plan", "World", "draw", "run"]

#: What users and HTCondor do to a job.
ACTIONS = (
    "user holds",
    "user holds for long",
    "user releases",
    "user holds for Windlass",
    "policy holds",
    "user holds before a command",
    "policy holds before a command",
    "removed",
    "requeued",
    "moved",
    "moved back",
    "request changed",
    "suspended",
    "no match",
)
#: The parties whose changes are the driver's.
_OURS = ("driver", "give-back")


def draw(seed):
    """Return the plan of a seed."""
    return draw_held(seed, ACTIONS)


class Checked(FakeCondor):
    """An HTCondor that checks each job that a command of the driver changes."""

    def __init__(self, clock, latency, history, problems):
        super().__init__(clock, NODES, latency, history)
        self.journal = Journaled(problems)
        #: Jobs that a user held with the subcode of Windlass, and the number of starts of each before its last hold.
        self.given = set()

    def _release(self, job, by):
        if by in _OURS:
            name, journal = job.job, self.journal
            wrong = {
                "left alone": job.queue != QUEUE or self.kind(job) != "windlass",
                "given by its user": name in self.given and name in journal.confirmed,
                "journaled first": by == "driver" and journal.intent.get(name) is not Lifting,
            }
            journal.report(wrong, f"release {name} at {self.clock.now}")
            journal.once.add(name)
            journal.confirmed.discard(name)
        self.given.discard(job.job)
        super()._release(job, by)

    def _hold(self, job, code, subcode, reason, by):
        if by in _OURS:
            name, journal = job.job, self.journal
            wrong = {
                "left alone": job.queue != QUEUE or job.status == HELD,
                "kills nothing": job.status in (RUNNING, SUSPENDED),
                "held again only after a release": name not in journal.once,
                "journaled first": journal.intent.get(name) is not HoldingAgain,
            }
            journal.report(wrong, f"hold {name} at {self.clock.now}")
        elif (code, subcode) == (BY_COMMAND, WINDLASS):
            self.given.add(job.job)
        super()._hold(job, code, subcode, reason, by)


class World(HeldWorld):
    """A run of a plan: its HTCondor, and the drivers."""

    AWAY = (1, "", "-- Failed to fetch ads from: <10.0.0.1:9618> : submit.example.org\n")

    @property
    def condor(self):
        return self.fake

    def __init__(self, plan, folder):
        #: Holds of a user or a policy that are set right before the next command that changes jobs.
        self._ambushes = []
        super().__init__(plan, folder)

    def __call__(self, command, timeout):
        if self.writes(command):
            for act in self._ambushes:
                act()
            self._ambushes.clear()
        return super().__call__(command, timeout)

    def make(self):
        return Checked(self.clock, self.plan.latency, self.plan.history, self.problems)

    def identifier(self, number):
        return f"{number}.0"

    def arrive(self, job):
        queue = QUEUE if job.queue else OTHER_QUEUE
        self.condor.submit(job.seconds, job.procs, 300.0, queue, job.held, job.number)

    def act(self, job, action):
        condor, ends = self.condor, self.clock.now + action.size
        match action.kind:
            case "user holds":
                condor.hold(job)
                self.clock.at(ends, lambda: self._lift_theirs(job))
            case "user holds for long":
                condor.hold(job)
            case "user releases":
                condor.lift(job)
            case "user holds for Windlass":
                condor.hold(job, subcode=WINDLASS)
            case "policy holds":
                condor.hold(job, "HTCondor", POLICY, 7)
                self.clock.at(ends, lambda: self._lift_theirs(job))
            case "user holds before a command":
                self._ambushes.append(lambda: condor.hold(job))
            case "policy holds before a command":
                self._ambushes.append(lambda: condor.hold(job, "HTCondor", POLICY, 7))
            case "removed":
                condor.remove(job)
            case "requeued":
                condor.evict(job)
            case "moved":
                condor.alter(job, queue=OTHER_QUEUE)
            case "moved back":
                condor.alter(job, queue=QUEUE)
            case "request changed":
                condor.alter(job, cpus=int(1 + action.size % 6))
            case "suspended":
                condor.suspend(job)
                self.clock.at(ends, lambda: condor.resume(job))
            case "no match":
                condor.alter(job, blocked=True)
                self.clock.at(ends, lambda: condor.alter(job, blocked=False))

    def _lift_theirs(self, job):
        """Lift a hold that is not Windlass's."""
        found = self.condor.jobs.get(job)
        if found is not None and found.status == HELD and self.condor.kind(found) != "windlass":
            self.condor.lift(job)

    def drain(self, away):
        self.condor.drain("slot1@n2", away)

    def writes(self, command):
        return command[0] in ("condor_hold", "condor_release")

    def refused(self, command, timeout, share):
        """Refuse the command for all jobs: a user's permission is that of a queue."""
        self.condor.allowed = False
        answer = self.condor(command, timeout)
        self.condor.allowed = True
        return answer

    def cut(self, answer, share):
        """Return an answer that was cut short, often before its first byte, as the list of an empty queue."""
        status, out, errors = answer
        return status, out[: int(share * len(out))] if share > 0.4 else "", errors

    def site(self, patience):
        clock = self.clock
        client = CondorClient(self, patience, 10.0, sleep=self.sleep, clock=clock.time, wall=clock.time)
        return CondorSite(client, QUEUE)

    def is_active(self, job):
        idle = job.status == IDLE and not job.blocked and job.cpus <= sum(NODES)
        return job.status in (RUNNING, SUSPENDED) or idle

    def waits_for_us(self, job):
        # What a user gave to Windlass after a release, a driver may leave alone.
        return self.left_held(job) and job.job not in self.condor.given and job.cpus <= sum(NODES)

    def left_held(self, job):
        ours = job.status == HELD and self.condor.kind(job) == "windlass" and job.queue == QUEUE
        return ours and job.job not in self.condor.given

    def requeues(self):
        """A hold of a running job requeues it, too."""
        found = super().requeues()
        for each in self.plan.actions:
            found[self.identifier(each.job)] += "holds" in each.kind
        return found


def run(plan, folder):
    """Run a plan in an empty folder; return the world afterwards."""
    JournalDisk(folder / "journal").clear()
    world = World(plan, folder)
    world.run()
    return world
