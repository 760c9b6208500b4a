"""A PBS in virtual time that answers the commands of the driver.

It was written from OpenPBS's documentation and source: which requests change a job's holds and state, the JSON of
``qstat`` and ``pbsnodes``, and the messages on errors.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

SERVER, QUEUE, OTHER_QUEUE = "pbs", "windlass", "workq"
#: Exit status of a command whose job does not exist, or whose request is refused, modulo 256.
UNKNOWN, PERM, NO_SERVER = 15001 & 255, 15007 & 255, 15010 & 255


@dataclass(frozen=True, slots=True)
class HoldChange:
    """A hold was set or lifted, with an effect, at a time (s)."""

    at: float
    job: str
    by: str
    kind: str
    held: bool


@dataclass(slots=True)
class FakeJob:
    """A job of the fake; `left` is its remaining run time once it starts, s."""

    job: str
    queue: str
    run: float
    ncpus: int
    created: float
    walltime: float | None = None
    user: str = "ann"
    name: str = "STDIN"
    state: str = "Q"
    holds: set = field(default_factory=set)
    run_count: int = 0
    start: float | None = None
    waits_until: float = 0.0
    comment: str | None = None
    where: dict = field(default_factory=dict)
    blocked: str = ""
    array: bool = False
    substate: int = 10


class FakePbs:
    """A server, its scheduler and its vnodes.

    Parameters
    ----------
    clock
        A :class:`~tests.adversary.clock.VirtualClock`.
    vnodes
        CPUs of each vnode.
    latency
        Time from a change until the scheduler's cycle, s.
    history
        Whether ended jobs are kept.
    """

    def __init__(self, clock, vnodes, latency=0.0, history=True):
        self.clock, self.latency, self.history = clock, latency, history
        self.vnodes = {f"n{number}": cpus for number, cpus in enumerate(vnodes, 1)}
        self.vnode_queues, self.offline = {}, set()
        self.jobs, self.ended, self.log, self.ran = {}, {}, [], []
        self.by, self._last = "driver", 0

    # -- what users and operators do

    def submit(self, run, ncpus=1, walltime=None, queue=QUEUE, holds="o", number=None, **more):
        """Submit a job; return its identifier."""
        self._last = self._last + 1 if number is None else number
        job = f"{self._last}{'[]' if more.get('array') else ''}.{SERVER}"
        found = FakeJob(job, queue, run, ncpus, self.clock.now, walltime, **more)
        self.jobs[job] = found
        for kind in holds:
            self._set(found, kind, True, "submission")
        self._evaluate(found)
        return job

    def hold(self, job, kind, by):
        if job in self.jobs:
            self._set(self.jobs[job], kind, True, by)

    def lift(self, job, kind, by):
        if job in self.jobs:
            self._set(self.jobs[job], kind, False, by)

    def delete(self, job):
        if job in self.jobs:
            self._finish(self.jobs[job], substate=91)

    def rerun(self, job):
        """Requeue a running job."""
        found = self.jobs.get(job)
        if found is not None and found.state in "RS":
            found.where, found.state = {}, "Q"
            self._evaluate(found)

    def move(self, job, queue):
        if job in self.jobs and self.jobs[job].state != "R":
            self.jobs[job].queue = queue
            self._cycle()

    def alter(self, job, **changes):
        found = self.jobs.get(job)
        if found is not None and found.state != "R":
            for name, value in changes.items():
                setattr(found, name, value)
            self._evaluate(found)

    def drain(self, vnode, away):
        (self.offline.add if away else self.offline.discard)(vnode)
        self._cycle()

    # -- the server

    def _set(self, job, kind, held, by):
        if (kind in job.holds) != held:
            (job.holds.add if held else job.holds.discard)(kind)
            self.log.append(HoldChange(self.clock.now, job.job, by, kind, held))
            self._evaluate(job)
        if held:
            job.comment = f"Job held by {by} on {stamp(self.clock.now)}"
        elif not job.holds:
            job.comment = None

    def _evaluate(self, job):
        if job.state in "RSE":
            return
        job.state = "H" if job.holds else "W" if job.waits_until > self.clock.now else "Q"
        if job.waits_until > self.clock.now:
            self.clock.at(job.waits_until, lambda: self._evaluate(job))
        self._cycle()

    def _cycle(self):
        self.clock.at(self.clock.now + self.latency, self._schedule)
        if self.latency == 0.0:
            self._schedule()

    def _schedule(self):
        for job in list(self.jobs.values()):
            if job.state != "Q" or job.array:
                continue
            if job.blocked:
                job.comment = job.blocked
                continue
            where = self._fits(job)
            if where:
                self._start(job, where)
            else:
                never = job.ncpus > sum(self.vnodes[name] for name in self._usable(job))
                what = "Can Never Run" if never else "Not Running"
                job.comment = f"{what}: Insufficient amount of resource: ncpus"

    def _usable(self, job):
        own = [name for name in self.vnodes if self.vnode_queues.get(name) == job.queue]
        return own or [name for name in self.vnodes if name not in self.vnode_queues]

    def _fits(self, job):
        free = {name: self.vnodes[name] for name in self._usable(job) if name not in self.offline}
        for other in self.jobs.values():
            for name, ncpus in other.where.items():
                if name in free:
                    free[name] -= ncpus
        where, left = {}, job.ncpus
        for name, ncpus in free.items():
            if (taken := min(left, max(ncpus, 0))) > 0:
                where[name] = taken
                left -= taken
        return where if left == 0 else {}

    def _start(self, job, where):
        job.state, job.where, job.start, job.comment = "R", where, self.clock.now, "Job run"
        job.run_count += 1
        self.ran.append(job.job)
        run, seconds = job.run_count, job.run
        if job.walltime is not None:
            seconds = min(seconds, job.walltime)
        self.clock.at(self.clock.now + seconds, lambda: self._end(job, run))

    def _end(self, job, run):
        if self.jobs.get(job.job) is job and job.state == "R" and job.run_count == run:
            self._finish(job)

    def _finish(self, job, substate=92):
        del self.jobs[job.job]
        job.state, job.where, job.substate = "F", {}, substate
        self.ended[job.job] = job
        self._cycle()

    # -- the commands

    def __call__(self, command, timeout):
        """Answer a command: its exit status, standard output and standard error."""
        match tuple(command):
            case ("qstat", "-f", "-t", "-F", "json"):
                rows = {job.job: attributes(job) for job in self.jobs.values()}
                return 0, self.document("Jobs", rows), ""
            case ("qstat", "-x", "-f", "-F", "json", job):
                return self._history(job)
            case ("qstat", "-Q", queue):
                if queue in (QUEUE, OTHER_QUEUE):
                    return 0, f"{queue}\n", ""
                return 15018 & 255, "", f"qstat: Unknown queue {queue}\n"
            case ("pbsnodes", "-a", "-F", "json"):
                return 0, self.document("nodes", {name: self._vnode(name) for name in self.vnodes}), ""
            case ("qhold" | "qrls" as verb, "-h", kind, *jobs):
                return self._holds(verb, kind, jobs)
        return 2, "", f"usage: {command[0]}\n"

    def _history(self, job):
        if not self.history:
            return 15140 & 255, "", f"qstat: PBS is not configured to maintain job history {job}\n"
        found = self.jobs.get(job) or self.ended.get(job)
        if found is None:
            return UNKNOWN, "", f"qstat: Unknown Job Id {job}\n"
        return 0, self.document("Jobs", {job: attributes(found)}), ""

    def _holds(self, verb, kind, jobs):
        failed = []
        for job in jobs:
            if job in self.jobs:
                self._set(self.jobs[job], kind, verb == "qhold", self.by)
            elif job in self.ended and self.history:
                failed.append(f"{verb}: Job has finished {job}")
            else:
                failed.append(f"{verb}: Unknown Job Id {job}")
        return (UNKNOWN if failed else 0), "", "".join(f"{line}\n" for line in failed)

    def _vnode(self, name):
        jobs = [job.job for job in self.jobs.values() if name in job.where]
        used = sum(job.where.get(name, 0) for job in self.jobs.values())
        state = "offline" if name in self.offline else "job-busy" if used >= self.vnodes[name] else "free"
        more = {"queue": self.vnode_queues[name]} if name in self.vnode_queues else {}
        return {
            "Mom": f"{name}.example.org",
            "state": state,
            "pcpus": self.vnodes[name],
            **({"jobs": jobs} if jobs else {}),
            "resources_available": {"arch": "linux", "host": name, "ncpus": self.vnodes[name]},
            "resources_assigned": {"ncpus": used} if used else {},
            **more,
        }

    def document(self, key, rows):
        """Return the JSON of rows; without jobs there is no key ``Jobs``."""
        tree = {"timestamp": int(self.clock.now), "pbs_version": "23.06.06", "pbs_server": SERVER}
        if rows or key != "Jobs":
            tree[key] = rows
        return json.dumps(tree, indent="\t") + "\n"


def attributes(job):
    """Return a job's attributes as ``qstat -f -F json`` prints them."""
    resources = {"ncpus": job.ncpus, "nodect": max(1, len(job.where)), "place": "free"}
    resources |= {"select": parsed(f"{job.ncpus}:ncpus=1")}
    if job.walltime is not None:
        resources["walltime"] = clock_time(job.walltime)
    found = {
        "Job_Name": job.name,
        "Job_Owner": f"{job.user}@login.example.org",
        "job_state": job.state,
        "substate": job.substate,
        "queue": job.queue,
        "server": SERVER,
        "ctime": stamp(job.created),
        "Hold_Types": "".join(sorted(job.holds)) or "n",
        "mtime": stamp(job.created),
        "qtime": stamp(job.created),
        "Resource_List": resources,
        "Variable_List": {"PBS_O_HOME": f"/home/{job.user}", "N": 12},
        "project": "_pbs_project_default",
    }
    if job.run_count:
        found |= {"stime": stamp(job.start), "run_count": job.run_count}
    if job.where:
        found["exec_vnode"] = "+".join(f"({name}:ncpus={ncpus})" for name, ncpus in job.where.items())
    if job.comment is not None:
        found["comment"] = parsed(job.comment)
    if job.waits_until:
        found["Execution_Time"] = stamp(job.waits_until)
    return found


def parsed(value):
    """Return a value as PBS prints it: a text that is valid JSON is printed as such."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def stamp(time):
    """Return a time as ``ctime`` prints it, in UTC."""
    return datetime.fromtimestamp(int(time), UTC).ctime()


def clock_time(seconds):
    """Return a duration as PBS prints it."""
    return f"{int(seconds) // 3600:02}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"
