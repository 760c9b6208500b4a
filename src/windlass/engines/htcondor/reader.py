"""Jobs and slots, read from the JSON that HTCondor's commands print."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from windlass.engines.batch.holds.site import HoldPhase
from windlass.engines.batch.system import JobOwner
from windlass.engines.htcondor.models import QUEUE, VANILLA, CondorJob, CondorSlot
from windlass.model import BatchError, InputError

Ad = Mapping[str, Any]
#: The attributes of a job that are read.
JOB_ATTRIBUTES = (
    *(
        "ClusterId",
        "ProcId",
        "JobStatus",
        "JobUniverse",
        "QDate",
        "EnteredCurrentStatus",
        "JobCurrentStartDate",
    ),
    *("NumJobStarts", "RequestCpus", "CpusProvisioned", "HoldReasonCode", "HoldReasonSubCode", "HoldReason"),
    *(
        "AllowedJobDuration",
        "AllowedExecuteDuration",
        "MaxRuntime",
        "Owner",
        "AcctGroup",
        "JobBatchName",
        "Cmd",
    ),
    *("GlobalJobId", "ServerTime", QUEUE),
)
#: The attributes of a slot that are read.
SLOT_ATTRIBUTES = (
    *("Name", "SlotType", "State", "Cpus", "TotalSlotCpus", "GlobalJobId", "Offline"),
    "BackfillSlot",
)
#: Attributes that limit the run time of a job. ``MaxRuntime`` is no attribute of HTCondor, but common at sites.
_LIMITS = ("AllowedJobDuration", "AllowedExecuteDuration", "MaxRuntime")
#: Universes whose jobs hold no slot of the pool: scheduler, grid, local.
_NO_SLOT = (7, 9, 12)


def decode_ads(text: str, command: str) -> list[Ad]:
    """Decode the output of a command: a list of objects. Some releases print nothing for an empty list.

    Names of attributes are case-insensitive in HTCondor; they are returned in lower case.

    Raises
    ------
    BatchError
        The output is no such list; the message names the place.

    Examples
    --------
    >>> decode_ads('[{"ClusterId": 12}]', "condor_q"), decode_ads("", "condor_q")
    ([{'clusterid': 12}], [])
    >>> decode_ads('[{"ClusterId"', "condor_q")
    Traceback (most recent call last):
    windlass.model.errors.BatchError: condor_q: the output is not valid JSON: line 1, column 14: Expecting ':' delimiter
    """
    if not text.strip():
        return []
    try:
        tree = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise BatchError(f"{command}: the output is not valid JSON: {place}") from error
    except RecursionError as error:
        raise BatchError(f"{command}: the output is not valid JSON: it is nested too deeply") from error
    except ValueError:
        # A number of thousands of digits, which Python reads as a float alone.
        tree = json.loads(text, strict=False, parse_int=float)
    if not isinstance(tree, list) or not all(isinstance(each, dict) for each in tree):
        raise BatchError(f"{command}: the output is {_shown(tree)}, expected a list of objects")
    return [{name.lower(): value for name, value in each.items()} for each in tree]


def read_job(ad: Ad) -> CondorJob:
    """Read a job from its attributes, with names in lower case.

    Raises
    ------
    InputError
        An attribute is missing or invalid; the message names the job and the attribute.

    Examples
    --------
    >>> ad = {"clusterid": 12, "procid": 0, "jobstatus": 5, "holdreasoncode": 15, "qdate": 60, "requestcpus": 4}
    >>> found = read_job({**ad, "allowedjobduration": 3600, "windlassqueue": "main"})
    >>> found.job, found.procs, found.request, found.held, found.queue
    ('12.0', 4, 3600.0, True, 'main')
    >>> read_job({**ad, "requestcpus": "/Expr(DetectedCpus)/"})
    Traceback (most recent call last):
    windlass.model.errors.InputError: job 12.0: RequestCpus is "/Expr(DetectedCpus)/", expected a whole number ≥ 1
    """
    name = f"{ad.get('clusterid', '?')}.{ad.get('procid', '?')}"
    try:
        return _read_job(ad)
    except ValueError as error:
        raise InputError(f"job {name}: {error}") from error


def _read_job(ad: Ad) -> CondorJob:
    universe, status = _count(ad, "JobUniverse", VANILLA), _count(ad, "JobStatus")
    # Jobs of other universes are never released: they hold no slot, or several.
    named = ad.get(QUEUE.lower()) if universe == VANILLA else None
    # HTCondor compares the attribute with a text, which no number equals.
    queue = named if isinstance(named, str) else ""
    since = _count(ad, "EnteredCurrentStatus", 0)
    found = CondorJob(
        job=f"{_count(ad, 'ClusterId', least=1)}.{_count(ad, 'ProcId')}",
        status=status,
        created=float(_count(ad, "QDate")),
        procs=0,
        queue=queue,
        universe=universe,
        since=float(since) if since else math.nan,
        runs=_count(ad, "NumJobStarts", 0),
        code=_count(ad, "HoldReasonCode", 0),
        # The number of an error, which may be negative.
        subcode=_count(ad, "HoldReasonSubCode", 0, least=-(1 << 63)),
        reason=" ".join(_text(ad, "HoldReason").split()),
    )
    waits = found.phase is HoldPhase.WAITS
    procs = 0 if universe in _NO_SLOT else _procs(ad, waits)
    begun = _count(ad, "JobCurrentStartDate", 0)
    return CondorJob(
        found.job,
        status,
        found.created,
        procs,
        queue,
        universe,
        min((_seconds(ad, name) for name in _LIMITS), default=math.inf),
        found.since,
        math.nan if waits or not begun else float(begun),
        found.runs,
        code=found.code,
        subcode=found.subcode,
        reason=found.reason,
        name=_text(ad, "JobBatchName") or PurePosixPath(_text(ad, "Cmd")).name,
        owner=JobOwner(_text(ad, "Owner"), _text(ad, "AcctGroup"), queue),
    )


def read_slot(ad: Ad) -> CondorSlot:
    """Read a slot from its attributes, with names in lower case.

    Raises
    ------
    InputError
        An attribute is missing or invalid; the message names the slot and the attribute.

    Examples
    --------
    >>> slot = read_slot({"name": "slot1@n1", "slottype": "Partitionable", "state": "Unclaimed", "cpus": 2,
    ...     "totalslotcpus": 8})
    >>> slot.procs, slot.up
    (8, True)
    """
    name = _text(ad, "Name")
    try:
        dynamic = _text(ad, "SlotType") == "Dynamic"
        procs = (
            _count(ad, "Cpus", least=0) if dynamic else _count(ad, "TotalSlotCpus", ad.get("cpus"), least=0)
        )
        schedd = _text(ad, "GlobalJobId").partition("#")[0]
        offline, backfill = (ad.get(each) is True for each in ("offline", "backfillslot"))
        return CondorSlot(name, procs, dynamic, _text(ad, "State"), schedd, offline, backfill)
    except ValueError as error:
        raise InputError(f"slot {name or '?'}: {error}") from error


def _procs(ad: Ad, waits: bool) -> int:
    provisioned = ad.get("cpusprovisioned")
    if not waits and _whole(provisioned) is not None:
        return _count(ad, "CpusProvisioned", least=1)
    return _count(ad, "RequestCpus", 1, least=1)


def _text(ad: Ad, name: str) -> str:
    value = ad.get(name.lower())
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _count(ad: Ad, name: str, default: Any = None, least: int = 0) -> int:
    value = ad.get(name.lower())
    found = _whole(default if value is None else value)
    if found is None or found < least:
        shown = "missing" if value is None else _shown(value)
        raise ValueError(f"{name} is {shown}, expected a whole number ≥ {least}")
    return found


def _seconds(ad: Ad, name: str) -> float:
    """Return a limit of the run time, s; infinity if it is missing, or an expression of the slot's attributes."""
    value: object = ad.get(name.lower())
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1 << 63:
        return math.inf
    return float(value)


def _whole(value: object) -> int | None:
    """Return a whole number of at most 64 bits; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1 << 63:
        return None
    return int(value) if value == int(value) else None


def _shown(value: object) -> str:
    printed = json.dumps(value, default=str, ensure_ascii=False)
    return printed if len(printed) <= 60 else f"{printed[:60]}…"
