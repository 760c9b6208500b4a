"""Reader of pods of Kubernetes, printed by ``kubectl get pods -o json`` (with ``-A`` for all namespaces).

A pod is a job. It is submitted when it is created, starts with its first container and ends with the last. Its request
is the sum of its containers' requests, or the largest request of an init container if that is larger. Cores are rounded
up to whole processors, at least 1.

Source: the API reference of Kubernetes, core/v1 Pod.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from decimal import Decimal, InvalidOperation
from os import PathLike
from pathlib import Path

from pydantic import AwareDatetime, ConfigDict, Field
from pydantic.alias_generators import to_camel

from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.logs.json_items import JsonItem, read_json_log, validate_item
from windlass.io.traces.logs.record import NEVER_RAN, STILL_RUNS, LoggedJob, LogReading, Omission
from windlass.io.traces.trace import Trace

_UNITS = {
    "": Decimal(1),
    **{sign: Decimal(1000) ** power for power, sign in zip((-3, -2, -1), "num", strict=True)},
    **{sign: Decimal(1000) ** power for power, sign in enumerate("kMGTPE", 1)},
    **{f"{sign}i": Decimal(1024) ** power for power, sign in enumerate("KMGTPE", 1)},
}
_POD = re.compile(r'"kind":\s*"Pod(?:List)?"')
_OTHER = Omission("is of something other than a pod", "are of something other than pods")
_QUEUES = ("kueue.x-k8s.io/queue-name", "volcano.sh/queue-name", "queue")
_USERS = ("user", "owner", "app.kubernetes.io/created-by")


class _Camel(JsonItem):
    """Base class of items with Kubernetes' names of fields: startedAt for started_at."""

    model_config = ConfigDict(alias_generator=to_camel)


class _Meta(_Camel):
    name: str
    namespace: str | None = None
    creation_timestamp: AwareDatetime
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Requirements(_Camel):
    requests: dict[str, str] | None = None
    limits: dict[str, str] | None = None


class _Container(_Camel):
    name: str = ""
    resources: _Requirements = _Requirements()


class _Spec(_Camel):
    containers: tuple[_Container, ...] = ()
    init_containers: tuple[_Container, ...] | None = None
    active_deadline_seconds: float | None = Field(default=None, ge=0)


class _Ended(_Camel):
    started_at: AwareDatetime | None = None
    finished_at: AwareDatetime | None = None


class _ContainerState(_Camel):
    terminated: _Ended | None = None


class _ContainerStatus(_Camel):
    state: _ContainerState = _ContainerState()


class _Status(_Camel):
    phase: str = ""
    start_time: AwareDatetime | None = None
    container_statuses: tuple[_ContainerStatus, ...] | None = None
    init_container_statuses: tuple[_ContainerStatus, ...] | None = None


class _Pod(_Camel):
    kind: str = "Pod"
    metadata: _Meta
    spec: _Spec = _Spec()
    status: _Status = _Status()


class _Kind(JsonItem):
    kind: str = "Pod"


def looks_like_kubectl(head: str) -> bool:
    """Return whether a file begins like a list of pods, or like one pod.

    >>> looks_like_kubectl('{"apiVersion": "v1", "items": [{"kind": "Pod"}], "kind": "List"}')
    True
    """
    return head.lstrip().startswith(("{", "[")) and (
        '"containerStatuses"' in head or _POD.search(head) is not None
    )


