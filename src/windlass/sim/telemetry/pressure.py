"""Pressure on a node during a step: the load from its tasks and from the cores that neighbours hold.

A node runs one task at a time, on all of its cores that no neighbour holds; other tasks wait. While neighbours hold
cores, the running task is ready to run on these too and does not, which counts as CPU Ready. A node with part of its
cores is measured against the cores that it has.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, inlined
from windlass.jit.schema import Scalars, column, numba_type
from windlass.sim.handle import opening

Floats = NDArray[np.float64]

#: Names of the channels of pressure, in the order that models of metrics use.
CHANNELS = ("busy", "queue", "ready", "memory", "network")
#: Share of a node's memory that a task uses, and that neighbours use if they hold all of its cores.
TASK_MEMORY, NEIGHBOUR_MEMORY = 1 / 32, 0.5


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


STATE_TYPE = numba_type(PressureState)
opened = opening(STATE_TYPE)


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


@inlined
def has_room(state, arrived):
    """Return whether there is room for the unfinished tasks of a step at whose end these many have arrived."""
    counts = state.counts[0]
    return counts.unfinished + arrived - counts.arrived <= len(state.unfinished)


@inlined
def measure(state, begin, until, received, start, end, worker, arrived, at):
    """Measure a step of nodes whose cores are in the state."""
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


def _measure(address, begin, until, received, start, end, worker, arrived, at):
    measure(opened(address), begin, until, received, start, end, worker, arrived, at)
    return 0


_STEP, _TIMES, _PLACES = (types.int64, types.float64, types.float64), types.float64[::1], types.int64[::1]
#: Measure a step; the arguments after the address are those of :meth:`.UnfinishedTasks.step`.
MEASURE = Kernel(
    _measure,
    types.int64(*_STEP, _TIMES, _TIMES, _TIMES, _PLACES, types.int64, _PLACES),
    allocates=False,
)
