"""Tasks that have not ended, and the pressure that they put on nodes from step to step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.admit.site import SiteTasks
from windlass.jit.schema import allocate, grown
from windlass.sim.handle import Handle
from windlass.sim.telemetry.cores import StepCores
from windlass.sim.telemetry.pressure import CHANNELS, MEASURE, STATE_TYPE, Floats, PressureState, TaskCounts

#: Results of a step: the channels, and the fields of :class:`~windlass.admit.site.SiteTasks`, in their order.
_FLOATS = (*CHANNELS, "in_flight", "latency", "least_latency", "wait", "least_wait", "oldest")
_NUMBERS = ("waiting", "completed")


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
        self._handle = Handle(self._state, STATE_TYPE)

    @property
    def address(self) -> int:
        """Address of the state, for compiled code."""
        return self._handle.address

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
        self.make_room(arrived)
        state = self._state
        state.held[:], state.cores[:], state.up[:] = cores.held, cores.cores, cores.up
        MEASURE.ready()(self.address, begin, until, received, start, end, worker, arrived, at)
        busy, queue, ready, memory, network = self._floats[: len(CHANNELS)].copy()
        return Pressure(busy, queue, ready, memory, network, self.last())

    def make_room(self, arrived: int) -> None:
        """Make room for the unfinished tasks of a step at whose end this number has arrived."""
        room = self._counts.unfinished + arrived - self._counts.arrived
        if room > len(self._state.unfinished):
            self._state = grown(self._state, room=2 * room)
            self._handle.refill(self._state)

    def last(self) -> SiteTasks:
        """Return the nodes' tasks during the last step."""
        in_flight, *times = self._floats[len(CHANNELS) :].copy()
        return SiteTasks(in_flight, *self._numbers.copy(), *times)
