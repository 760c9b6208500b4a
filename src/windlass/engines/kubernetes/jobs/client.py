"""Lists and releases of Jobs, with retries while the API server does not answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from windlass.engines.backoff import Backoff
from windlass.engines.batch.status import Contact
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.jobs.models import (
    API,
    QUEUE_LABEL,
    QUEUE_VALUE,
    JobPhase,
    QueuedJob,
    has_opted_in,
    read_job,
    release_patch,
)
from windlass.engines.kubernetes.server import ConflictError, MissingError, RejectedError, Server, items
from windlass.model import BatchError, InputError

Tree = dict[str, Any]
_Found = TypeVar("_Found")
#: Delays between tries while the server does not answer.
_BACKOFF = Backoff(0.5, 15.0)
#: The most requests that release one Job, if others change it meanwhile.
_MOST_TRIES = 4
#: The label of the queue, in a query.
_SELECTED = f"labelSelector={QUEUE_LABEL.replace('/', '%2F')}%3D{QUEUE_VALUE}"
#: Only pods that have a node and have not ended, in a query.
_PLACED = "fieldSelector=spec.nodeName!%3D,status.phase!%3DSucceeded,status.phase!%3DFailed"


class ServerAwayError(BatchError):
    """The API server does not answer, so the state of its Jobs is unknown."""


@dataclass(frozen=True, slots=True)
class JobsClient:
    """A client of the API server for Jobs with the label of the queue.

    Parameters
    ----------
    server
        The API server.
    namespace
        Only Jobs of this namespace; None for all.
    patience
        How long to retry while the server does not answer, s.
    notify
        Called with a line when the server stops answering, and when it answers again.
    sleep
        Waits for this many seconds before a retry.
    clock
        Returns a monotonic time, s.
    contact
        Updated with each request: whether the server answers.
    """

    server: Server
    namespace: str | None = None
    patience: float = 300.0
    notify: Callable[[str], None] = lambda line: None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    contact: Contact = field(default_factory=Contact, compare=False)

    def jobs(self) -> list[Tree]:
        """Return all Jobs with the label.

        Raises
        ------
        ServerAwayError
            The server did not answer within ``patience``. An empty list is never returned in that case.
        """
        where = "" if self.namespace is None else f"/namespaces/{self.namespace}"
        path = f"{API}{where}/jobs?{_SELECTED}"
        return self._retry(lambda: [tree for tree in items(self.server, path) if has_opted_in(tree)])

    def nodes(self) -> list[Tree]:
        """Return all nodes."""
        return self._retry(lambda: list(items(self.server, "/api/v1/nodes")))

    def pods(self) -> list[Tree]:
        """Return all pods of the cluster that have a node and have not ended."""
        return self._retry(lambda: list(items(self.server, f"/api/v1/pods?{_PLACED}")))

    def job(self, path: str) -> Tree | None:
        """Return a Job, by its path; None if it does not exist."""

        def one() -> Tree | None:
            try:
                return self.server.get(path)
            except MissingError:
                return None

        return self._retry(one)

    def release(self, job: QueuedJob, at: float) -> str:
        """Resume a suspended Job at the time ``at`` (s); return an error message if it was not, else nothing.

        The request has the version of the Job that the decision saw, so a Job that was released before, or changed
        since, is not released by it. If the answer is lost, the Job is read again.

        Raises
        ------
        ServerAwayError
            The server did not answer within ``patience``: the Job may be released.
        """
        why = ""
        for _ in range(_MOST_TRIES):
            try:
                self.server.send("PATCH", job.path, release_patch(job.version, at))
            except ClusterError as error:
                why = str(error)
                found = self.job(job.path)
                now, gone = _again(job, found)
                if gone is not None:
                    return gone
                if isinstance(error, RejectedError) and not isinstance(error, ConflictError):
                    return why
                job = now
            else:
                self.contact.health.progressed()
                return ""
        return why

    def _retry(self, call: Callable[[], _Found]) -> _Found:
        """Call a function; while the server does not answer as expected, retry with growing delays."""
        began, failures = self.clock(), 0
        while True:
            tried = self.clock()
            try:
                found = call()
            except ClusterError as error:
                self.contact.health.progressed()
                failures += 1
                self.contact.outages += not self.contact.away
                self.contact.away = True
                delay = _BACKOFF.delay(failures)
                if self.clock() - began + delay > self.patience:
                    lost = self.clock() - began
                    raise ServerAwayError(f"no usable answer for {lost:.0f} s: {error}") from error
                if failures == 1:
                    self.notify(f"{error}; trying again for {self.patience:g} s")
                self.sleep(delay)
            else:
                self.contact.health.progressed()
                self.contact.away = False
                if failures:
                    self.contact.lost += tried - began
                    self.notify("the server answers again")
                return found


def _again(job: QueuedJob, tree: Tree | None) -> tuple[QueuedJob, str | None]:
    """Compare a Job with its present state after a failed release; return that state, and a final outcome.

    The outcome is empty if the Job is resumed, a message if it must not be, and None to try again.
    """
    if tree is None:
        return job, "it was deleted"
    try:
        now = read_job(tree)
    except InputError as error:
        return job, str(error)
    if now.uid != job.uid or now.phase is JobPhase.OVER or now.leaving:
        return now, "it was deleted, or has ended"
    if not now.suspended:
        return now, ""
    if not has_opted_in(tree) or not now.waits_for_us:
        return now, "it no longer waits for Windlass"
    if (now.procs, now.request) != (job.procs, job.request):
        return now, "its request was changed"
    return now, None
