"""Pressure on a node during a step: the load from its tasks and from the cores that neighbours hold.

A node runs one task at a time, on all of its cores that no neighbour holds; other tasks wait. While neighbours hold
cores, the running task is ready to run on these too and does not, which counts as CPU Ready. A node with part of its
cores is measured against the cores that it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.admit.site import SiteTasks
from windlass.jit import Kernel
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


def _mean_and_least(node: NDArray[np.int64], values: Floats, nodes: int) -> tuple[Floats, Floats]:
    """Return (n,) mean and least of each node's values; NaN for a node without any."""
    count, least = np.bincount(node, minlength=nodes), np.full(nodes, np.inf)
    np.minimum.at(least, node, values)
    mean = np.bincount(node, values, nodes) / np.where(count > 0, count, 1)
    return np.where(count > 0, mean, np.nan), np.where(count > 0, least, np.nan)


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
        return np.stack([self.busy, self.queue, self.ready, self.memory, self.network], axis=1)


class UnfinishedTasks:
    """Tasks that have not ended, kept from step to step so that each step reads only few tasks.

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

    def __init__(self, cores: NDArray[np.int64], speed: Floats) -> None:
        self._cores, self._speed = cores.astype(np.float64), speed
        self._open: NDArray[np.int64] = np.zeros(0, np.int64)
        self._arrived = 0

    @property
    def unfinished(self) -> NDArray[np.int64]:
        """The tasks that had arrived and not ended at the end of the last step."""
        return self._open

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
        seconds, held = until - begin, cores.held
        tasks = np.concatenate([self._open, np.arange(self._arrived, arrived)])
        node = np.where(np.isnan(start[tasks]), at[tasks], worker[tasks])
        self._open, self._arrived = tasks[~(end[tasks] <= until)], arrived
        # A task that waits with its scheduler belongs to no node.
        tasks, node = tasks[node >= 0], node[node >= 0]
        arrival, began, ended = received[tasks], start[tasks], end[tasks]
        began = np.where(np.isnan(began), np.inf, began)
        ended = np.where(np.isnan(ended), np.inf, ended)
        waited = np.clip(np.minimum(began, until) - np.maximum(arrival, begin), 0.0, None)
        ran = np.clip(np.minimum(ended, until) - np.maximum(began, begin), 0.0, None)
        nodes = len(held)
        waits, runs = (np.bincount(node, each, nodes) / seconds for each in (waited, ran))
        here = waits + runs
        # A task that a node took at the end of this step counts in the next, unless it ended at once.
        counted = (arrival >= begin) & ((arrival < until) | (ended <= until))
        arrivals = np.bincount(node[counted], minlength=nodes)
        ending = (ended > begin) & (ended <= until)
        starting = (began > begin) & (began <= until)
        still = began > until
        oldest = np.zeros(nodes)
        np.maximum.at(oldest, node[still], until - arrival[still])
        load = SiteTasks(
            here,
            np.bincount(node[still], minlength=nodes),
            np.bincount(node[ending], minlength=nodes),
            *_mean_and_least(node[ending], (ended - arrival)[ending], nodes),
            *_mean_and_least(node[starting], (began - arrival)[starting], nodes),
            oldest,
        )
        there = np.where(cores.up > 0.0, cores.cores, 1.0)
        return Pressure(
            tasks=load,
            busy=np.minimum(held + (1.0 - held) * (runs / np.where(cores.up > 0.0, cores.up, 1.0)), 1.0),
            queue=here / there,
            ready=(waits + runs * held) / there,
            memory=np.minimum(TASK_MEMORY * here + NEIGHBOUR_MEMORY * held, 1.0),
            network=arrivals / (seconds * self._speed * (there / self._cores)),
        )