def read_kubectl(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read pods as JSON, plain or ``.gz``.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the pods that cannot be read; ``bad_lines`` counts pods, from 1.

    Returns
    -------
    Trace
        The columns of :func:`~windlass.io.traces.logs.record.trace_of`: ``group`` is the namespace, ``queue`` the
        queue of Kueue or Volcano.

    Raises
    ------
    InputError
        The file cannot be read, has no pod that ran, or has a pod that cannot be read and ``skip_bad_lines`` is
        False.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pods.json"
    >>> pod = {"kind": "Pod", "metadata": {"name": "a", "creationTimestamp": "2024-05-01T12:00:00Z"},
    ...     "spec": {"containers": [{"resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}}}]},
    ...     "status": {"phase": "Succeeded", "containerStatuses": [{"state": {"terminated": {
    ...         "startedAt": "2024-05-01T12:00:05Z", "finishedAt": "2024-05-01T12:01:05Z"}}}]}}
    >>> _ = path.write_text(json.dumps({"kind": "List", "items": [pod]}))
    >>> read_kubectl(path).records.select("wait", "run", "procs_requested", "memory").row(0)
    (5.0, 60.0, 2, 1073741824.0)
    """
    return read_json_log(Path(path), ("items",), _logged, skip_bad_lines, _notes)


def _logged(item: object) -> LoggedJob | Omission:
    if validate_item(_Kind, item).kind != "Pod":
        return _OTHER
    pod = validate_item(_Pod, item)
    if pod.status.phase in ("Running", "Unknown"):
        return STILL_RUNS
    if pod.status.phase == "Pending":
        return NEVER_RAN
    main = [each.state.terminated for each in pod.status.container_statuses or ()]
    before = [each.state.terminated for each in pod.status.init_container_statuses or ()]
    ended = [each for each in (*main, *before) if each is not None]
    ends = [each.finished_at for each in ended if each.finished_at is not None]
    starts = [each.started_at for each in ended if each.started_at is not None]
    if not ends or not starts:
        return NEVER_RAN
    start, end = min(starts), max(ends)
    if end < start:
        raise UnreadableError.of("finishedAt", _text(end), f"a time that is not before {_text(start)}")
    cores, memory, gpus = _requests_of(pod.spec)
    labels = {**(pod.metadata.annotations or {}), **(pod.metadata.labels or {})}
    return LoggedJob(
        submit=pod.metadata.creation_timestamp.timestamp(),
        run=(end - start).total_seconds(),
        start=start.timestamp(),
        job_id=pod.metadata.name,
        procs_requested=max(1, math.ceil(cores)),
        request=pod.spec.active_deadline_seconds,
        user=next((labels[name] for name in _USERS if name in labels), None),
        group=pod.metadata.namespace,
        queue=next((labels[name] for name in _QUEUES if name in labels), None),
        state=pod.status.phase,
        gpus=gpus if gpus else None,
        memory=memory if memory else None,
    )


def _text(time: datetime) -> str:
    return time.isoformat()


def _requests_of(spec: _Spec) -> tuple[float, float, float]:
    """Return the cores, bytes and GPUs that a pod requests."""
    main = [_demand(each) for each in spec.containers]
    init = [_demand(each) for each in spec.init_containers or ()]
    cores, memory, gpus = (
        max([sum(one[kind] for one in main), *(one[kind] for one in init)]) for kind in range(3)
    )
    return cores, memory, gpus


def _demand(container: _Container) -> tuple[float, float, float]:
    # Kubernetes defaults a missing request to the limit.
    requests = {**(container.resources.limits or {}), **(container.resources.requests or {})}
    amounts = {
        name: _quantity(f"{container.name or 'container'}, {name}", text) for name, text in requests.items()
    }
    gpus = sum(amount for name, amount in amounts.items() if name.endswith("/gpu"))
    return amounts.get("cpu", 0.0), amounts.get("memory", 0.0), gpus


def _quantity(field: str, text: str) -> float:
    number = text.rstrip("numkMGTPEKi")
    unit = text[len(number) :]
    try:
        found = Decimal(number) * _UNITS[unit]
        if found.is_finite() and 0 <= found < 10**30:
            return float(found)
    except (InvalidOperation, KeyError):
        pass
    raise UnreadableError.of(field, text, "a quantity such as 500m, 2 or 1.5Gi")


def _notes(reading: LogReading) -> list[str]:
    return ["cores of pods are rounded up to whole processors, at least 1"] if reading.jobs else []
