"""A Job that opted in, read from the JSON of the API server."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from windlass.engines.batch.system import NO_OWNER, JobOwner
from windlass.engines.kubernetes.pods import instant, name_of, requests, walltime
from windlass.model import InputError

Tree = Mapping[str, Any]
#: Label of the Jobs that Windlass may start, and its value.
QUEUE_LABEL, QUEUE_VALUE = "windlass/queue", "true"
#: Annotation that a release writes together with ``suspend: false``: a Job that has it is not released again.
RELEASED = "windlass/released"
#: Label of the Jobs that Kueue suspends and resumes.
KUEUE_LABEL = "kueue.x-k8s.io/queue-name"
#: Beginning of the path of Jobs.
API = "/apis/batch/v1"


class JobPhase(Enum):
    """Whether a Job waits, runs or has ended."""

    WAITS = "waits"
    RUNS = "runs"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A Job with the label of Windlass's queue.

    Parameters
    ----------
    uid, namespace, name
        Its identity.
    version
        Its ``resourceVersion``: a change with another version is rejected.
    created
        Its submit time, s.
    suspended
        Whether it is suspended.
    released
        When a driver released it, as in its annotation; empty if none did.
    procs
        Cores of its pods that run at once, rounded up; at least 1.
    request
        Its time limit, s; infinity without one.
    start, end
        When it started and ended, s; NaN if it did not.
    leaving
        Whether it is being deleted.
    kept
        Whether it stays in the list after its end; False if the server deletes it on its own.
    kueue
        Whether it belongs to a queue of Kueue, too.
    owner
        Its user, its namespace as the account, and its priority class as the queue.
    """

    uid: str
    namespace: str
    name: str
    version: str
    created: float
    suspended: bool
    released: str
    procs: int
    request: float
    start: float = math.nan
    end: float = math.nan
    leaving: bool = False
    kept: bool = True
    kueue: bool = False
    owner: JobOwner = NO_OWNER

    @property
    def title(self) -> str:
        """Namespace and name, for messages."""
        return f"{self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        """Its path on the API server."""
        return f"{API}/namespaces/{self.namespace}/jobs/{self.name}"

    @property
    def phase(self) -> JobPhase:
        """Its phase. A Job that is not suspended runs, also before its pods have a node."""
        if not math.isnan(self.end):
            return JobPhase.OVER
        return JobPhase.WAITS if self.suspended else JobPhase.RUNS

    @property
    def waits_for_us(self) -> bool:
        """True if it waits for a driver of Windlass to release it."""
        suspended = self.phase is JobPhase.WAITS and not self.leaving
        return suspended and not self.released and not self.kueue


def has_opted_in(tree: Tree) -> bool:
    """Return whether a Job has the label of Windlass's queue.

    >>> has_opted_in({"metadata": {"labels": {"windlass/queue": "true"}}}), has_opted_in({"metadata": {}})
    (True, False)
    """
    return ((tree.get("metadata") or {}).get("labels") or {}).get(QUEUE_LABEL) == QUEUE_VALUE


def read_job(tree: Tree, user_key: str | None = None) -> QueuedJob:
    """Read a Job.

    Parameters
    ----------
    tree
        The object of the API server.
    user_key
        The annotation or label that names the user of a Job; None, and for a Job without it, its namespace is the user.

    Raises
    ------
    InputError
        A request, a number or a time is invalid; the message names the Job.

    Examples
    --------
    >>> container = {"name": "main", "resources": {"requests": {"cpu": "1500m"}}}
    >>> meta = {"uid": "u", "namespace": "lab", "name": "fit", "resourceVersion": "7"}
    >>> meta["creationTimestamp"] = "1970-01-01T00:01:00Z"
    >>> spec = {"suspend": True, "parallelism": 3, "activeDeadlineSeconds": 60}
    >>> spec["template"] = {"spec": {"containers": [container]}}
    >>> job = read_job({"metadata": meta, "spec": spec})
    >>> job.title, job.procs, job.request, job.phase, job.owner.user
    ('lab/fit', 5, 60.0, <JobPhase.WAITS: 'waits'>, 'lab')
    """
    try:
        return _read(tree, user_key)
    except (InputError, AttributeError, KeyError, TypeError, ValueError) as error:
        why = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"Job {name_of(tree)}: {why}") from error


def _read(tree: Tree, user_key: str | None) -> QueuedJob:
    meta, spec, status = tree["metadata"], tree["spec"], tree.get("status") or {}
    annotations, labels = meta.get("annotations") or {}, meta.get("labels") or {}
    pod = spec["template"]
    own = spec.get("activeDeadlineSeconds")
    user = None if user_key is None else annotations.get(user_key) or labels.get(user_key)
    return QueuedJob(
        uid=str(meta["uid"]),
        namespace=str(meta["namespace"]),
        name=str(meta["name"]),
        version=str(meta["resourceVersion"]),
        created=instant(meta["creationTimestamp"]),
        suspended=bool(spec.get("suspend")),
        released=str(annotations.get(RELEASED) or ""),
        procs=_cores(spec, float(requests(pod)[1])),
        # The limit of the Job counts from its start, and that of its pods from theirs.
        request=walltime(pod) if own is None else float(own),
        start=math.nan if status.get("startTime") is None else instant(status["startTime"]),
        end=_end(status),
        leaving=meta.get("deletionTimestamp") is not None,
        kept=spec.get("ttlSecondsAfterFinished") is None,
        kueue=KUEUE_LABEL in labels,
        owner=JobOwner(
            str(user or meta["namespace"]),
            str(meta["namespace"]),
            str((pod.get("spec") or {}).get("priorityClassName") or ""),
        ),
    )


def _cores(spec: Tree, of_a_pod: float) -> int:
    """Return the cores of the pods that run at once: of ``parallelism`` of them, and at most of all."""
    several = spec.get("parallelism")
    pods = 1 if several is None else int(several)
    if spec.get("completions") is not None:
        pods = min(pods, int(spec["completions"]))
    # Requests are exact to a thousandth of a core, and sums of them are not.
    return max(1, math.ceil(round(pods * of_a_pod, 6)))


def _end(status: Tree) -> float:
    """Return when a Job ended; NaN if it did not."""
    for each in status.get("conditions") or ():
        if each.get("type") in ("Complete", "Failed") and each.get("status") == "True":
            at = status.get("completionTime") or each.get("lastTransitionTime")
            return 0.0 if at is None else instant(at)
    return math.nan


def release_patch(version: str, at: float) -> dict[str, Any]:
    """Return the patch that releases a Job at the time ``at`` (s), if its ``resourceVersion`` is still ``version``.

    >>> patch = release_patch("7", 60.0)
    >>> patch["spec"], patch["metadata"]["resourceVersion"], patch["metadata"]["annotations"]
    ({'suspend': False}, '7', {'windlass/released': '1970-01-01T00:01:00.000Z'})
    """
    time = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "metadata": {"resourceVersion": version, "annotations": {RELEASED: time}},
        "spec": {"suspend": False},
    }
