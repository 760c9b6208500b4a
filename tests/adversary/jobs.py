"""The adversary of the driver of Kubernetes Jobs: its API server fails, users interfere, and the driver is killed."""

import contextlib
import copy
from collections import Counter
from dataclasses import dataclass
from unittest import mock

from tests.adversary.clock import BEGIN
from tests.adversary.disk import JournalDisk, unsynchronised
from tests.adversary.life import MOST_DRIVERS, POLICIES, QUIET_S, Draw, DrawnPlan, Killed, Life
from tests.adversary.plan import KILLS
from tests.engines.kubernetes.job_cluster import JobCluster, jobs_path, title_of
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.jobs.client import JobsClient, ServerAwayError
from windlass.engines.kubernetes.jobs.driver import JobsDriving, drive_jobs, give_back_jobs
from windlass.engines.kubernetes.jobs.journal import FORMAT, JobJournal, Resuming
from windlass.engines.kubernetes.jobs.models import RELEASED, read_job
from windlass.engines.kubernetes.jobs.system import JobsOptions
from windlass.engines.kubernetes.lease import LeadershipLostError, LeadersServer, Lease
from windlass.engines.kubernetes.server import refusal

#: Faults of a request: lost before or after it is carried out, carried out some time after its failure, or twice, an
#: earlier answer, an error of the server, or a refusal.
REQUESTS = ("lost", "unanswered", "delayed", "twice", "stale", "error", "forbidden")
#: The journal's disk is full, the driver receives SIGINT, the server is away, a node is cordoned, pods of others come,
#: and another driver takes the Lease.
OTHERS = ("disk full", "interrupted", "away", "cordoned", "occupied", "another leads")
FAULTS = (*REQUESTS, *KILLS, *OTHERS)
#: What users do to a Job.
ACTIONS = (
    "suspends",
    "resumes",
    "deletes",
    "removes the label",
    "removes the annotation",
    "suspends for Windlass",
    "changes the request",
    "edits",
)
NODES = (2, 2)
#: Waits without faults within which the queue must settle.
MOST_WAITS = 600
#: The Lease, and its duration, s.
LEASE, LEASE_S = "/apis/coordination.k8s.io/v1/namespaces/lab/leases/windlass-jobs", 15.0
_SHORTEN = JobJournal._shorten


@dataclass(frozen=True, slots=True)
class Job:
    """A Job as submitted: times in s, and whether it has the label of the queue, that of Kueue, and is suspended."""

    number: int
    submit: float
    pods: int
    seconds: float
    queue: bool = True
    kueue: bool = False
    suspend: bool = True


@dataclass(frozen=True, slots=True)
class Plan(DrawnPlan):
    """A run."""

    #: Time from the resumption of a Job until its controller starts it, s.
    latency: float = 0.5
    #: After each of this many ends of a driver, `give-back` is run; 0 for never.
    give_back_every: int = 0
    #: Size at which the journal is rotated, bytes.
    journal_limit: int = 8 << 20
    #: Whether the journal is lost when a driver ends.
    forgets: bool = False


def draw(seed):
    """Return the plan of a seed."""
    drawn = Draw(seed)
    below = drawn.below
    jobs = tuple(
        Job(
            number,
            round(drawn.time() * (below(3) > 0) * 0.7, 1),
            1 + below(sum(NODES)),
            drawn.seconds(),
            below(6) > 0,
            below(10) == 0,
            below(8) > 0,
        )
        for number in range(1, 3 + below(6))
    )
    actions = drawn.actions(ACTIONS, jobs, 7, 6)
    faults = drawn.faults(REQUESTS, OTHERS, 300)
    return Plan(
        seed,
        ("fcfs", "easy")[below(2)],
        jobs,
        actions,
        faults,
        (0.0, 0.5, 3.0)[below(3)],
        (0, 0, 3)[below(3)],
        (8 << 20, 600)[below(2)],
        below(4) == 0,
    )


class Checked(JobCluster):
    """A cluster that checks each change that a request makes to a Job."""

    def __init__(self, clock, latency, problems):
        super().__init__(clock, NODES, latency)
        self.problems, self.journaled = problems, set()

    def _patch(self, path, patch, by):
        if by == "request" and "/jobs/" in path:
            job = read_job(self.objects[path])
            label = (self.objects[path]["metadata"].get("labels") or {}).get("windlass/queue")
            wrong = {
                "left alone": label != "true" or job.kueue,
                "released once": bool(job.released),
                "suspends nothing": not job.suspended or patch["spec"] != {"suspend": False},
                "journaled first": job.uid not in self.journaled,
            }
            self.problems += [
                f"{rule}: {job.title} at {self.time}" for rule, broken in wrong.items() if broken
            ]
        super()._patch(path, patch, by)


