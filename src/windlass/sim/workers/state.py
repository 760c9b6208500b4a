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
from windlass.jit.schema import Scalars, column
from windlass.sim.events.tree import EventTree
from windlass.sim.nodes import Nodes

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Records = NDArray[np.void]

#: No node, task, worker or event.
NONE = -1
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


class WorkersSettings(Scalars):
    """Settings of a simulation, which do not change; 1 for true.

    Attributes
    ----------
    probe_delay
        Age of the queue lengths and completions that schedulers know, s.
    fetch_delay
        How long a worker waits for a task that it fetches with a reservation, s; 0 without late binding.
    least_share
        Least share of its speed that a worker keeps while its node has cores.
    count_sent
        Whether a scheduler adds what it sent within the probe delay to the lengths that it knows.
    late_binding
        Whether nodes are reservations.
    central
        Whether tasks wait with their schedulers, see :mod:`windlass.sim.workers.central`.
    waits
        Whether tasks wait until a worker takes them: with reservations, or with their schedulers.
    requests_ahead
        Whether busy workers then request their next tasks ahead. False if fetching takes no time.
    copies
        Reservations of each task; 1 without late binding.
    low_room
        Benchmark tasks that may wait at one worker.
    record
        Whether the worker and the start of each task are stored.
    sizes_hidden
        Whether policies get 1 in place of the work of each task that is complete.
    python_policy
        Whether the policy is called in Python, outside of the loop.
    part
        The part's number in the ledger; -1 if it keeps no cores.
    kept
        Share of each node's cores that it keeps.
    refusing_at
        Place in a scheduler's ``ints`` of a number that is not 0 while tasks that arrive are refused; -1 if its policy
        never refuses.
    """

    probe_delay: float
    fetch_delay: float
    least_share: float
    count_sent: int
    late_binding: int
    central: int
    waits: int
    requests_ahead: int
    copies: int = 1
    low_room: int
    record: int
    sizes_hidden: int
    python_policy: int
    part: int = -1
    kept: float
    refusing_at: int = NONE


class WorkersProgress(Scalars):
    """Clock, counters, and the ends of lists.

    Attributes
    ----------
    now
        Time, s.
    arrived, completed, last_task
        Tasks that have arrived, which is the number of the next one; tasks complete or refused; the last complete one.
    refused
        Tasks that were refused.
    workers_up
        Workers that are not down.
    unbound, known_unbound
        Tasks that wait with all schedulers; as schedulers know it.
    idle
        Workers that are up and run nothing, if tasks wait with their schedulers.
    waiting_head, waiting_tail
        First and last task that waits with its scheduler.
    longest_queue
        Most tasks that one worker had at any time.
    benchmarks, dropped
        Benchmark tasks complete; those dropped because their queue was full or their worker failed.
    moved
        Nodes that lost their worker and were held again.
    next_change, next_sample
        Next row of the timetable, and of the samples.
    free_node
        First node that no benchmark task uses; the others follow in ``after``.
    held_head, held_tail
        First and last node held for dispatch.
    log_first, log_size
        First entry of the log, and the number of entries in use.
    settled
        Rows of the ledger's changed ones that are settled.
    """

    now: float
    arrived: int
    completed: int
    last_task: int
    refused: int
    workers_up: int
    unbound: int
    known_unbound: int
    idle: int
    waiting_head: int = NONE
    waiting_tail: int = NONE
    longest_queue: int
    benchmarks: int
    dropped: int
    moved: int
    next_change: int
    next_sample: int
    free_node: int = NONE
    held_head: int = NONE
    held_tail: int = NONE
    log_first: int
    log_size: int
    settled: int


class PolicyExchange(Scalars):
    """Arguments that the loop passes to a policy in Python, and its answer.

    Attributes
    ----------
    chosen
        Worker that the policy chose for the next task; NONE until it has.
    worker
        Worker of a completion or a change. In compiled policies too, a choice that is not a worker that is up.
    event
        Change of that worker: ``LEFT`` or ``JOINED`` of :mod:`windlass.dispatch.state`.
    work, seconds
        Work of the completed task, and its duration, s.
    """

    chosen: int = NONE
    worker: int
    event: int
    work: float
    seconds: float


class WorkersState(NamedTuple):
    """State of the part.

    Axes that may be empty: ``recorded``, as long as ``tasks`` if starts are recorded; ``senders``, the same for several
    schedulers; ``views``, schedulers that add what they sent; ``bound_tasks``, ``jobs``, ``reservations``, for late
    binding; ``low_nodes``, nodes of benchmark tasks; ``log``, if probes take time; ``rates``, if rates are estimated;
    ``tasks_ahead``, if workers request tasks ahead.
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
