"""Parsing of a job's fields in Slurm's accounting, as text or JSON."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from dataclasses import dataclass

from windlass.io.traces import fields
from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.logs.record import NEVER_RAN, STILL_RUNS, Omission

ELSEWHERE = Omission("is of a job that another cluster started", "are of jobs that another cluster started")
_WAITS = frozenset({"PENDING", "CONFIGURING", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
_RUNS = frozenset({"RUNNING", "SUSPENDED", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED"})
_ENDS_UNSTARTED = frozenset(
    {"CANCELLED", "DEADLINE", "BOOT_FAIL", "NODE_FAIL", "FAILED", "REVOKED", "REQUEUED"}
)
_REQUESTED_MEMORY = re.compile(r"(.*?)([nc]?)")
#: Number of different texts whose values are kept: few of a log differ.
_REMEMBERED = 20_000
_CLOCK = re.compile(r"[0-9]+:[0-9]{1,2}(\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class TrackableResources:
    """Trackable resources: processors, GPUs and memory (bytes); None for unlisted ones."""

    cpus: int | None = None
    gpus: float | None = None
    memory: float | None = None


@functools.lru_cache(maxsize=_REMEMBERED)
def resources(field: str, text: str | None) -> TrackableResources:
    """Parse a list of resources such as cpu=16,gres/gpu=2,mem=64G,node=1.

    GPUs may be listed by type, without a type, or in both ways; the number without a type is then the total.

    Raises
    ------
    UnreadableError
        An amount cannot be parsed.

    Examples
    --------
    >>> resources("AllocTRES", "billing=8,cpu=8,gres/gpu:a100=1,gres/gpu:v100=2,mem=1G,node=1")
    TrackableResources(cpus=8, gpus=3.0, memory=1073741824.0)
    """
    cpus, memory, total = None, None, None
    typed: list[float] = []
    for entry in (text or "").split(","):
        name, equals, amount = entry.partition("=")
        if entry and not equals:
            raise UnreadableError.of(field, text or "", "resources such as cpu=16,mem=64G")
        if name == "cpu":
            cpus = fields.whole(field, amount)
        elif name == "mem":
            memory = fields.memory(field, amount)
        elif name == "gres/gpu":
            total = fields.number(field, amount)
        elif name.startswith("gres/gpu:"):
            typed.append(fields.number(field, amount))
    gpus = total if total is not None else sum(typed) if typed else None
    return TrackableResources(cpus, gpus, memory)


@functools.lru_cache(maxsize=_REMEMBERED)
def elapsed(field: str, text: str) -> float:
    """Parse a duration in Slurm's format, s: 1-02:03:04, 02:03:04, or 03:04 for minutes and seconds.

    >>> elapsed("Elapsed", "03:04"), elapsed("Elapsed", "1-00:00:00")
    (184.0, 86400.0)
    """
    return fields.duration(field, f"00:{text}" if _CLOCK.fullmatch(text) else text)


@functools.lru_cache(maxsize=_REMEMBERED)
def limit(field: str, text: str | None) -> float | None:
    """Parse a time limit, s; None for an unlimited one or that of the partition. A plain number is in minutes.

    >>> limit("Timelimit", "1-00:00:00"), limit("TimelimitRaw", "90"), limit("Timelimit", "UNLIMITED")
    (86400.0, 5400.0, None)
    """
    if text is None or text.upper() in ("UNLIMITED", "PARTITION_LIMIT", "INFINITE"):
        return None
    if text.isascii() and text.isdecimal():
        return 60.0 * fields.whole(field, text)
    return elapsed(field, text)


def requested_memory(field: str, text: str | None, cpus: int | None, nodes: int | None) -> float | None:
    """Return the requested memory, bytes; 4Gc is per processor and 4Gn per node, as in older releases.

    >>> requested_memory("ReqMem", "1Gc", 4, 1), requested_memory("ReqMem", "0n", 4, 1)
    (4294967296.0, None)
    """
    match = _REQUESTED_MEMORY.fullmatch(text) if text else None
    if match is None:
        return None
    amount = fields.memory(field, match[1])
    times = {"c": cpus, "n": nodes, "": 1}[match[2]]
    return amount * times if amount and times else None


def omission_of(
    state: str, start: float | None, end: float | None, run: float | None, cpus: int | None
) -> Omission | None:
    """Return the reason to leave out a job, from its state and times; None if it ran and ended.

    For a job that is cancelled while it is pending, Slurm records the cancellation as start and end, and no resources.

    >>> omission_of("CANCELLED by 1000", 5.0, 5.0, 0.0, 0) is NEVER_RAN
    True
    """
    word = state.split()[0].rstrip("+").upper() if state.split() else ""
    if word == "REVOKED":
        return ELSEWHERE
    if word in _WAITS:
        return NEVER_RAN
    if word in _RUNS:
        return STILL_RUNS
    if start is None or ended_unstarted(word, run, cpus):
        return NEVER_RAN
    return STILL_RUNS if end is None and run is None else None


def ended_unstarted(state: str, run: float | None, cpus: int | None) -> bool:
    """Return whether a job ended before its start; a cancelled one may have processors recorded.

    >>> ended_unstarted("CANCELLED", 0.0, 2), ended_unstarted("FAILED", 0.0, 2)
    (True, False)
    """
    return state in _ENDS_UNSTARTED and not run and (state == "CANCELLED" or not cpus)


def several_clusters(clusters: Collection[str]) -> str:
    """Return a note on a log with jobs of several clusters.

    >>> print(several_clusters({"a", "b"}))
    the log has jobs of 2 clusters; where "cluster = 'a'" selects those of one
    """
    first = min(clusters)
    return f"the log has jobs of {len(clusters)} clusters; where \"cluster = '{first}'\" selects those of one"
