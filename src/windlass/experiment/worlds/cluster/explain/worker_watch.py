"""A part that reads the nodes of short tasks at one instant, before or after a task arrives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.sim.part import Concerns, Due, Quiet
from windlass.sim.telemetry.answers import NO_LIMIT
from windlass.sim.telemetry.part import TelemetryPart
from windlass.sim.workers.part import WorkersPart

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class NodesSeen:
    """The nodes of short tasks at an instant.

    Parameters
    ----------
    tasks
        (n,) tasks at each node, waiting and running.
    waiting
        Tasks that wait with the scheduler and are at no node.
    present
        (n,) whether the node is up.
    limit
        (n,) most tasks that each node accepts at once; ``NO_LIMIT`` for any number.
    speed, base
        (n,) speed of each node now, and on all of its cores, work/s.
    """

    tasks: _Ints
    waiting: int
    present: NDArray[np.bool_]
    limit: _Ints
    speed: NDArray[np.float64]
    base: NDArray[np.float64]

    @property
    def accepting(self) -> NDArray[np.bool_]:
        """(n,) whether each node is up and accepts one more task."""
        found: NDArray[np.bool_] = self.present & (self.tasks < self.limit)
        return found


class WorkerWatch(Quiet):
    """Reads the nodes at one instant; it changes nothing.

    Parameters
    ----------
    workers, telemetry
        The nodes, and what admits tasks there; None if all nodes accept.
    at
        The instant, s.

    Examples
    --------
    >>> from windlass.dispatch.context import DispatchContext
    >>> from windlass.dispatch.policies.jsq import Jsq
    >>> from windlass.model.timetable import WorkerTimetable
    >>> from windlass.sim.coupled import Coupled
    >>> from windlass.sim.workers.setup import Setup
    >>> setup = Setup(np.ones(2), WorkerTimetable.none(), schedulers=1, probe_delay=0.0, sizes_known=False, lane=0,
    ...     samples=0, record=True, tasks_per_job=1)
    >>> rng = np.random.default_rng(1)
    >>> workers = WorkersPart(setup, Jsq(2, rng), np.array([1.0, 2.0]), np.array([9.0, 9.0]), rng)
    >>> watch = WorkerWatch(workers, None, 2.0)
    >>> Coupled([watch, workers]).wait()
    >>> sorted(watch.seen.tasks.tolist())
    [0, 1]
    """

    def __init__(self, workers: WorkersPart, telemetry: TelemetryPart | None, at: float) -> None:
        self._workers, self._telemetry, self._at = workers, telemetry, at
        self._seen: NodesSeen | None = None

    def concerns(self) -> Concerns:
        """Return the workers, which are read at this part's instant."""
        return Concerns(reads=(self._workers,))

    def horizon(self) -> float:
        """Return the instant, s; infinity once it is over."""
        return self._at if self._seen is None else np.inf

    def decide(self, now: float) -> Sequence[Due]:
        """Read the nodes if the instant has come."""
        if self._seen is None and now >= self._at:
            state = self._workers.state
            count = len(state.length)
            limit = np.full(count, NO_LIMIT) if self._telemetry is None else self._telemetry.limits.copy()
            self._seen = NodesSeen(
                tasks=state.length.copy(),
                waiting=int(state.unbound.sum()),
                present=state.line["down"] == 0,
                limit=limit,
                speed=state.line["speed"].copy(),
                base=state.base.copy(),
            )
        return ()

    @property
    def seen(self) -> NodesSeen:
        """The nodes at the instant."""
        assert self._seen is not None  # The instant is over.
        return self._seen
