"""Jobs and vnodes, read from the attributes that PBS prints."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from windlass.engines.batch.system import JobOwner
from windlass.engines.pbs.models import PbsJob, PbsNode
from windlass.model import InputError

Tree = Mapping[str, Any]
#: The project of a job whose user named none.
_NO_PROJECT = "_pbs_project_default"
#: Digits of a number of 64 bits.
_MOST_DIGITS = 18
#: A part of ``exec_vnode``, such as ``(n1:ncpus=4:mem=8gb)``, possibly of several vnodes.
_CHUNK = re.compile(r"[(+]([^:()+]+)((?::[^:()+]+)*)")


def read_job(job: str, tree: Tree) -> PbsJob:
    """Read a job.

    Parameters
    ----------
    job
        Its identifier.
    tree
        Its attributes.

    Raises
    ------
    InputError
        An attribute is missing or invalid; the message names the job and the attribute.

    Examples
    --------
    >>> tree = {"job_state": "H", "queue": "q", "ctime": "Thu Jan  1 00:01:00 1970", "Hold_Types": "o"}
    >>> tree |= {"Resource_List": {"ncpus": 4, "walltime": "01:00:00"}, "Job_Owner": "ann@host"}
    >>> found = read_job("12.s", tree)
    >>> found.created, found.procs, found.request, found.held, found.owner.user
    (60.0, 4, 3600.0, True, 'ann')
    >>> read_job("12.s", {**tree, "ctime": "soon"})
    Traceback (most recent call last):
    windlass.model.errors.InputError: job 12.s: ctime is "soon", expected a time such as "Thu Jan  1 00:01:00 1970"
    """
    try:
        return _read_job(job, tree)
    except ValueError as error:
        raise InputError(f"job {job}: {error}") from error


def _read_job(job: str, tree: Tree) -> PbsJob:
    resources = _object(tree, "Resource_List")
    created = _time(tree, "ctime")
    state = _text(tree, "job_state")
    if len(state) != 1 or not state.isalpha():
        raise ValueError(f"job_state is {_shown(tree.get('job_state'))}, expected a letter")
    array = "[]" in job
    queue = _text(tree, "queue")
    holds = _text(tree, "Hold_Types", "n")
    vnodes = chunks(_text(tree, "exec_vnode", ""))
    return PbsJob(
        job=job,
        state=state,
        queue=queue,
        created=created,
        queued=_time(tree, "qtime", created),
        # CPUs of an array are those of its subjobs.
        procs=0 if array else _count(resources, "ncpus", "Resource_List.ncpus", sum(vnodes.values())),
        request=_duration(resources, "walltime", "Resource_List.walltime"),
        start=_time(tree, "stime", math.nan),
        holds=frozenset(holds) - {"n"},
        runs=_count(tree, "run_count", "run_count", 0, least=0),
        waits_until=_time(tree, "Execution_Time", 0.0),
        comment=_text(tree, "comment", ""),
        vnodes=vnodes,
        substate=_count(tree, "substate", "substate", 0, least=0),
        name=_text(tree, "Job_Name", ""),
        owner=JobOwner(_user(tree), _account(tree), queue),
    )


def read_node(name: str, tree: Tree) -> PbsNode:
    """Read a vnode.

    Parameters
    ----------
    name
        Its name.
    tree
        Its attributes.

    Raises
    ------
    InputError
        An attribute is missing or invalid; the message names the vnode and the attribute.

    Examples
    --------
    >>> node = read_node("n1", {"state": "offline,down", "resources_available": {"ncpus": "8"}})
    >>> node.procs, node.states, node.up
    (8, ('offline', 'down'), False)
    """
    try:
        # A vnode whose host never reported has no resources.
        procs = _count(_object(tree, "resources_available"), "ncpus", "resources_available.ncpus", 0, least=0)
        states = tuple(each.strip() for each in _text(tree, "state").split(",") if each.strip())
        return PbsNode(name, procs, states, _text(tree, "queue", ""))
    except ValueError as error:
        raise InputError(f"vnode {name}: {error}") from error


def chunks(text: str) -> dict[str, int]:
    """Return the CPUs on each vnode of an ``exec_vnode``.

    >>> chunks("(n1:ncpus=4:mem=8gb)+(n2:ncpus=2+n1:ncpus=1)")
    {'n1': 5, 'n2': 2}
    """
    found: dict[str, int] = {}
    for name, resources in _CHUNK.findall(text):
        for each in resources.split(":"):
            key, _, value = each.partition("=")
            if key == "ncpus" and value.isdecimal():
                found[name] = found.get(name, 0) + int(value)
    return found


@lru_cache(maxsize=1 << 16)
def instant(text: str) -> float:
    """Return a time as ``ctime`` prints it in UTC, as a Unix time, s; ValueError if it is none.

    >>> instant("Fri Jul  1 14:42:57 2022")
    1656686577.0
    """
    return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()


def seconds(text: str) -> float:
    """Return a duration in seconds or as ``[[hours:]minutes:]seconds``; ValueError if it is none.

    >>> seconds("26:30:00"), seconds("90"), seconds("01:30")
    (95400.0, 90.0, 90.0)
    """
    parts = text.split(":")
    if len(parts) > 3 or not all(part.strip().isdecimal() and len(part) <= _MOST_DIGITS for part in parts):
        raise ValueError(text)
    found = 0
    for part in parts:
        found = 60 * found + int(part)
    return float(found)


def _user(tree: Tree) -> str:
    # Only administrators see the effective user.
    return _text(tree, "euser", "") or _text(tree, "Job_Owner", "").partition("@")[0]


def _account(tree: Tree) -> str:
    project = _text(tree, "project", _NO_PROJECT)
    return _text(tree, "Account_Name", "") or ("" if project == _NO_PROJECT else project)


def _text(tree: Tree, name: str, default: str | None = None) -> str:
    """Return an attribute as a text: PBS prints a text that is valid JSON, such as a number, without quotes."""
    if name not in tree:
        if default is None:
            raise ValueError(f"{name} is missing, expected a text")
        return default
    value = tree[name]
    return value if isinstance(value, str) else json.dumps(value)


def _object(tree: Tree, name: str) -> Tree:
    value = tree.get(name, {})
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {_shown(value)}, expected an object")
    return value


def _count(tree: Tree, name: str, full: str, default: int, least: int = 1) -> int:
    value = tree.get(name, default)
    found = _whole(value)
    if found is None or found < least:
        what = "missing" if name not in tree else _shown(value)
        raise ValueError(f"{full} is {what}, expected a whole number ≥ {least}")
    return found


def _whole(value: object) -> int | None:
    """Return a whole number of at most 64 bits, also from its digits; None for any other value."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal():
        digits = value.strip().lstrip("0")
        return int(digits or "0") if len(digits) <= _MOST_DIGITS else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1 << 63:
        return None
    return int(value) if value == int(value) else None


def _time(tree: Tree, name: str, default: float | None = None) -> float:
    if name not in tree and default is not None:
        return default
    value = tree.get(name)
    number = _whole(value)
    if number is not None:
        return float(number)
    try:
        return instant(str(value))
    except ValueError:
        what = "missing" if name not in tree else _shown(value)
        raise ValueError(f'{name} is {what}, expected a time such as "Thu Jan  1 00:01:00 1970"') from None


def _duration(tree: Tree, name: str, full: str) -> float:
    if name not in tree:
        return math.inf
    number = _whole(tree[name])
    if number is not None and number >= 0:
        return float(number)
    try:
        return seconds(str(tree[name]))
    except ValueError:
        raise ValueError(f"{full} is {_shown(tree[name])}, expected hours:minutes:seconds") from None


def _shown(value: object) -> str:
    printed = json.dumps(value, default=str, ensure_ascii=False)
    return printed if len(printed) <= 60 else f"{printed[:60]}…"
