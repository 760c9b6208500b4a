"""Resource requests, states and times of pods, read from the JSON of the API server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError

Tree = Mapping[str, Any]
#: Resources of Kubernetes that count as GPUs.
_GPUS = ("nvidia.com/gpu", "amd.com/gpu")
#: Index of each resource in :data:`~windlass.model.instances.RESOURCES`.
_COLUMN = {**dict.fromkeys(_GPUS, 0), "cpu": 1, "memory": 2}
_SUFFIX = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    **{sign: Decimal(1000) ** power for power, sign in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    **{sign: Decimal(1024) ** power for power, sign in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
}
_Floats = NDArray[np.float64]


def quantity(text: object) -> float:
    """Parse a quantity in the notation of Kubernetes.

    Raises
    ------
    InputError
        The text is not a quantity, or its value is negative or not finite.

    Examples
    --------
    >>> [quantity(text) for text in ("250m", "1.5Gi", "2", "1e3")]
    [0.25, 1610612736.0, 2.0, 1000.0]
    """
    written = str(text).strip()
    # Only letters at the end are a suffix: the E of 12E is one, the e of 1e3 is not.
    digits = written.rstrip("numkKMGTPEi")
    try:
        value = Decimal(digits) * _SUFFIX[written[len(digits) :]]
    except (InvalidOperation, KeyError) as error:
        raise InputError(f"{written!r} is not a quantity, expected one such as 500m, 2 or 1.5Gi") from error
    if not value.is_finite() or value < 0:
        raise InputError(f"{written!r} is not a quantity, expected a finite value of at least 0")
    return float(value)


def requests(pod: Tree) -> _Floats:
    """Return what the scheduler reserves for a pod (3,), in the order of ``RESOURCES``.

    For each resource, this is the larger of two amounts, plus the pod's overhead: the sum over all containers and
    sidecars; and the most that any init container requests together with the sidecars that start before it.

    Raises
    ------
    InputError
        A quantity is invalid; the message names the container and the resource.

    Source: Kubernetes, "Resource sharing within containers" and "Pod overhead".

    Examples
    --------
    >>> web = {"name": "web", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}
    >>> first = {"name": "first", "resources": {"requests": {"cpu": "2"}}}
    >>> requests({"spec": {"containers": [web, web], "initContainers": [first]}}).tolist()
    [0.0, 2.0, 2147483648.0]
    """
    spec = pod.get("spec") or {}
    total = sum((_requested(each) for each in spec.get("containers") or ()), np.zeros(3))
    sidecars, most = np.zeros(3), np.zeros(3)
    for each in spec.get("initContainers") or ():
        if each.get("restartPolicy") == "Always":
            # A sidecar keeps running while all later containers run.
            sidecars = sidecars + _requested(each)
            most = np.maximum(most, sidecars)
        else:
            most = np.maximum(most, sidecars + _requested(each))
    overhead = _vector(spec.get("overhead") or {}, "overhead")
    return np.asarray(np.maximum(total + sidecars, most) + overhead)


def is_managed(thing: Tree) -> bool:
    """Return whether Windlass manages an object, according to the object's label."""
    return (_meta(thing).get("labels") or {}).get("app.kubernetes.io/managed-by") == "windlass"


def is_job(pod: Tree) -> bool:
    """Return whether a pod is a job.

    Pods of DaemonSets, static pods and the placeholders of Windlass are not.
    """
    owners = {owner.get("kind") for owner in _meta(pod).get("ownerReferences") or ()}
    static = "kubernetes.io/config.mirror" in (_meta(pod).get("annotations") or {})
    return not (is_managed(pod) or static or owners & {"DaemonSet", "Node"})


def is_over(pod: Tree) -> bool:
    """Return whether a pod has ended."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def node_of(pod: Tree) -> str | None:
    """Return the name of a pod's node; None while the pod waits."""
    name = (pod.get("spec") or {}).get("nodeName")
    return None if name is None else str(name)


def since(pod: Tree) -> float:
    """Return when a pod started, in seconds since 1970; its submission if it waits or reports no start."""
    status = pod.get("status") or {}
    started = status.get("startTime") if node_of(pod) else None
    return instant(started or _meta(pod).get("creationTimestamp"))


def walltime(pod: Tree) -> float:
    """Return a pod's time limit, s; infinity without ``activeDeadlineSeconds``."""
    seconds = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return np.inf if seconds is None else float(seconds)


def instant(text: object) -> float:
    """Parse a timestamp of the API server; return seconds since 1970.

    Raises
    ------
    InputError
        The text is not a timestamp.

    Examples
    --------
    >>> instant("1970-01-02T00:00:00Z")
    86400.0
    """
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError as error:
        raise InputError(f"{text!r} is not a time, expected one such as 2026-01-31T12:00:00Z") from error


def name_of(thing: Tree) -> str:
    """Return an object's namespace and name, ``namespace/name``, for messages."""
    meta = _meta(thing)
    return "/".join(str(meta[key]) for key in ("namespace", "name") if meta.get(key))


def _meta(thing: Tree) -> Tree:
    found: Tree = thing.get("metadata") or {}
    return found


def _requested(container: Tree) -> _Floats:
    resources = container.get("resources") or {}
    # Kubernetes uses the limit of a resource as its request if the container has no request for it.
    amounts = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return _vector(amounts, f"container {container.get('name')!r}")


def _vector(amounts: Mapping[str, Any], where: str) -> _Floats:
    found = np.zeros(3)
    for name, text in amounts.items():
        if name in _COLUMN:
            try:
                found[_COLUMN[name]] += quantity(text)
            except InputError as error:
                raise InputError(f"{where}: {name}: {error}") from error
    return found


def stack(vectors: Iterable[_Floats]) -> _Floats:
    """Stack n vectors (3,) into an array (n, 3)."""
    return np.array([*vectors], dtype=np.float64).reshape(-1, 3)
