"""What a node's tasks and neighbours did to it over a step: from when tasks came, began and ended, and from held cores.

A node runs one task at a time, on all of its cores that no neighbour holds; other tasks wait. A task that runs beside
neighbours has a share of the cores, and for the rest of them it could run and does not, as in CPU Ready.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel

Floats = NDArray[np.float64]

#: The channels of pressure, in the order in which models of metrics have them.
CHANNELS = ("busy", "queue", "ready", "memory", "network")
#: What a task holds of its node's memory, and what neighbours do that hold all of its cores.
TASK_MEMORY, NEIGHBOUR_MEMORY = 1 / 32, 0.5


def _queued(head, after, at):
    for worker in range(len(head)):
        node = np.int64(head[worker])
        while node >= 0:
            at[node] = worker
            node = np.int64(after[node])
    return 0


#: Writes down at which worker each waiting task is: of the first of each queue, what follows a task, and (t,) places.
QUEUED = Kernel(_queued, types.int64(types.int32[::1], types.int32[::1], types.int64[::1]), allocates=False)


@dataclass(frozen=True, slots=True, eq=False)
class Pressure:
    """Of n nodes over one step.

    Parameters
    ----------
    busy
        (n,) share of the cores' time that tasks and neighbours used.
    queue
        (n,) mean number of tasks there, waiting and running, a core.
    ready
        (n,) CPU Ready: time in which tasks could run and had no core, over the time of all cores.
    memory
        (n,) share of the node's memory that is held, 0 to 1.
    network
        (n,) tasks that came, over those that a node like it could run in the time.
    """

    busy: Floats
    queue: Floats
    ready: Floats
    memory: Floats
    network: Floats

    def channels(self) -> Floats:
        """(n, 5) in the order of :data:`CHANNELS`."""
        return np.stack([self.busy, self.queue, self.ready, self.memory, self.network], axis=1)


class UnfinishedTasks:
    """Follows tasks that are not over yet from step to step, so that each step looks at few.

    Parameters
    ----------
    cores, speed
        (n,) of each node; and the work/s that it does while nobody holds any.

    Examples
    --------
    >>> watched = UnfinishedTasks(np.array([2]), np.array([1.0]))
    >>> submit, start, end = np.array([0.0, 1.0]), np.array([0.0, 3.0]), np.array([3.0, np.nan])
    >>> worker = np.array([0, 0])
    >>> over = watched.step(0.0, 4.0, submit, start, end, worker, 2, np.array([0, 0]), np.zeros(1))
    >>> over.busy.tolist(), over.ready.tolist(), over.queue.tolist()
    ([1.0], [0.25], [0.75])
    """

    def __init__(self, cores: NDArray[np.int64], speed: Floats) -> None:
        self._cores, self._speed = cores.astype(np.float64), speed
        self._open: NDArray[np.int64] = np.zeros(0, np.int64)
        self._arrived = 0

    def step(
        self,
        begin: float,
        until: float,
        submit: Floats,
        start: Floats,
        end: Floats,
        worker: NDArray[np.int64],
        arrived: int,
        at: NDArray[np.int64],
        held: Floats,
    ) -> Pressure:
        """The pressure of a step that has ended.

        Parameters
        ----------
        begin, until
            When the step began and ended, s.
        submit, start, end, worker
            (t,) of tasks; NaN and -1 for what has not happened yet.
        arrived
            How many of them have come.
        at
            Node of each task that is not over: (t,) is right wherever a task has neither begun nor ended.
        held
            (n,) share of each node's cores that neighbours held, on average over the step.
        """
        lasts = until - begin
        tasks = np.concatenate([self._open, np.arange(self._arrived, arrived)])
        came, began, ended = submit[tasks], start[tasks], end[tasks]
        node = np.where(worker[tasks] >= 0, worker[tasks], at[tasks])
        began = np.where(np.isnan(began), np.inf, began)
        ended = np.where(np.isnan(ended), np.inf, ended)
        waited = np.clip(np.minimum(began, until) - np.maximum(came, begin), 0.0, None)
        ran = np.clip(np.minimum(ended, until) - np.maximum(began, begin), 0.0, None)
        nodes = len(held)
        waits, runs = (np.bincount(node, each, nodes) / lasts for each in (waited, ran))
        here = waits + runs
        news = np.bincount(node[came >= begin], minlength=nodes)
        self._open, self._arrived = tasks[ended > until], arrived
        return Pressure(
            busy=np.minimum(held + (1.0 - held) * runs, 1.0),
            queue=here / self._cores,
            ready=(waits + runs * held) / self._cores,
            memory=np.minimum(TASK_MEMORY * here + NEIGHBOUR_MEMORY * held, 1.0),
            network=news / (lasts * self._speed),
        )
