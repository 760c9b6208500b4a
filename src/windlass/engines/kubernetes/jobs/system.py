"""Kubernetes Jobs as a batch system: suspended Jobs that opted in are resumed when a policy starts them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from windlass.engines.batch.log_entry import LogEntry
from windlass.engines.batch.polled_jobs import Reported
from windlass.engines.batch.polling import Polls
from windlass.engines.batch.status import DriverStatus
from windlass.engines.batch.system import Event
from windlass.engines.batch.unreadable import UnreadableObjects
from windlass.engines.kubernetes.jobs.capacity import SchedulableCores, cluster_cores
from windlass.engines.kubernetes.jobs.client import JobsClient
from windlass.engines.kubernetes.jobs.journal import JobRecord, NotResumed, Resumed, Resuming
from windlass.engines.kubernetes.jobs.models import API, JobPhase, QueuedJob, read_job
from windlass.engines.kubernetes.jobs.watch import JobChanges, ListedJob, QueueWatch
from windlass.model import InputError


@dataclass(frozen=True, slots=True)
class JobsOptions:
    """How a driver polls the API server.

    Parameters
    ----------
    pace
        Polling interval while there are Jobs with the label, s.
    until_idle
        True to end when no such Job is left; False to run as a service.
    user_key
        The annotation or label that names the user of a Job; None for its namespace. Users can set it themselves,
        unless an admission rule of the cluster does not let them.
    """

    pace: float = 1.0
    until_idle: bool = False
    user_key: str | None = None


class KubernetesJobs:
    """A :class:`~windlass.engines.batch.system.BatchSystem` on the API server.

    Only Jobs with the label ``windlass/queue: "true"`` are ever changed, and of these only suspended ones: they are
    resumed once. No Job is ever suspended. Times are Unix times of this host, s.

    Parameters
    ----------
    client
        The API server.
    journal
        Where each release is recorded before it is made.
    options
        How the server is polled.
    notify
        Called with a line for each thing that users should know.
    clock
        Returns the Unix time, s.
    sleep
        Waits for this many seconds between polls.
    status
        Updated with each poll.

    Raises
    ------
    ServerAwayError
        The server does not answer.
    """

    def __init__(
        self,
        client: JobsClient,
        journal: JobRecord,
        options: JobsOptions | None = None,
        *,
        notify: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        status: DriverStatus | None = None,
    ) -> None:
        self._client, self._journal, self._options = client, journal, options or JobsOptions()
        self._notify, self._clock, self._watch = notify, clock, QueueWatch()
        self.status = status or DriverStatus(contact=client.contact)
        pace, until_idle = self._options.pace, self._options.until_idle
        self._polls = Polls(self._poll, pace, until_idle, clock, sleep, self.status)
        self._reported: dict[str, str] = {}
        self._unreadable = UnreadableObjects(notify)
        self._settle()
        self._jobs = self._listed()
        # Pods of Jobs that run already are theirs, from the first poll on.
        self._cores = SchedulableCores(0, 0)
        self._cores = self._measure({job.uid for job in self._jobs if job.phase is JobPhase.RUNS})
        self.processors = self.status.processors = self._cores.free

    def now(self) -> float:
        """Return the Unix time of the last poll, s, so that all decisions of one poll have the same time."""
        return self._polls.now

    def title(self, job: int) -> str:
        """Return namespace and name of a Job, for messages."""
        return self._watch.title(job)

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call; the server is polled at most at the interval of the options."""
        return self._polls.wait(timeout)

    def start(self, jobs: Sequence[int]) -> dict[int, str]:
        """Resume these Jobs, in this order; each release is journaled first."""
        now = self._clock()
        waiting = {number: each for number in jobs if (each := self._waiting(number)) is not None}
        refused = {number: "no such Job waits" for number in jobs if number not in waiting}
        self._journal.append(
            *(Resuming(now, each.job.title, each.job.uid) for each in waiting.values()),
        )
        for number, each in waiting.items():
            job, at = each.job, self._clock()
            if why := self._client.release(job, at):
                refused[number] = f"{job.title}: {why}"
                self._polls.events += self._watch.refused(number, at)
                self._journal.append(NotResumed(self._clock(), job.title, job.uid, why))
            else:
                self._watch.released(number, at)
                self._journal.append(Resumed(self._clock(), job.title, job.uid))
        self.status.started += len(jobs) - len(refused)
        self.status.refusals += len(refused)
        return refused

    def describe(self, jobs: Sequence[int]) -> str:
        """Return the commands of ``kubectl`` that would resume these Jobs, a line each."""
        patch = '\'{"spec":{"suspend":false}}\''
        found = [(number, self._watch.find(number)) for number in jobs]
        return "\n".join(
            f"kubectl -n {each.job.namespace} patch job {each.job.name} -p {patch}  # job {number}"
            for number, each in found
            if each is not None
        )

    def close(self) -> None:
        """Do nothing: no process was started."""

    def _waiting(self, number: int) -> ListedJob | None:
        each = self._watch.find(number)
        return each if each is not None and each.reported is Reported.WAITS else None

    def _settle(self) -> None:
        """Record the outcome of releases that an earlier driver began."""
        for left in list(self._journal.resuming.values()):
            namespace, _, name = left.job.partition("/")
            tree = self._client.job(f"{API}/namespaces/{namespace}/jobs/{name}")
            now = self._clock()
            try:
                job = None if tree is None else read_job(tree)
            except InputError as error:
                # If it was released, its annotation keeps it from another release.
                self._journal.append(NotResumed(now, left.job, left.uid, str(error)))
                continue
            same = job is not None and job.uid == left.uid
            if job is not None and same and (job.released or not job.suspended):
                self._journal.append(Resumed(now, left.job, left.uid))
                self._notify(f"{left.job}: an earlier driver released it")
            else:
                why = "the driver ended before it was released" if same else "it is gone"
                self._journal.append(NotResumed(now, left.job, left.uid, why))

    def _listed(self) -> list[QueuedJob]:
        """Return all Jobs with the label that can be read; others are reported once."""
        found = []
        for tree in self._client.jobs():
            try:
                found.append(read_job(tree, self._options.user_key))
            except InputError as error:
                self._unreadable.report(error, "left alone")
        return found

    def _measure(self, holders: set[str]) -> SchedulableCores:
        nodes, pods = self._client.nodes(), self._client.pods()
        try:
            return cluster_cores(nodes, pods, holders)
        except InputError as error:
            self._unreadable.report(error, "the number of cores is left unchanged")
            return self._cores

    def _poll(self) -> None:
        began = self._polls.began()
        self._jobs = self._listed()
        now = self._clock()
        changes = self._watch.update(self._jobs, self._cores.most, began, now)
        self._polls.events += changes.events
        self._report(changes)
        before, self._cores = self._cores, self._measure(set(self._watch.holders))
        self._capacity(before, self._cores)
        self._unreadable.end_poll()
        self._polls.ended(self._watch.waiting(), self._watch.count(Reported.HOLDS), len(changes.stuck))

    def _capacity(self, before: SchedulableCores, now: SchedulableCores) -> None:
        if before.most != now.most:
            line = f"the cluster has {now.most:,} cores, where it had {before.most:,}"
            self._notify(LogEntry.of(line, "capacity", processors=now.free))
        self._polls.capacity(now.free)

    def _report(self, changes: JobChanges) -> None:
        for job in changes.withheld:
            line = f"{job.title}: its user suspended it after its release; left alone"
            self._notify(LogEntry.of(line, "withheld", jobs=[job.title]))
        for title, why in changes.stuck.items():
            if self._reported.get(title) != why:
                line = f"{title} cannot start: {why}"
                self._notify(LogEntry.of(line, "cannot_start", jobs=[title], reason=why))
        self._reported = dict(changes.stuck)