class World(Life):
    """A run of a plan: its API server, and the drivers."""

    def __init__(self, plan, folder):
        super().__init__(plan, folder, REQUESTS, MOST_WAITS)
        self.cluster = Checked(self.clock.time, plan.latency, self.problems)
        self._removed, self._by_hand, self._taken_at = Counter(), False, 0.0
        at = self.cluster.at
        for each in plan.jobs:
            at(BEGIN + each.submit, lambda each=each: self._arrive(each))
        for each in plan.actions:
            at(BEGIN + each.at, lambda each=each: self._act(each))
        for each in self._at_times:
            at(BEGIN + each.at, lambda each=each: self._strike(each))
        at(BEGIN + QUIET_S, self._end_faults)

    # -- what happens at a time

    def _arrive(self, job):
        path = self.cluster.submit(
            f"j{job.number}", job.seconds, job.pods, limit=120, queue=job.queue, suspend=job.suspend
        )
        if job.kueue:
            self.cluster.edit(path, {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}})

    def _act(self, action):
        path, removes = f"{jobs_path('lab')}/j{action.job}", {"metadata": {"annotations": {RELEASED: None}}}
        match action.kind:
            case "suspends":
                self.cluster.edit(path, {"spec": {"suspend": True}})
            case "resumes":
                self.cluster.edit(path, {"spec": {"suspend": False}})
            case "deletes":
                self.cluster.delete(path)
            case "removes the label":
                self.cluster.edit(path, {"metadata": {"labels": {"windlass/queue": None}}})
            case "removes the annotation":
                self._removed[action.job] += 1
                self.cluster.edit(path, removes)
            case "suspends for Windlass":
                self._removed[action.job] += 1
                self.cluster.edit(path, {"spec": {"suspend": True}, **removes})
            case "changes the request":
                self.cluster.edit(path, {"spec": {"parallelism": int(action.size)}})
            case "edits":
                self.cluster.edit(path, {"metadata": {"labels": {"team": str(action.at)}}})

    def _strike(self, fault):
        self.injected[fault.kind] += 1
        ends = self.clock.now + 40.0 * fault.size
        match fault.kind:
            case "interrupted":
                self._interrupted = True
            case "away":
                self._away_until = ends
            case "cordoned":
                self.cluster.cordon(2, True)
                self.cluster.at(ends, lambda: self.cluster.cordon(2, False))
            case "occupied":
                self.cluster.occupy(f"o{fault.at}", "n1", "1500m")
                self.cluster.at(
                    ends, lambda: self.cluster.delete(f"/api/v1/namespaces/other/pods/o{fault.at}")
                )
            case "another leads":
                self._taken_at = self.clock.now
                self.cluster.edit(LEASE, {"spec": {"holderIdentity": "another"}})

    # -- the server of the driver

    def get(self, path):
        kind = self._request("GET", path)
        if kind == "stale" and path in self._last:
            return copy.deepcopy(self._last[path])
        found = self.cluster.get(path)
        if kind in ("unanswered", "delayed"):
            raise ClusterError(f"GET {path}: no answer")
        self._last[path] = found
        return copy.deepcopy(found)

    def send(self, method, path, body=None):
        kill = self._kill()
        if kill == "killed before":
            self._die()
        kind = self._request(method, path)
        if "/leases" not in path:
            self._check_lease(path)
            if self._by_hand and path in self.cluster.objects:
                # What a give-back resumes is in no journal.
                self.cluster.journaled.add(self.cluster.objects[path]["metadata"]["uid"])
            self.written.append((self.clock.now, path))
            self._still = 0
        if kind == "delayed":
            self.cluster.at(self.clock.now + 20.0 * self._size, lambda: self._quietly(method, path, body))
            raise ClusterError(f"{method} {path}: no answer")
        answer = self.cluster.send(method, path, body)
        if kind == "twice":
            self._quietly(method, path, body)
        if kill is not None:
            self._die()
        if kind == "unanswered":
            raise ClusterError(f"{method} {path}: no answer")
        return answer

    def _check_lease(self, path):
        """Check that the Lease is not that of another for longer than the driver may not notice."""
        lease = self.cluster.objects.get(LEASE, {"spec": {}})
        another = lease["spec"].get("holderIdentity") == "another" and not self._by_hand
        if another and self.clock.now - self._taken_at > LEASE_S:
            self.problems.append(f"without the Lease: {path}")

    def _quietly(self, method, path, body):
        """Carry a request out whose answer is lost."""
        self.cluster.answer(method, path, copy.deepcopy(body))

    def _request(self, method, path):
        self._alive()
        self._requests += 1
        self.clock.wait(0.05)
        if self.clock.now < self._away_until:
            raise ClusterError(f"{path}: no connection")
        fault = self._by_request.pop(self._requests, None)
        if fault is None:
            return ""
        self.injected[fault.kind] += 1
        self._size = fault.size
        if fault.kind == "lost":
            self.clock.wait(5.0)
            raise ClusterError(f"{path}: no connection")
        if fault.kind in ("error", "forbidden"):
            raise refusal(500 if fault.kind == "error" else 403, method, path, b'{"message": "not now"}')
        return fault.kind

    # -- the life of the driver

    def _is_busy(self):
        """Return whether a Job runs, or waits for Windlass."""
        for tree in self.cluster.jobs().values():
            job = read_job(tree)
            ours = tree["metadata"]["labels"].get("windlass/queue") == "true"
            fits = job.procs <= sum(NODES)
            if (ours and job.waits_for_us and fits) or job.phase.value == "runs":
                return True
        return False

    def _record(self, lines):
        entries = [FORMAT.read(each.line) for each in lines]
        self.cluster.journaled |= {entry.uid for entry in entries if isinstance(entry, Resuming)}

    def _drive(self):
        """Run a driver to its end; return how it ended."""
        self.drivers += 1
        self._dead = self._over = False
        lease = Lease(
            self,
            "lab",
            "windlass-jobs",
            f"d{self.drivers}",
            LEASE_S,
            clock=self.clock.time,
            monotonic=self.clock.time,
            sleep=self.sleep,
        )
        client = JobsClient(LeadersServer(self, lease), None, 60.0, sleep=self.sleep, clock=self.clock.time)
        driving = JobsDriving({"order": POLICIES[self.plan.policy]()}, self.file, JobsOptions(2.0))

        def drive():
            lease.acquire()
            try:
                drive_jobs(client, driving, lambda line: None, clock=self.clock.time, sleep=self.sleep)
            finally:
                if not self._dead:
                    lease.release()

        return self._how(drive, (ServerAwayError, LeadershipLostError))

    def _give_back(self):
        self._dead, self._by_hand = False, True
        client = JobsClient(self, None, 20.0, sleep=self.sleep, clock=self.clock.time)
        with contextlib.suppress(Killed, KeyboardInterrupt, ServerAwayError):
            give_back_jobs(client, self.clock.time)
        self._by_hand = False

    def run(self):
        """Run the plan; return the problems."""
        with (
            mock.patch.object(JobJournal, "_write", lambda journal, lines: self.write(journal, lines)),
            mock.patch.object(
                JobJournal, "_shorten", lambda journal, now: self.shorten(_SHORTEN, journal, now)
            ),
            mock.patch.object(JobJournal.__init__, "__defaults__", (self.plan.journal_limit,)),
            unsynchronised(mock),
        ):
            while self.drivers < MOST_DRIVERS and not self.problems:
                how = self._drive()
                self.stops[how] += 1
                if how == "settled":
                    break
                if self.plan.forgets:
                    self._disk.clear()
                every = self.plan.give_back_every
                if every and not self._quiet and self.drivers % every == 0:
                    self._give_back()
                self.clock.wait(3.0)
            else:
                self.problems.append(f"not settled by {self.drivers} drivers")
            if not self.problems:
                self._again()
        self._check()
        return self.problems

    def _check(self):
        """Check the history of the cluster alone."""
        resumed = Counter(self.cluster.resumptions())
        for title, times in resumed.items():
            if times > 1 + self._removed[int(title.rpartition("/j")[2])]:
                self.problems.append(f"released once: {title} was resumed {times} times")
        self.problems += [
            f"suspends nothing: {each}"
            for each in self.cluster.history
            if each.by == "request" and each.suspended
        ]
        if self.problems:
            return
        with JobJournal(self.file) as journal:
            if journal.resuming:
                self.problems.append(f"not recorded: {dict(journal.resuming)}")
        for tree in self.cluster.jobs().values():
            job = read_job(tree)
            ours = tree["metadata"]["labels"].get("windlass/queue") == "true"
            if ours and job.waits_for_us and job.procs <= sum(NODES):
                self.problems.append(f"not settled: {title_of(tree)} still waits")


def run(plan, folder):
    """Run a plan in an empty folder; return the world afterwards."""
    JournalDisk(folder / "journal").clear()
    world = World(plan, folder)
    world.run()
    return world
