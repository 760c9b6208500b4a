"""Small tasks on workers, as arrays: tasks, workers with two queues each, and what schedulers know of them.

A *node* is an entry of a queue. With a policy that binds at once, node i is task i. With late binding, nodes are the
reservations of tasks, ``copies`` for each; a reservation takes a task of its job when it reaches the head of its
queue. Benchmark tasks have nodes of their own, behind the others, and wait in the low-priority queue of a worker.
Queues are linked lists through ``after``, so that none has a capacity.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch.compiled import BENCHMARK, BIND, CHANGED, CHOOSE, COMPLETED
from windlass.jit import inlined
from windlass.jit.schema import column
from windlass.sim.events.tree import EventTree
from windlass.sim.nodes import Nodes
from windlass.sim.workers.scalars import NONE as NONE
from windlass.sim.workers.scalars import PolicyExchange as PolicyExchange
from windlass.sim.workers.scalars import WorkersProgress as WorkersProgress
from windlass.sim.workers.scalars import WorkersSettings as WorkersSettings

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Records = NDArray[np.void]

#: Returned in place of a time: the reservation's job has no task left. (A stalled task ends at infinity.)
NEVER = -1.0
#: In place of the end of a task that was refused.
REFUSED_END = -np.inf
#: Reasons why a worker is down, one bit each: a failure in its timetable, or a node without cores.
FAILED, NO_CORES = 1, 2

#: A worker, in 64 bytes, so that an event waits for one cache line and not for three.
#: ``running``: the node that runs, or NONE. ``down``: reasons why the worker is down. ``head``, ``tail``, ``low_head``,
#: ``low_tail``: ends of its two queues; NONE as the head of an empty queue, the tail of which is not used. ``speed``,
#: work/s. ``work_left``: work of the running node that was left at the time ``since``, s. ``started``: when that node
#: started, s. Both times are in the future while the worker fetches its task. ``first_seconds``: how long the first
#: node in the queue will take, s; infinity if the queue is empty.
LINE = np.dtype(
    [(name, np.int32) for name in ("running", "down", "head", "tail", "low_head", "low_tail")]
    + [(name, np.float64) for name in ("speed", "work_left", "since", "started", "first_seconds")]
)

#: An entry of the log, due at ``time``, s: the queue ``length`` of a ``worker``, if ``sender`` is NONE, which a task of
#: the scheduler ``sent_by`` has made longer, or none; the number ``length`` of unbound tasks of the scheduler
#: ``sender``, if ``worker`` is NONE; else a task of ``sender`` that this worker completed, with its ``work`` and its
#: duration ``seconds``. Entries are small, because the loop cycles through the whole ring.
LOG_ENTRY = np.dtype(
    [(name, np.int32) for name in ("worker", "length", "sender", "sent_by")]
    + [(name, np.float64) for name in ("time", "work", "seconds")],
    align=True,
)


#: A task that a site refused and that goes to another one: it arrives at ``time``, s, ``delay`` after the refusal, and
#: has ``work``. ``home``, ``rank``: address of the part of its home site, and that part's number in the group. ``own``:
#: its number there. ``place``: which of the home's ``targets`` it goes to. ``here``: its number where it arrived, or
#: NONE. ``after``: the guest that arrives next.
GUEST = np.dtype(
    [(name, np.float64) for name in ("time", "delay", "work")]
    + [(name, np.int64) for name in ("home", "rank", "own", "place", "targets", "here", "after")]
)


class WorkersState(NamedTuple):
    """State of the part.

    Axes that may be empty: ``recorded``, as long as ``tasks`` if starts are recorded; ``senders``, the same for several
    schedulers; ``views``, schedulers that add what they sent; ``bound_tasks``, ``jobs``, ``reservations``, for late
    binding; ``low_nodes``, nodes of benchmark tasks; ``log``, if probes take time; ``rates``, if rates are estimated;
    ``tasks_ahead``, if workers request tasks ahead; ``own_tasks``, ``own_senders``, ``origins``, ``guests``,
    ``outbox``, ``targets``, ``group``, if the part spills tasks: ``tasks`` then includes the most guests that may come.
    """

    tree: EventTree  # when each worker completes its task
    settings: Annotated[_Records, WorkersSettings]
    progress: Annotated[_Records, WorkersProgress]
    exchange: Annotated[_Records, PolicyExchange]
    line: Annotated[_Records, column("workers", dtype=LINE)]
    base: Annotated[_Floats, column("workers")]  # speed on an idle node, work/s
    share: Annotated[_Floats, column("workers", fill=1.0)]  # share of ``base`` that the node leaves
    low_count: Annotated[_Ints, column("workers")]  # benchmark tasks that wait
    length: Annotated[_Ints, column("workers")]  # tasks, waiting and running
    known_length: Annotated[
        _Ints, column("workers")
    ]  # ``length`` as schedulers know it; may be the same array
    seen_length: Annotated[_Ints, column("views", "workers")]  # known lengths plus what the scheduler sent
    after: Annotated[NDArray[np.int32], column("nodes")]  # next node in the queue, or NONE
    submit: Annotated[_Floats, column("tasks")]  # arrival, s
    work: Annotated[_Floats, column("tasks")]  # work, in the unit of speeds times s
    end: Annotated[_Floats, column("tasks", fill=np.nan)]  # end, s; REFUSED_END if it was refused
    start: Annotated[
        _Floats, column("recorded", fill=np.nan)
    ]  # start of the run, s; NaN if it lost its worker
    worker: Annotated[_Ints, column("recorded", fill=NONE)]  # worker of the last run
    sender: Annotated[_Ints, column("senders")]  # scheduler of each task
    job: Annotated[_Ints, column("bound_tasks")]  # job of each task
    next_task: Annotated[_Ints, column("jobs")]  # the job's next task without a worker
    end_task: Annotated[_Ints, column("jobs")]  # the number after that of the job's last task
    bound: Annotated[_Ints, column("reservations", fill=NONE)]  # task that the reservation took
    arrives: Annotated[_Floats, column("tasks_ahead")]  # when a task that was requested ahead arrives, s
    unbound: Annotated[_Ints, column("schedulers")]  # tasks that wait with each scheduler
    known_unbound: Annotated[_Ints, column("schedulers")]  # ``unbound`` as the other schedulers know it
    low_work: Annotated[_Floats, column("low_nodes")]  # work of a benchmark task
    low_sender: Annotated[_Ints, column("low_nodes")]  # its scheduler
    change_time: Annotated[_Floats, column("changes")]  # timetable, in order of time, s
    change_kind: Annotated[_Ints, column("changes")]  # a constant of :mod:`windlass.model.timetable`
    change_worker: Annotated[_Ints, column("changes")]
    change_value: Annotated[_Floats, column("changes")]  # new speed, work/s
    log: Annotated[_Records, column("log", dtype=LOG_ENTRY)]  # a ring
    ints: Annotated[_Ints, column("schedulers", "ints")]  # see :mod:`windlass.dispatch.state`
    floats: Annotated[_Floats, column("schedulers", "floats")]  # see :mod:`windlass.dispatch.state`
    longest: Annotated[_Ints, column("samples")]  # tasks at the worker with most
    waiting: Annotated[_Ints, column("samples")]  # tasks at all workers, waiting and running
    estimates: Annotated[_Floats, column("samples", "rates")]  # rates estimated by the first scheduler
    own_submit: Annotated[_Floats, column("own_tasks")]  # arrival of the part's own tasks, s
    own_work: Annotated[_Floats, column("own_tasks")]
    own_sender: Annotated[_Ints, column("own_senders")]
    origin: Annotated[_Ints, column("origins")]  # number in the own workload, or -1 - number of the guest
    guest: Annotated[_Records, column("guests", dtype=GUEST)]  # in the order of delivery
    outbox: Annotated[_Records, column("outbox", dtype=GUEST)]
    target: Annotated[_Ints, column("targets")]  # addresses of the parts to which tasks are spilled
    group: Annotated[_Ints, column("group")]  # addresses of the other parts that spill to each other


class WorkersRun(NamedTuple):
    """Workers, the functions of their policy, and the ledger of nodes."""

    choose: Annotated[object, CHOOSE]
    completed: Annotated[object, COMPLETED]
    changed: Annotated[object, CHANGED]
    benchmark: Annotated[object, BENCHMARK]
    bind: Annotated[object, BIND]
    nodes: Nodes
    worker_of: Annotated[_Ints, column("rows", fill=NONE)]  # worker on each row of the ledger
    state: WorkersState


@inlined
def real_nodes(state):
    """Return the number of nodes of real tasks, which is the first node of a benchmark task."""
    return len(state.after) - len(state.low_work)


@inlined
def task_of(state, node):
    """Return the task of a node; with late binding, the task that it took."""
    return state.bound[node] if state.settings[0].late_binding != 0 else node
