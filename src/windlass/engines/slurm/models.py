"""Slurm's jobs and nodes, parsed from the JSON output of its commands."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from windlass.model import BatchError

#: The first word of the comment of a job that Windlass may start.
OPT_IN = "windlass"
#: Further words of that comment: the job may share an allocation; it may be requeued and restarted.
SHARES, RESTARTS = "share", "restart"
#: Slurm's reason for a job held by an administrator; jobs held by their user have other reasons.
_BARRED = "JobHeldAdmin"

_OVER = frozenset(
    [
        "COMPLETED",
        "CANCELLED",
        "FAILED",
        "TIMEOUT",
        "NODE_FAIL",
        "PREEMPTED",
        "BOOT_FAIL",
        "DEADLINE",
        "OUT_OF_MEMORY",
        "REVOKED",
    ]
)
_WAITS = frozenset(["PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"])
_NOT_UP = frozenset(
    ["DRAIN", "FAIL", "DOWN", "NOT_RESPONDING", "MAINTENANCE", "INVALID_REG", "POWERED_DOWN", "REBOOT_ISSUED"]
)


class Phase(Enum):
    """The phase of a job: waiting, holding processors, or over."""

    WAITS = "waits"
    RUNS = "runs"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as Slurm lists it.

    Parameters
    ----------
    job
        Slurm's job number; for a task of an array, the task's own.
    state, reason
        Slurm's words, such as ``PENDING`` and ``JobHeldUser``.
    submit, start, end
        Unix times in whole seconds; 0 if unknown. For a requeued job, ``submit`` is the time of the requeue.
    limit
        Its time limit, s; infinity without a limit.
    procs
        Processors requested or held.
    nodes
        Its nodes as Slurm writes them, such as ``n[1-4]``; empty while it waits.
    memory
        Memory requested on all its nodes, bytes; 0 without a request.
    name, comment, user, partition
        As submitted.
    held
        True if it waits and must be released first.
    restarts
        How often it was requeued.
    requeues
        True if Slurm may requeue it.
    many
        True if it represents several jobs: an array that is not split yet, or a heterogeneous job.
    suspended
        Unix time of the last suspension or resumption; 0 without any.
    ran_before
        How long it had run until then, s.
    """

    job: int
    state: str
    reason: str
    submit: float
    start: float
    end: float
    limit: float
    procs: int
    nodes: str
    memory: int
    name: str
    comment: str
    user: str
    partition: str
    held: bool
    restarts: int
    requeues: bool
    many: bool
    suspended: float = 0.0
    ran_before: float = 0.0

    @property
    def barred(self) -> bool:
        """True if an administrator holds it, so that only an administrator may release it."""
        return self.held and self.reason == _BARRED

    @property
    def phase(self) -> Phase:
        """Its phase; a completing job still holds its processors."""
        if self.state in _OVER:
            return Phase.OVER
        return Phase.WAITS if self.state in _WAITS else Phase.RUNS

    @property
    def opted_in(self) -> bool:
        """True if its user lets Windlass start it."""
        return self.comment.split()[:1] == [OPT_IN] and not self.many

    @property
    def shares(self) -> bool:
        """True if its user allows it to share an allocation."""
        return self.opted_in and SHARES in self.comment.split()

    @property
    def may_restart(self) -> bool:
        """True if its user and Slurm allow it to be requeued."""
        return self.opted_in and RESTARTS in self.comment.split() and self.requeues

    @property
    def cancelled(self) -> bool:
        """True if it was cancelled."""
        return self.state in ("CANCELLED", "REVOKED")

    def paused(self, now: float) -> float:
        """Return how long it was suspended since its start, s; its time limit does not count this time."""
        if not self.suspended or not self.start:
            return 0.0
        ran = self.ran_before + (0.0 if self.state == "SUSPENDED" else max(0.0, now - self.suspended))
        return max(0.0, now - self.start - ran)

    @property
    def ran(self) -> bool:
        """True if a finished job ever ran."""
        return bool(self.nodes) and self.start > 0


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node: name, processors, whether jobs may start on it, partitions, memory in bytes, and host."""

    name: str
    procs: int
    up: bool
    partitions: tuple[str, ...]
    memory: int = 0
    host: str = ""


def read_jobs(text: str) -> list[JobRow]:
    """Parse the jobs of ``squeue --json``, sorted by number.

    Raises
    ------
    BatchError
        Slurm reports an error, or the text is not the output of Slurm 22.05; the message names the missing field.
    """
    return sorted(_read(text, "squeue", "jobs", _job), key=lambda row: row.job)


def read_nodes(text: str) -> list[NodeRow]:
    """Parse the nodes of ``sinfo --json``.

    Raises
    ------
    BatchError
        See :func:`read_jobs`.
    """
    return _read(text, "sinfo", "nodes", _node)


_Row = TypeVar("_Row")


def _read(text: str, command: str, field: str, read: Callable[[Mapping[str, Any]], _Row]) -> list[_Row]:
    try:
        tree = json.loads(text)
        errors, rows = tree.get("errors") or [], tree[field]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise BatchError(f"{command} --json: cannot be read: {type(error).__name__}: {error}") from error
    if errors:
        # Without its controller, Slurm 22.05 lists no jobs and exits with status 0; only this field has the error.
        raise BatchError(f"{command} --json: {_messages(errors)}")
    try:
        return [read(row) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise BatchError(
            f"{command} --json: a row cannot be read: {type(error).__name__}: {error}; expected Slurm 22.05's format"
        ) from error


def _messages(errors: Iterable[Mapping[str, Any]]) -> str:
    return "; ".join(str(error.get("description") or error.get("error") or error) for error in errors)


def _job(row: Mapping[str, Any]) -> JobRow:
    # An array that was cancelled before any task ran has no processors.
    procs = int(row["cpus"] or 0)
    per_node, per_cpu = row["memory_per_node"], row["memory_per_cpu"]
    limit = row["time_limit"]
    state = str(row["job_state"])
    return JobRow(
        job=int(row["job_id"]),
        state=state,
        reason=str(row["state_reason"]),
        submit=float(row["submit_time"]),
        start=float(row["start_time"]),
        end=float(row["end_time"]),
        limit=math.inf if limit is None else float(limit) * 60.0,
        procs=procs,
        nodes=str(row["nodes"]),
        memory=(int(per_node or 0) * int(row["node_count"] or 0) or int(per_cpu or 0) * procs) << 20,
        name=str(row["name"]),
        comment=str(row["comment"]),
        user=str(row["user_name"]),
        partition=str(row["partition"]),
        held=state in _WAITS and row["priority"] == 0,
        restarts=int(row["restart_cnt"]),
        requeues=bool(row["requeue"]),
        many=bool(row["array_task_string"]) or bool(row["het_job_id"]),
        suspended=float(row["suspend_time"]),
        ran_before=float(row["pre_sus_time"]),
    )


def _node(row: Mapping[str, Any]) -> NodeRow:
    flags = {str(flag).upper() for flag in row["state_flags"]}
    up = str(row["state"]).lower() in ("idle", "allocated", "mixed") and not flags & _NOT_UP
    return NodeRow(
        str(row["name"]),
        int(row["cpus"]),
        up,
        tuple(str(name) for name in row["partitions"]),
        int(row.get("real_memory") or 0) << 20,
        str(row.get("hostname") or ""),
    )
