"""An HTCondor in virtual time that answers the commands of the driver.

It was written from HTCondor's documentation and the behaviour of its queue daemon: which commands change the state of a
job, what they print, and their exit status.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from tests.engines.pbs.fake_pbs import HoldChange

SCHEDD, QUEUE, OTHER_QUEUE = "submit.example.org", "main", "other"
IDLE, RUNNING, REMOVED, COMPLETED, HELD, SUSPENDED = 1, 2, 3, 4, 5, 7
#: Codes of holds: set by a command, by a policy of the job, on submission.
BY_COMMAND, POLICY, SUBMITTED = 1, 3, 15
#: The subcode of the driver's holds, as documented.
WINDLASS = 9453
_TOKEN = re.compile(r'\s*(&&|\|\||==|[()]|-?\d+|"[^"]*"|\w+)')


@dataclass(slots=True)
class FakeCondorJob:
    """A job of the fake; `run` is its run time once it starts, s."""

    job: str
    queue: str | None
    run: float
    cpus: object
    created: float
    limit: float | None = None
    user: str = "ann"
    name: str = "sleep"
    universe: int = 5
    status: int = IDLE
    since: float = 0.0
    code: int | None = None
    subcode: int | None = None
    reason: str = ""
    starts: int = 0
    start: float | None = None
    where: str = ""
    blocked: bool = False
    stays: bool = False

    def ad(self, now):
        """Return its attributes."""
        cluster, _, process = self.job.partition(".")
        found = {
            "ClusterId": int(cluster),
            "ProcId": int(process),
            "GlobalJobId": f"{SCHEDD}#{self.job}#{int(self.created)}",
            "JobStatus": self.status,
            "JobUniverse": self.universe,
            "QDate": int(self.created),
            "EnteredCurrentStatus": int(self.since),
            "NumJobStarts": self.starts,
            "RequestCpus": self.cpus,
            "Owner": self.user,
            "Cmd": f"/home/{self.user}/{self.name}",
            "ServerTime": int(now),
        }
        if self.queue is not None:
            found["WindlassQueue"] = self.queue
        if self.limit is not None:
            found["AllowedJobDuration"] = int(self.limit)
        if self.start is not None:
            found["JobCurrentStartDate"] = int(self.start)
        if self.status == HELD:
            found |= {
                "HoldReasonCode": self.code,
                "HoldReasonSubCode": self.subcode,
                "HoldReason": self.reason,
            }
        if self.where:
            found["CpusProvisioned"] = self.cpus
        return found


class FakeCondor:
    """A queue daemon, a negotiator, and machines with a partitionable slot each.

    Parameters
    ----------
    clock
        A :class:`~tests.adversary.clock.VirtualClock`.
    machines
        CPUs of each machine.
    latency
        Time from a change until the negotiator's cycle, s.
    history
        Whether jobs that left the queue are kept.
    """

    def __init__(self, clock, machines, latency=0.0, history=True):
        self.clock, self.latency, self.history = clock, latency, history
        self.machines = {f"slot1@n{number}": cpus for number, cpus in enumerate(machines, 1)}
        self.drained, self.foreign = set(), {}
        self.jobs, self.ended, self.log, self.ran = {}, {}, [], []
        self.by, self.allowed, self._last = "driver", True, 0

    # -- what users and HTCondor do

    def submit(self, run, cpus=1, limit=None, queue=QUEUE, hold=True, number=None, **more):
        """Submit a job, on hold or not; return its identifier."""
        self._last = self._last + 1 if number is None else number
        found = FakeCondorJob(f"{self._last}.0", queue, run, cpus, self.clock.now, limit, **more)
        found.since = self.clock.now
        self.jobs[found.job] = found
        if hold:
            self._hold(found, SUBMITTED, 0, "submitted on hold at user's request", "submission")
        self._cycle()
        return found.job

    def hold(self, job, by="user", code=BY_COMMAND, subcode=0):
        """Hold a job as `condor_hold` of its user does; with another code as a policy does."""
        found = self.jobs.get(job)
        if found is None or found.status in (REMOVED, COMPLETED):
            return
        # A hold by a command replaces others, but no hold by a command; a policy does not hold held jobs.
        if found.status == HELD and (code != BY_COMMAND or found.code == BY_COMMAND):
            return
        self._hold(found, code, subcode, f"held by {by}", by)

    def lift(self, job, by="user"):
        found = self.jobs.get(job)
        if found is not None and found.status == HELD:
            self._release(found, by)

    def remove(self, job):
        if job in self.jobs:
            self._finish(self.jobs[job], REMOVED)

    def evict(self, job):
        found = self.jobs.get(job)
        if found is not None and found.status in (RUNNING, SUSPENDED):
            self._set(found, IDLE)
            self._cycle()

    def suspend(self, job):
        found = self.jobs.get(job)
        if found is not None and found.status == RUNNING:
            found.status = SUSPENDED

    def resume(self, job, left=1.0):
        """Let a suspended job go on for `left` (s)."""
        found = self.jobs.get(job)
        if found is not None and found.status == SUSPENDED:
            found.status, starts = RUNNING, found.starts
            self.clock.at(self.clock.now + left, lambda: self._end(found, starts))

    def alter(self, job, **changes):
        found = self.jobs.get(job)
        if found is not None and found.status in (IDLE, HELD):
            for name, value in changes.items():
                setattr(found, name, value)
            self._cycle()

    def drain(self, machine, away):
        (self.drained.add if away else self.drained.discard)(machine)
        self._cycle()

    # -- the queue daemon and the negotiator

    def kind(self, job):
        """Return the kind of a job's hold."""
        if job.code == SUBMITTED or (job.code, job.subcode) == (BY_COMMAND, WINDLASS):
            return "windlass"
        return "user" if job.code == BY_COMMAND else "system"

    def _hold(self, job, code, subcode, reason, by):
        job.code, job.subcode, job.reason = code, subcode, reason
        self._set(job, HELD)
        self.log.append(HoldChange(self.clock.now, job.job, by, self.kind(job), True))
        self._cycle()

    def _release(self, job, by):
        self.log.append(HoldChange(self.clock.now, job.job, by, self.kind(job), False))
        job.code = job.subcode = None
        self._set(job, IDLE)
        self._cycle()

    def _set(self, job, status):
        job.status, job.since = status, self.clock.now
        if status != RUNNING:
            job.where = ""

    def _cycle(self):
        self.clock.at(self.clock.now + self.latency, self._negotiate)
        if self.latency == 0.0:
            self._negotiate()

    def _negotiate(self):
        for job in list(self.jobs.values()):
            if job.status != IDLE or job.blocked or not isinstance(job.cpus, int):
                continue
            # The CPUs of a job are on one machine, unless the pool has but small ones.
            if self._used() + job.cpus <= self._up():
                self._start(job)

    def _used(self):
        return sum(job.cpus for job in self.jobs.values() if job.where) + sum(self.foreign.values())

    def _up(self):
        return sum(cpus for name, cpus in self.machines.items() if name not in self.drained)

    def _start(self, job):
        self._set(job, RUNNING)
        job.where, job.start = next(iter(self.machines)), self.clock.now
        job.starts += 1
        self.ran.append(job.job)
        starts, seconds = job.starts, min(job.run, math.inf if job.limit is None else job.limit)
        self.clock.at(self.clock.now + seconds, lambda: self._end(job, starts))

    def _end(self, job, starts):
        if self.jobs.get(job.job) is job and job.status == RUNNING and job.starts == starts:
            self._finish(job, COMPLETED)

    def _finish(self, job, status):
        self._set(job, status)
        if not job.stays:
            del self.jobs[job.job]
            self.ended[job.job] = job
        self._cycle()

    # -- the commands

    def __call__(self, command, timeout):
        """Answer a command: its exit status, standard output and standard error."""
        words = list(command)
        name, options = words.pop(0), {}
        for flag in ("-name", "-pool", "-attributes", "-limit", "-reason", "-subcode", "-constraint"):
            if flag in words:
                at = words.index(flag)
                options[flag] = words[at + 1]
                del words[at : at + 2]
        match name, words:
            case "condor_q", ["-allusers", "-json"]:
                return 0, self._ads(self._matching(options.get("-constraint")), options), ""
            case "condor_status", ["-json"]:
                return 0, _printed([_only(ad, options) for ad in self._slots()]), ""
            case "condor_history", ["-json", job]:
                found = self.ended.get(job) if self.history else None
                return 0, self._ads([found] if found is not None else [], options), ""
            case "condor_release", []:
                return self._act("release", "released", options["-constraint"], self._may_release)
            case "condor_hold", []:
                self._given = int(options["-subcode"]), f"{options['-reason']} (by user windlass)"
                return self._act("hold", "held", options["-constraint"], self._may_hold)
        return 1, "", f"usage: {name}\n"

    def _act(self, verb, done, constraint, act):
        changed = [job for job in self._matching(constraint) if self.allowed and act(job)]
        if changed:
            return 0, f"All jobs matching constraint ({constraint}) have been {done}\n", ""
        if not self.jobs:
            return 0, "", f"condor_{verb}:0:There are no jobs in the queue\n"
        return 1, "", f"\nCouldn't find/{verb} all jobs matching constraint ({constraint})\n"

    def _may_release(self, job):
        if job.status == HELD:
            self._release(job, self.by)
            return True
        return False

    def _may_hold(self, job):
        if job.status == HELD and job.code == BY_COMMAND:
            return False
        self._hold(job, BY_COMMAND, *self._given, self.by)
        return True

    def _matching(self, constraint):
        jobs = list(self.jobs.values())
        if constraint is None:
            return jobs
        test = compiled(constraint)
        return [job for job in jobs if test(job.ad(self.clock.now))]

    def _ads(self, jobs, options):
        return _printed([_only(job.ad(self.clock.now), options) for job in jobs])

    def _slots(self):
        for name, cpus in self.machines.items():
            state = "Drained" if name in self.drained else "Unclaimed"
            yield {
                "Name": name,
                "SlotType": "Partitionable",
                "State": state,
                "Cpus": cpus,
                "TotalSlotCpus": cpus,
            }
        jobs = [(job.cpus, SCHEDD, job.job) for job in self.jobs.values() if job.where]
        for number, (cpus, schedd, job) in enumerate(
            [*jobs, *((cpus, schedd, "1.0") for schedd, cpus in self.foreign.items())], 1
        ):
            yield {
                "Name": f"slot1_{number}@n1",
                "SlotType": "Dynamic",
                "State": "Claimed",
                "Cpus": cpus,
                "TotalSlotCpus": cpus,
                "GlobalJobId": f"{schedd}#{job}#1",
            }


class _Undefined:
    """The value of a missing attribute: a comparison with it is not true."""

    def __eq__(self, other):
        return False

    __hash__ = None


class _Attributes(dict):
    def __missing__(self, name):
        return _Undefined()


def compiled(constraint):
    """Return a test of attributes from an expression of comparisons, `&&`, `||` and parentheses."""
    words, at = [], 0
    while at < len(constraint.rstrip()):
        found = _TOKEN.match(constraint, at)
        assert found, f"not understood: {constraint[at:]}"
        words.append({"&&": "and", "||": "or"}.get(found[1], found[1]))
        at = found.end()
    code = compile(" ".join(words), "constraint", "eval")
    return lambda ad: bool(eval(code, {"__builtins__": {}}, _Attributes(ad)))


def _only(ad, options):
    """Return the attributes of a projection, whose names are case-insensitive."""
    wanted = {name.lower() for name in options["-attributes"].split(",")}
    return {name: value for name, value in ad.items() if name.lower() in wanted}


def _printed(ads):
    return json.dumps(ads, indent=2) + "\n" if ads else ""
