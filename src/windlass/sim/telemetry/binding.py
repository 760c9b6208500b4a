"""How the nodes' answers reach tasks: at the choice of a node, or when a node takes a task that waits; compiled.

If dispatch binds at once, tasks are sent to a node when they arrive, which accepts or rejects them.

If it binds late, tasks wait until a node that accepts takes them, and a waiting task is at no node. A task counts when
it first starts: as accepted, or as forced if its node rejects, which happens only while all nodes reject.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.dispatch.compiled import CompiledDispatch
from windlass.dispatch.state import WORKERS
from windlass.jit import Kernel, helper, inlined
from windlass.jit.schema import Scalars, allocate, column, grown, numba_type
from windlass.sim.handle import Handle, opening
from windlass.sim.instants.calls import step_at
from windlass.sim.status import FIRST_OWN, FULL, REACHED
from windlass.sim.telemetry.answers import (
    ACCEPTED,
    DIVERTED,
    FORCED,
    LIMITED,
    LIMITS,
    NO_LIMIT,
    Counts,
    gate_at,
)
from windlass.sim.telemetry.late_gate import UPDATE
from windlass.sim.workers.membership import SEND_WAITING
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.state import REFUSED_END, WorkersProgress, WorkersRun

#: Waiting tasks must still be sent; the log of the workers is full.
SENDING = FIRST_OWN
_workers_at = opening(numba_type(WorkersRun))
_update_members = helper(UPDATE.python)


class BindingCounts(Scalars):
    """Where the workers are, and tasks by answer under late binding.

    ``workers``: address of the workers' state. ``send``: address of the function that sends waiting tasks; 0 if
    dispatch binds at once. ``arrived``: tasks that had arrived at the last count. ``waiting``: of these, those that had
    not started. ``started``: those that had. ``forced``: those that a node which rejects had started.
    """

    workers: int
    send: int
    arrived: int
    waiting: int
    started: int
    forced: int


class BindingState(NamedTuple):
    """The answers, and the tasks by answer."""

    limits: Annotated[NDArray[np.int64], column("nodes", fill=NO_LIMIT)]  # most tasks at once
    rejects: Annotated[NDArray[np.bool_], column("nodes")]  # whether each node rejects all tasks now
    at: Annotated[NDArray[np.int64], column("tasks", fill=-1)]  # node of each waiting task, or -1
    waiting: Annotated[NDArray[np.int64], column("room")]  # tasks that had not started at the last count
    tasks: Annotated[
        NDArray[np.int64], column(4)
    ]  # accepted, diverted, forced and refused ones, at the last count
    counts: Annotated[NDArray[np.void], BindingCounts]


_STATE_TYPE = numba_type(BindingState)
opened = opening(_STATE_TYPE)


@inlined
def workers_of(binding):
    """Return the state of the workers."""
    return _workers_at(binding.counts[0].workers).state


@inlined
def binds_late(binding):
    """Return whether a task waits until a node takes it."""
    return binding.counts[0].send != 0


@inlined
def place_waiting(binding, state, tasks, count):
    """Set the node at which each task waits; ``tasks`` may have lost their nodes since they were placed."""
    if binds_late(binding):
        return
    for place in range(count):
        binding.at[tasks[place]] = -1
    for worker in range(len(state.line)):
        node = np.int64(state.line[worker].head)
        while node >= 0:
            binding.at[node] = worker
            node = np.int64(state.after[node])


@inlined
def can_count(binding, state):
    """Return whether there is room for the tasks that have arrived since the last count."""
    counts = binding.counts[0]
    new = state.progress[0].arrived - counts.arrived
    return not binds_late(binding) or counts.waiting + new <= len(binding.waiting)


@inlined
def _count_started(binding, state):
    """Count the tasks that have started since the last count, under the same answers."""
    counts, arrived = binding.counts[0], state.progress[0].arrived
    for task in range(counts.arrived, arrived):
        binding.waiting[counts.waiting + task - counts.arrived] = task
    total, left = counts.waiting + arrived - counts.arrived, 0
    for place in range(total):
        task = binding.waiting[place]
        node = state.worker[task]
        if node < 0:
            binding.waiting[left] = task
            # A task that was refused waits no more.
            left += state.end[task] != REFUSED_END
        else:
            counts.started += 1
            counts.forced += 1 if binding.rejects[node] else 0
    counts.waiting, counts.arrived = left, arrived


@inlined
def count_tasks(binding, state):
    """Count the tasks by answer until now."""
    tasks = binding.tasks
    tasks[3] = state.progress[0].refused
    if binds_late(binding):
        _count_started(binding, state)
        counts = binding.counts[0]
        tasks[0], tasks[1], tasks[2] = counts.started - counts.forced, 0, counts.forced
        return
    tasks[0] = tasks[1] = tasks[2] = 0
    for row in range(len(state.ints)):
        ints = state.ints[row]
        gate = gate_at(ints)
        tasks[0] += ints[gate + ACCEPTED]
        tasks[1] += ints[gate + DIVERTED]
        tasks[2] += ints[gate + FORCED]


@inlined
def _set_answers(ints, limits):
    """Set the answers in the state of one scheduler's policy."""
    gate, limited = gate_at(ints), 0
    for node in range(ints[WORKERS]):
        ints[gate + LIMITS + node] = limits[node]
        limited += 1 if limits[node] < NO_LIMIT else 0
    ints[gate + LIMITED] = limited


