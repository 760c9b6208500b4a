"""Small tasks on workers, as arrays: tasks, workers with two lanes each, and what schedulers see.

A *node* stands in a queue. With a policy that binds at once, node i is task i. With late binding, nodes are the
reservations of tasks, ``copies`` for each, and a node takes the next task of its job when its turn comes, or of its
scheduler where reservations are pooled: a *job* is then all that comes to one scheduler. Benchmark
tasks have nodes of their own, behind the others. Queues are linked through ``after``, so that none has a capacity.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.dispatch.compiled import BENCHMARK, BIND, CHANGED, CHOOSE, COMPLETED
from windlass.jit import inlined
from windlass.sim.events.tree import TREE, EventTree
from windlass.sim.nodes import NODES, Nodes
from windlass.sim.workers import slots

NOBODY = -1
#: Where a time would be, for a task that is not there; infinity is the time of one that stands still.
NEVER = -1.0
#: And for one that the worker is not to take, as the policy has it.
PASSED = -2.0
#: Why a worker is down, bit by bit: its timetable says so; its node has no cores.
FAILED, NO_CORES = 1, 2

#: What is known of a worker, in 64 bytes side by side, so that an event waits for one cache line and not for three:
#: the node in hand, its queue, the low lane's queue; work/s, work left of the node in hand and the time it was left
#: at, when that node began, and how long the queue's first will take, s (see :func:`expect`).
LINE = np.dtype(
    [(name, np.int32) for name in ("running", "down", "head", "tail", "low_head", "low_tail")]
    + [(name, np.float64) for name in ("speed", "work_left", "since", "started", "first_seconds")]
)


class WorkersState(NamedTuple):
    """State of the part; n workers, t tasks, k schedulers.

    ``tree``: completions. ``clock``, ``counts``: numbers, see :mod:`~windlass.sim.workers.slots`. ``line`` (n,):
    workers, see :data:`LINE`. ``base``, ``share`` (n,): work/s of each on its whole node, and the share of it that the
    node leaves it, of which its speed is the product. ``low_count`` (n,): how many wait in the low lane. ``length``
    (n,): tasks at each, waiting and running; ``seen``: the same as schedulers see it, the very array where probes take
    no time.
    ``after``: next node in a queue. ``submit``, ``work``, ``end``, ``start``, ``worker``, ``sender`` (t,): tasks.
    ``job``, ``next_task``, ``last_task``: for late binding. ``bound``: task of a node with late binding.
    ``following`` (t,): the scheduler's next task, where reservations stand for any. ``unbound`` (k,): tasks that
    came and that no worker has yet, with late binding.
    ``low_work``, ``low_sender``: benchmark tasks. ``change_*``: the timetable, in the order of time. ``log_*``: what
    schedulers will see once the probe delay has passed. ``ints``, ``floats`` (k, …): the policy's. ``longest``,
    ``waiting``, ``estimates``: samples.
    """

    tree: EventTree
    clock: NDArray[np.float64]
    counts: NDArray[np.int64]
    line: NDArray[np.void]
    base: NDArray[np.float64]
    share: NDArray[np.float64]
    low_count: NDArray[np.int64]
    length: NDArray[np.int64]
    seen: NDArray[np.int64]
    after: NDArray[np.int32]
    submit: NDArray[np.float64]
    work: NDArray[np.float64]
    end: NDArray[np.float64]
    start: NDArray[np.float64]
    worker: NDArray[np.int64]
    sender: NDArray[np.int64]
    job: NDArray[np.int64]
    next_task: NDArray[np.int64]
    last_task: NDArray[np.int64]
    bound: NDArray[np.int64]
    following: NDArray[np.int64]
    unbound: NDArray[np.int64]
    low_work: NDArray[np.float64]
    low_sender: NDArray[np.int64]
    change_time: NDArray[np.float64]
    change_kind: NDArray[np.int64]
    change_worker: NDArray[np.int64]
    change_value: NDArray[np.float64]
    log_time: NDArray[np.float64]
    log_item: NDArray[np.int64]
    log_value: NDArray[np.float64]
    ints: NDArray[np.int64]
    floats: NDArray[np.float64]
    longest: NDArray[np.int64]
    waiting: NDArray[np.int64]
    estimates: NDArray[np.float64]


_I, _F, _I2, _F2 = types.int64[::1], types.float64[::1], types.int64[:, ::1], types.float64[:, ::1]
_TYPES = {
    "tree": TREE,
    "after": types.int32[::1],
    "line": types.Array(numba.from_dtype(LINE), 1, "C"),
    **dict.fromkeys(
        (
            "clock",
            "base",
            "share",
            "submit",
            "work",
            "end",
            "start",
            "low_work",
            "change_time",
            "change_value",
        ),
        _F,
    ),
    **dict.fromkeys(("log_value", "floats", "estimates"), _F2),
    **dict.fromkeys(("log_item", "ints"), _I2),
    "log_time": _F,
}
WORKERS_STATE = types.NamedTuple([_TYPES.get(field, _I) for field in WorkersState._fields], WorkersState)


class WorkersRun(NamedTuple):
    """Workers with their policy's functions, and the ledger; ``worker_of`` (rows,): the worker of a row, or NOBODY."""

    choose: object
    completed: object
    changed: object
    benchmark: object
    bind: object
    nodes: Nodes
    worker_of: NDArray[np.int64]
    state: WorkersState


WORKERS_RUN = types.NamedTuple(
    [
        *(types.FunctionType(kind) for kind in (CHOOSE, COMPLETED, CHANGED, BENCHMARK, BIND)),
        NODES,
        _I,
        WORKERS_STATE,
    ],
    WorkersRun,
)


@inlined
def real_nodes(state):
    """Nodes from this one on are benchmark tasks."""
    return len(state.after) - len(state.low_work)


@inlined
def task_of(state, node):
    """The task that a node stands for; with late binding, the one it took."""
    return state.bound[node] if state.counts[slots.BINDS_LATE] != 0 else node
