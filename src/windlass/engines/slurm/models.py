"""What Slurm says of its jobs and nodes, read from the JSON of its commands."""

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
#: Further words of that comment: it may share an allocation; it may be put back in the queue and begin again.
SHARES, RESTARTS = "share", "restart"
#: Why a job waits that an administrator holds; one that was submitted held, or that its user holds, says another word.
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
    """Where a job is: it waits, holds processors, or is over."""

    WAITS = "waits"
    RUNS = "runs"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job, as Slurm tells it.

    Parameters
    ----------
    job
        Slurm's number; of a task of an array, its own.
    state, reason
        Slurm's words, such as ``PENDING`` and ``JobHeldUser``.
    submit, start, end
        Unix times in whole seconds; 0 where there is none yet. A job that was put back was submitted then.
    limit
        The run time that it may have, s; infinity where there is no limit.
    procs
        Processors asked for, or held.
    nodes
        Where it runs, as Slurm writes it, such as ``n[1-4]``; empty where it does not.
    memory
        That it asked for on all its nodes, bytes; 0 where it asked for none.
    name, comment, user, partition
        As submitted.
    held
        Whether it waits for somebody to release it.
    restarts
        How often it was put back into the queue.
    requeues
        Whether it may be put back.
    many
        Whether it stands for several: an array that was not taken apart yet, or a heterogeneous job.
    suspended
        Unix time at which it was last suspended or resumed; 0 where it never was.
    ran_before
        How long it had run then, s.
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
        """Whether it is held by an administrator, and nobody else may release it."""
        return self.held and self.reason == _BARRED

    @property
    def phase(self) -> Phase:
        """Where it is; one that completes holds its processors still."""
        if self.state in _OVER:
            return Phase.OVER
        return Phase.WAITS if self.state in _WAITS else Phase.RUNS

    @property
    def opted_in(self) -> bool:
        """Whether its user left it to Windlass to start."""
        return self.comment.split()[:1] == [OPT_IN] and not self.many

    @property
    def shares(self) -> bool:
        """Whether its user lets it share an allocation."""
        return self.opted_in and SHARES in self.comment.split()

    @property
    def may_restart(self) -> bool:
        """Whether its user, and Slurm, let it be put back in the queue."""
        return self.opted_in and RESTARTS in self.comment.split() and self.requeues

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self.state in ("CANCELLED", "REVOKED")

    def paused(self, now: float) -> float:
        """For how long it has been suspended since it started, s; a time limit does not count that."""
        if not self.suspended or not self.start:
            return 0.0
        ran = self.ran_before + (0.0 if self.state == "SUSPENDED" else max(0.0, now - self.suspended))
        return max(0.0, now - self.start - ran)

    @property
    def ran(self) -> bool:
        """Of one that is over: whether it ever ran."""
        return bool(self.nodes) and self.start > 0


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node: its name, processors, whether jobs may start on it, its partitions, its memory in bytes, and its host."""

    name: str
    procs: int
    up: bool
    partitions: tuple[str, ...]
    memory: int = 0
    host: str = ""


def read_jobs(text: str) -> list[JobRow]:
    """The jobs of ``squeue --json``, in the order of their numbers.

    Raises
    ------
    BatchError
        Slurm says that it could not look, or the text is not what Slurm 22.05 writes; names what is missing.
    """
    return sorted(_read(text, "squeue", "jobs", _job), key=lambda row: row.job)


def read_nodes(text: str) -> list[NodeRow]:
    """The nodes of ``sinfo --json``.

    Raises
    ------
    BatchError
        As of :func:`read_jobs`.
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
        # With the controller away, it tells of no jobs and ends as if all were well.
        raise BatchError(f"{command} --json: {_told(errors)}")
    try:
        return [read(row) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise BatchError(
            f"{command} --json: a row cannot be read: {type(error).__name__}: {error}; expected that of Slurm 22.05"
        ) from error


def _told(errors: Iterable[Mapping[str, Any]]) -> str:
    return "; ".join(str(error.get("description") or error.get("error") or error) for error in errors)


def _job(row: Mapping[str, Any]) -> JobRow:
    # An array that was cancelled before any of it ran has none.
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
