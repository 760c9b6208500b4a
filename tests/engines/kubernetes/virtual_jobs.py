"""Kubernetes Jobs in virtual time, with the job numbers of a table, for the suite of all batch systems."""

from tests.adversary.clock import BEGIN, VirtualClock
from tests.engines.kubernetes.job_cluster import JobCluster, jobs_path
from windlass.engines.batch.system import Cancelled, Ended, Started, Submitted
from windlass.engines.kubernetes.jobs.client import JobsClient
from windlass.engines.kubernetes.jobs.journal import UnwrittenJobs
from windlass.engines.kubernetes.jobs.system import JobsOptions, KubernetesJobs

PACE = 0.1


class VirtualJobs:
    """Makes systems of a cluster whose nodes have one core each; Jobs start `latency` (s) after their release."""

    def __init__(self, latency):
        # Times of Kubernetes are whole seconds.
        self.latency, self.late = latency, latency + 1.0 + 2 * PACE

    def make(self, jobs, processors, cancels=(), capacity=()):
        return _JobsOfTable(jobs, processors, cancels, capacity, self.latency)


class _JobsOfTable:
    def __init__(self, jobs, processors, cancels, capacity, latency):
        clock = VirtualClock()
        self.cluster = cluster = JobCluster(lambda: clock.now, [1] * processors, latency)
        columns = (jobs.job, jobs.submit, jobs.run, jobs.procs, jobs.request)
        for number, submit, run, procs, request in zip(*(column.tolist() for column in columns), strict=True):
            cluster.at(
                BEGIN + submit,
                lambda number=number, run=run, procs=procs, request=request: cluster.submit(
                    f"j{number}", run, procs, limit=int(request)
                ),
            )
        for at, number in cancels:
            path = f"{jobs_path('lab')}/j{number}"
            cluster.at(BEGIN + at, lambda path=path: cluster.delete(path))
        for at, size in capacity:
            cluster.at(BEGIN + at, lambda size=size: self.resize(size, processors))
        client = JobsClient(cluster, sleep=clock.wait, clock=clock.time)
        options = JobsOptions(PACE, until_idle=True)
        self.system = KubernetesJobs(client, UnwrittenJobs(), options, clock=clock.time, sleep=clock.wait)
        self.processors, self.now = self.system.processors, self.system.now
        self.ours, self.theirs = {}, {}

    def resize(self, size, processors):
        for number in range(1, processors + 1):
            self.cluster.cordon(number, number > size)

    def poll(self, timeout):
        return [self.translated(event) for event in self.system.poll(timeout)]

    def translated(self, event):
        match event:
            case Submitted(job, at, procs, request):
                number = int(self.system.title(job).rpartition("/j")[2])
                self.ours[job], self.theirs[number] = number, job
                return Submitted(number, at, procs, request)
            case Started(job, at) | Ended(job, at) | Cancelled(job, at):
                return type(event)(self.ours[job], at)
        return event

    def start(self, jobs):
        refused = self.system.start([self.theirs.get(job, 10**6 + job) for job in jobs])
        return {self.ours.get(job, job - 10**6): why for job, why in refused.items()}

    def describe(self, jobs):
        return self.system.describe([self.theirs[job] for job in jobs])

    def close(self):
        self.system.close()
