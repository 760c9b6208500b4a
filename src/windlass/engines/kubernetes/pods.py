"""What pods ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError

Tree = Mapping[str, Any]
#: Where a resource of Kubernetes belongs in :data:`~windlass.model.instances.RESOURCES`.
_GPUS = ("nvidia.com/gpu", "amd.com/gpu")
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
    """A quantity as Kubernetes writes them.

    Raises
    ------
    InputError
        It is none.

    Examples
    --------
    >>> [quantity(text) for text in ("250m", "1.5Gi", "2", "1e3")]
    [0.25, 1610612736.0, 2.0, 1000.0]
    """
    said = str(text).strip()
    digits = said.rstrip("numkKMGTPEi")
    # 1e3 and 12E are both allowed: what is left of an exponent belongs to the number.
    try:
        value = Decimal(digits) * _SUFFIX[said[len(digits) :]]
    except (InvalidOperation, KeyError) as error:
        raise InputError(f"{said!r} is no quantity, expected one such as 500m, 2 or 1.5Gi") from error
    if not value.is_finite() or value < 0:
        raise InputError(f"{said!r} is no quantity, expected a finite one of at least 0")
    return float(value)


def requests(pod: Tree) -> _Floats:
    """(3,) what the scheduler sets aside for a pod: containers together, or its largest init container if that is more.

    Raises
    ------
    InputError
        A quantity is none; names container and resource.

    Source: Kubernetes, "Resource sharing within containers" and "Pod overhead".

    Examples
    --------
    >>> web = {"name": "web", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}
    >>> first = {"name": "first", "resources": {"requests": {"cpu": "2"}}}
    >>> requests({"spec": {"containers": [web, web], "initContainers": [first]}}).tolist()
    [0.0, 2.0, 2147483648.0]
    """
    spec = pod.get("spec") or {}
    total = sum((_asked(each) for each in spec.get("containers") or ()), np.zeros(3))
    beside, most = np.zeros(3), np.zeros(3)
    for each in spec.get("initContainers") or ():
        if each.get("restartPolicy") == "Always":
            # A sidecar stays: all that start after it have it beside them.
            beside = beside + _asked(each)
            most = np.maximum(most, beside)
        else:
            most = np.maximum(most, beside + _asked(each))
    overhead = _vector(spec.get("overhead") or {}, "overhead")
    return np.asarray(np.maximum(total + beside, most) + overhead)


def is_ours(thing: Tree) -> bool:
    """Whether an object is Windlass's own."""
    return (_meta(thing).get("labels") or {}).get("app.kubernetes.io/managed-by") == "windlass"


def is_job(pod: Tree) -> bool:
    """Whether a pod stands for work: not one that comes with each node, and none of ours."""
    owners = {owner.get("kind") for owner in _meta(pod).get("ownerReferences") or ()}
    static = "kubernetes.io/config.mirror" in (_meta(pod).get("annotations") or {})
    return not (is_ours(pod) or static or owners & {"DaemonSet", "Node"})


def is_over(pod: Tree) -> bool:
    """Whether a pod has ended."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def node_of(pod: Tree) -> str | None:
    """Where it runs; None while it waits."""
    name = (pod.get("spec") or {}).get("nodeName")
    return None if name is None else str(name)


def since(pod: Tree) -> float:
    """When it came to where it is, in seconds since 1970: its start where it has one, else its submission."""
    status = pod.get("status") or {}
    said = status.get("startTime") if node_of(pod) else None
    return instant(said or _meta(pod).get("creationTimestamp"))


def walltime(pod: Tree) -> float:
    """How long it may run, s; infinity where it does not say."""
    said = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return np.inf if said is None else float(said)


def instant(text: object) -> float:
    """A time as the server writes it, in seconds since 1970.

    >>> instant("1970-01-02T00:00:00Z")
    86400.0
    """
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError as error:
        raise InputError(f"{text!r} is no time, expected one such as 2026-01-31T12:00:00Z") from error


def name_of(thing: Tree) -> str:
    """Namespace and name, as errors say them."""
    meta = _meta(thing)
    return "/".join(str(meta[key]) for key in ("namespace", "name") if meta.get(key))


def _meta(thing: Tree) -> Tree:
    found: Tree = thing.get("metadata") or {}
    return found


def _asked(container: Tree) -> _Floats:
    resources = container.get("resources") or {}
    # Who states only a limit asks for that.
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return _vector(asked, f"container {container.get('name')!r}")


def _vector(amounts: Mapping[str, Any], where: str) -> _Floats:
    found = np.zeros(3)
    for name, text in amounts.items():
        if name in _COLUMN:
            try:
                found[_COLUMN[name]] += quantity(text)
            except InputError as error:
                raise InputError(f"{where}: {name}: {error}") from error
    return found


def stacked(vectors: Iterable[_Floats]) -> _Floats:
    """(n, 3) of some (3,)."""
    return np.array([*vectors], dtype=np.float64).reshape(-1, 3)