@inlined
def set_limits(binding, state, now):
    """Let the nodes answer with their limits; return SENDING if waiting tasks must still be sent, else REACHED.

    If a task waits until a node takes it, and the answers change which nodes take tasks, what waits is offered or
    placed anew.
    """
    updated = 0
    for row in range(len(state.ints)):
        _set_answers(state.ints[row], binding.limits)
        if binds_late(binding):
            updated |= _update_members(state.ints[row])
    for node in range(len(binding.limits)):
        binding.rejects[node] = binding.limits[node] == 0
    if updated != 0:
        counts = binding.counts[0]
        if step_at(counts.send)(counts.workers, now) == FULL:
            return SENDING
    return REACHED


def _answer(address, now):
    binding = opened(address)
    state = workers_of(binding)
    if not can_count(binding, state):
        return FULL
    count_tasks(binding, state)
    return set_limits(binding, state, now)


def _count(address):
    binding = opened(address)
    state = workers_of(binding)
    if not can_count(binding, state):
        return FULL
    count_tasks(binding, state)
    return REACHED


#: Count the tasks by answer, and set new answers; return FULL, SENDING or REACHED.
ANSWER = Kernel(_answer, types.int64(types.int64, types.float64), allocates=False)
#: Count the tasks by answer; return FULL or REACHED.
COUNT = Kernel(_count, types.int64(types.int64), allocates=False)


class Binding:
    """Binding of tasks to nodes under a gated policy.

    Parameters
    ----------
    workers
        Workers under a gated policy, with starts and workers of tasks recorded.
    """

    #: Those of the state and of :meth:`counts`; a caller of :meth:`answer` uses :data:`ANSWER` as well.
    kernels: tuple[Kernel, ...] = (COUNT,)

    def __init__(self, workers: WorkersPart) -> None:
        self._workers, self._progress = workers, WorkersProgress.of(workers.state.progress)
        tasks, nodes = len(workers.state.submit), len(workers.state.base)
        self._state = allocate(BindingState, {"nodes": nodes, "tasks": tasks, "room": 64})
        self._counts = BindingCounts.of(self._state.counts)
        self._counts.workers = workers.entries().address
        self._counts.send = SEND_WAITING.as_argument().entry if workers.binds_late else 0
        self._handle = Handle(self._state, _STATE_TYPE)

    @property
    def address(self) -> int:
        """Address of the state, for compiled code."""
        return self._handle.address

    @property
    def limits(self) -> NDArray[np.int64]:
        """(n,) most tasks that each node has at once, to be set before an answer."""
        return self._state.limits

    @property
    def at(self) -> NDArray[np.int64]:
        """(t,) node of each waiting task, or -1 if it waits with its scheduler; other entries have no meaning."""
        return self._state.at

    def make_room(self) -> None:
        """Make room for the tasks that wait when they are counted next."""
        room = self._counts.waiting + self._progress.arrived - self._counts.arrived
        if self._counts.send != 0 and room > len(self._state.waiting):
            self._state = grown(self._state, room=2 * room)
            self._handle.refill(self._state)

    def answer(self, limits: NDArray[np.int64], now: float) -> None:
        """Let nodes answer: ``limits`` is (n,) most tasks that each has at once from ``now`` (s) on."""
        self.make_room()
        self._state.limits[:] = limits
        self.complete(ANSWER.entry()(self.address, now), now)

    def complete(self, status: int, now: float) -> None:
        """Send the tasks that must still be sent after an answer with this status."""
        if status == SENDING:
            self._workers.send_waiting(now)

    def counts(self) -> Counts:
        """Return the tasks by answer until now."""
        self.make_room()
        COUNT.entry()(self.address)
        return Counts(*self._state.tasks.tolist())


def binding_kernels(policy: CompiledDispatch) -> tuple[Kernel, ...]:
    """Return the compiled functions that only some gated policies need.

    Parameters
    ----------
    policy
        The gated policy.
    """
    return (SEND_WAITING,) if policy.binds_late else ()
