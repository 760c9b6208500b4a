"""The fields that Windlass reads in Slurm's JSON, in every spelling of Slurm 21.08 to 26.05.

Up to 22.05 a number is a number, and null if it is not set or unlimited; later ones are objects with flags. A state is
a word, or a list of a word and flags. All other fields are skipped without being parsed. A field without a default must
be there, so that a renamed field is an error and not a zero.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

import msgspec

#: Numbers of Slurm are whole, and float64 represents each of these.
Whole = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
#: From here on, a plain 32-bit number means "not set" or "unlimited".
_NO_VALUE = 0xFFFFFFFE
_PROCESSORS = re.compile(r"(?:^|,)cpu=([0-9]+)(?=,|$)")
#: Flags that replace the state, in the order in which Slurm's text output prefers them.
_FLAGS = (
    "COMPLETING",
    "STAGE_OUT",
    "CONFIGURING",
    "RESIZING",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
    "REVOKED",
    "RESV_DEL_HOLD",
)


class FlaggedNumber(msgspec.Struct, gc=False):
    """A number that may be unset or infinite."""

    set: bool
    infinite: bool
    number: Whole


Number = Whole | FlaggedNumber | None
Text = str | None
States = str | list[str]


class JobShape(msgspec.Struct, gc=False):
    """A job of ``squeue --json``, ``scontrol show job --json`` or slurmrestd; times are Unix times or minutes.

    The fields are in Slurm's order, in which they are found fastest.
    """

    account: Text
    array_job_id: Number
    array_task_string: Text
    comment: Text
    cpus: Number
    end_time: Number
    het_job_id: Number
    job_id: Whole
    job_state: States
    name: Text
    nodes: Text
    node_count: Number
    partition: Text
    memory_per_cpu: Number
    memory_per_node: Number
    pre_sus_time: Number
    priority: Number
    qos: Text
    requeue: bool
    restart_cnt: Number
    start_time: Number
    state_reason: Text
    submit_time: Number
    suspend_time: Number
    time_limit: Number
    user_name: Text
    tres_req_str: Text = None
    tres_alloc_str: Text = None
    dependency: Text = None
    state_description: Text = None
    shared: Any = None


class NodeShape(msgspec.Struct, gc=False):
    """A node of ``scontrol show nodes --json`` or slurmrestd; up to 22.05, of ``sinfo --json``."""

    name: str
    state: States
    cpus: Whole
    partitions: list[str]
    state_flags: list[str] = []
    effective_cpus: Number = None
    real_memory: Number = None
    hostname: Text = None
    sockets: Whole = 0
    cores: Whole = 0
    threads: Whole = 1


class _NamesShape(msgspec.Struct, gc=False):
    nodes: list[str]
    hostnames: list[str] = []


class _StatesShape(msgspec.Struct, gc=False):
    state: States


class _RangeShape(msgspec.Struct, gc=False):
    minimum: Whole
    maximum: Whole


class _PartitionShape(msgspec.Struct, gc=False):
    name: Text = None


class NodeGroupShape(msgspec.Struct, gc=False):
    """A row of ``sinfo --json`` since 23.02: the nodes of a partition that have the same state."""

    node: _StatesShape
    nodes: _NamesShape
    cpus: _RangeShape
    memory: _RangeShape
    partition: _PartitionShape | None = None


class QueueShape(msgspec.Struct):
    """The output of ``squeue --json``."""

    jobs: list[JobShape] | None = None
    meta: Any = None
    errors: Any = None


class ClusterShape(msgspec.Struct):
    """The output of ``sinfo --json`` or ``scontrol show nodes --json``."""

    nodes: list[NodeShape] | None = None
    sinfo: list[NodeGroupShape] | None = None
    meta: Any = None
    errors: Any = None


def amount(value: int | FlaggedNumber | None) -> int:
    """Return a number; 0 if it is not set or infinite.

    >>> amount(7), amount(FlaggedNumber(True, False, 7)), amount(FlaggedNumber(False, True, 7)), amount(4294967294)
    (7, 7, 0, 0)
    """
    # The order of the tests matters: a long queue has a million of these.
    if type(value) is FlaggedNumber:
        return value.number if value.set and not value.infinite else 0
    return value if type(value) is int and value < _NO_VALUE else 0


def is_zero(value: int | FlaggedNumber | None) -> bool:
    """Return whether a number is set and 0.

    >>> is_zero(0), is_zero(None), is_zero(FlaggedNumber(False, False, 0))
    (True, False, False)
    """
    if isinstance(value, FlaggedNumber):
        return value.set and not value.infinite and value.number == 0
    return value == 0


def minutes(value: int | FlaggedNumber | None) -> float:
    """Return a number of minutes as s; infinity if it is unlimited or unknown.

    >>> minutes(2), minutes(None), minutes(FlaggedNumber(False, True, 0))
    (120.0, inf, inf)
    """
    if isinstance(value, int):
        return 60.0 * value if value < _NO_VALUE else math.inf
    if value is None or value.infinite or not value.set:
        return math.inf
    return 60.0 * value.number


def state_of(states: str | list[str]) -> str:
    """Return a job's state as Slurm's text output prints it; flags that do not change its phase are ignored.

    >>> state_of("PENDING"), state_of(["COMPLETED", "COMPLETING"]), state_of(["RUNNING", "SIGNALING"])
    ('PENDING', 'COMPLETING', 'RUNNING')
    """
    if isinstance(states, str):
        return states
    if len(states) == 1:
        return states[0]
    return next((flag for flag in _FLAGS if flag in states), states[0] if states else "UNKNOWN")


def processors_in(resources: str | None) -> int:
    """Return the processors in a list of trackable resources; 0 if it has none.

    >>> processors_in("cpu=22,mem=87054M,node=1,billing=22"), processors_in("")
    (22, 0)
    """
    found = _PROCESSORS.search(resources) if resources else None
    return int(found[1]) if found else 0
