"""Pressure on a node during a step: the load from its tasks and from the cores that neighbours hold.

A node runs one task at a time, on all of its cores that no neighbour holds; other tasks wait. While neighbours hold
cores, the running task is ready to run on these too and does not, which counts as CPU Ready. A node with part of its
cores is measured against the cores that it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.admit.site import SiteTasks
from windlass.jit import Kernel, inlined
from windlass.jit.schema import Scalars, allocate, column, grown, numba_type
from windlass.sim.handle import Handle, opening, storing
from windlass.sim.telemetry.cores import StepCores

Floats = NDArray[np.float64]

#: Names of the channels of pressure, in the order that models of metrics use.
CHANNELS = ("busy", "queue", "ready", "memory", "network")
#: Share of a node's memory that a task uses, and that neighbours use if they hold all of its cores.
TASK_MEMORY, NEIGHBOUR_MEMORY = 1 / 32, 0.5


def _queued(head, after, at):
    for worker in range(len(head)):
        node = np.int64(head[worker])
        while node >= 0:
            at[node] = worker
            node = np.int64(after[node])
    return 0


#: Set the worker of each waiting task, from the first task of each queue and the next task of each.
QUEUED = Kernel(_queued, types.int64(types.int32[::1], types.int32[::1], types.int64[::1]), allocates=False)


@dataclass(frozen=True, slots=True, eq=False)
class Pressure:
    """Pressure on n nodes during one step.

    Parameters
    ----------
    busy
        (n,) share of the cores' time that tasks and neighbours used.
    queue
        (n,) mean number of tasks per core, waiting and running.
    ready
        (n,) CPU Ready: time in which tasks were ready and had no core, divided by the time of all cores.
    memory
        (n,) share of the node's memory in use, 0 to 1.
    network
        (n,) tasks that arrived, divided by the number that the node could run in the same time.
    tasks
        The nodes' tasks.
    """

    busy: Floats
    queue: Floats
    ready: Floats
    memory: Floats
    network: Floats
    tasks: SiteTasks

    def channels(self) -> Floats:
        """Return (n, 5) the pressure, in the order of :data:`CHANNELS`."""
        return np.array([self.busy, self.queue, self.ready, self.memory, self.network]).T.copy()


class TaskCounts(Scalars):
    """``unfinished``: tasks in ``PressureState.unfinished``. ``arrived``: tasks that had arrived at the last step."""

    unfinished: int
    arrived: int


class PressureState(NamedTuple):
    """Unfinished tasks, and the sums of a step for each node."""

    unfinished: Annotated[NDArray[np.int64], column("room")]
    whole: Annotated[NDArray[np.int64], column("nodes")]  # cores at full capacity
    speed: Annotated[Floats, column("nodes")]  # speed while all of them are idle, work/s
    held: Annotated[Floats, column("nodes")]  # as in StepCores
    cores: Annotated[Floats, column("nodes")]
    up: Annotated[Floats, column("nodes")]
    runs: Annotated[Floats, column("nodes")]  # mean number of running tasks
    arrivals: Annotated[NDArray[np.int64], column("nodes")]
    started: Annotated[NDArray[np.int64], column("nodes")]
    busy: Annotated[Floats, column("nodes")]
    queue: Annotated[Floats, column("nodes")]
    ready: Annotated[Floats, column("nodes")]
    memory: Annotated[Floats, column("nodes")]
    network: Annotated[Floats, column("nodes")]
    in_flight: Annotated[Floats, column("nodes")]
    latency: Annotated[Floats, column("nodes")]
    least_latency: Annotated[Floats, column("nodes")]
    wait: Annotated[Floats, column("nodes")]
    least_wait: Annotated[Floats, column("nodes")]
    oldest: Annotated[Floats, column("nodes")]
    waiting: Annotated[NDArray[np.int64], column("nodes")]
    completed: Annotated[NDArray[np.int64], column("nodes")]
    counts: Annotated[NDArray[np.void], TaskCounts]


#: Results of a step: the channels, and the fields of :class:`~windlass.admit.site.SiteTasks`, in their order.
_FLOATS = (*CHANNELS, "in_flight", "latency", "least_latency", "wait", "least_wait", "oldest")
_NUMBERS = ("waiting", "completed")
_opened = opening(numba_type(PressureState))
STORE = storing(numba_type(PressureState))


@inlined
def _clear(state):
    for node in range(len(state.whole)):
        state.runs[node] = state.in_flight[node] = state.latency[node] = state.wait[node] = 0.0
        state.oldest[node] = 0.0
        state.least_latency[node] = state.least_wait[node] = np.inf
        state.arrivals[node] = state.started[node] = state.waiting[node] = state.completed[node] = 0


@inlined
def _add_task(state, node, begin, until, arrival, began, ended):
    """Add a task to the sums of its node; the sum of its time there is in ``in_flight`` until the end."""
    state.in_flight[node] += max(min(began, until) - max(arrival, begin), 0.0)
    state.runs[node] += max(min(ended, until) - max(began, begin), 0.0)
    # A task that a node took at the end of this step counts in the next, unless it ended at once.
    if arrival >= begin and (arrival < until or ended <= until):
        state.arrivals[node] += 1
    if began > until:
        state.waiting[node] += 1
        state.oldest[node] = max(state.oldest[node], until - arrival)
    elif began > begin:
        state.started[node] += 1
        state.wait[node] += began - arrival
        state.least_wait[node] = min(state.least_wait[node], began - arrival)
    if ended > begin and ended <= until:
        state.completed[node] += 1
        state.latency[node] += ended - arrival
        state.least_latency[node] = min(state.least_latency[node], ended - arrival)


@inlined
def _add_unfinished(state, begin, until, received, start, end, worker, arrived, at):
    counts = state.counts[0]
    for task in range(counts.arrived, arrived):
        state.unfinished[counts.unfinished + task - counts.arrived] = task
    left, total = 0, counts.unfinished + arrived - counts.arrived
    for place in range(total):
        task = state.unfinished[place]
        ended = np.inf if np.isnan(end[task]) else end[task]
        if ended > until:
            state.unfinished[left] = task
            left += 1
        runs = not np.isnan(start[task])
        node = worker[task] if runs else at[task]
        # A task that waits with its scheduler belongs to no node.
        if node >= 0:
            _add_task(state, node, begin, until, received[task], start[task] if runs else np.inf, ended)
    counts.unfinished, counts.arrived = left, arrived


def _measure(address, begin, until, received, start, end, worker, arrived, at):
    state = _opened(address)
    seconds = until - begin
    _clear(state)
    _add_unfinished(state, begin, until, received, start, end, worker, arrived, at)
    for node in range(len(state.whole)):
        waits, runs = state.in_flight[node] / seconds, state.runs[node] / seconds
        share, up = state.held[node], state.up[node]
        here, there = waits + runs, state.cores[node] if up > 0.0 else 1.0
        used = runs / up if up > 0.0 else runs
        state.in_flight[node] = here
        state.busy[node] = min(share + (1.0 - share) * used, 1.0)
        state.queue[node] = here / there
        state.ready[node] = (waits + runs * share) / there
        state.memory[node] = min(TASK_MEMORY * here + NEIGHBOUR_MEMORY * share, 1.0)
        state.network[node] = state.arrivals[node] / (
            seconds * state.speed[node] * (there / state.whole[node])
        )
        completed, started = state.completed[node], state.started[node]
        state.latency[node] = state.latency[node] / completed if completed > 0 else np.nan
        state.wait[node] = state.wait[node] / started if started > 0 else np.nan
        if completed == 0:
            state.least_latency[node] = np.nan
        if started == 0:
            state.least_wait[node] = np.nan
    return 0


_STEP, _TIMES, _PLACES = (types.int64, types.float64, types.float64), types.float64[::1], types.int64[::1]
#: Measure a step; the arguments after the address are those of :meth:`UnfinishedTasks.step`.
MEASURE = Kernel(
    _measure,
    types.int64(*_STEP, _TIMES, _TIMES, _TIMES, _PLACES, types.int64, _PLACES),
    allocates=False,
)


class UnfinishedTasks:
    """Tasks that have not ended, kept from step to step so that each step reads only few tasks; compiled.

    Parameters
    ----------
    cores, speed
        (n,) cores of each node, and its speed while all of them are idle, work/s.

    Examples
    --------
    >>> tasks = UnfinishedTasks(np.array([2]), np.array([1.0]))
    >>> submit, start, end = np.array([0.0, 1.0]), np.array([0.0, 3.0]), np.array([3.0, np.nan])
    >>> worker = np.array([0, 0])
    >>> cores = StepCores.whole(np.zeros(1), np.array([2]))
    >>> over = tasks.step(0.0, 4.0, submit, start, end, worker, 2, np.array([0, 0]), cores)
    >>> over.busy.tolist(), over.ready.tolist(), over.queue.tolist()
    ([1.0], [0.25], [0.75])
    """

    kernels = (STORE, MEASURE)

    def __init__(self, cores: NDArray[np.int64], speed: Floats) -> None:
        nodes = len(speed)
        # Rows of one array each, so that one copy has the results of a step.
        self._floats, self._numbers = (
            np.zeros((len(_FLOATS), nodes)),
            np.zeros((len(_NUMBERS), nodes), np.int64),
        )
        self._state = allocate(
            PressureState,
            {"nodes": nodes, "room": 64},
            whole=cores,
            speed=speed,
            **dict(zip(_FLOATS, self._floats, strict=True)),
            **dict(zip(_NUMBERS, self._numbers, strict=True)),
        )
        self._counts = TaskCounts.of(self._state.counts)
        self._handle, self._measure = Handle(self._state, STORE), MEASURE.ready()

    @property
    def unfinished(self) -> NDArray[np.int64]:
        """The tasks that had arrived and not ended at the end of the last step."""
        return self._state.unfinished[: self._counts.unfinished]

    def step(
        self,
        begin: float,
        until: float,
        received: Floats,
        start: Floats,
        end: Floats,
        worker: NDArray[np.int64],
        arrived: int,
        at: NDArray[np.int64],
        cores: StepCores,
    ) -> Pressure:
        """Return the pressure during a step.

        Parameters
        ----------
        begin, until
            Start and end of the step, s.
        received, start, end, worker
            (t,) when a node received each task, its start and its end, s, and its worker. The start is NaN before the
            task runs, and after it has lost its worker; then its worker does not matter.
        arrived
            Number of tasks that have arrived.
        at
            (t,) node of each waiting task, or -1 if it waits with its scheduler; other entries are not used.
        cores
            The nodes' cores during the step.
        """
        state, counts = self._state, self._counts
        room = counts.unfinished + arrived - counts.arrived
        if room > len(state.unfinished):
            self._state = state = grown(state, room=2 * room)
            self._handle.refill(state)
        state.held[:], state.cores[:], state.up[:] = cores.held, cores.cores, cores.up
        self._measure(self._handle.address, begin, until, received, start, end, worker, arrived, at)
        floats, numbers = self._floats.copy(), self._numbers.copy()
        busy, queue, ready, memory, network, in_flight, *times = floats
        tasks = SiteTasks(in_flight, *numbers, *times)
        return Pressure(busy, queue, ready, memory, network, tasks)
