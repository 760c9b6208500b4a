"""Timetables of changes: workers, sites and nodes that change speed or capacity, fail and return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError

#: Kinds of change to a worker. ``TAKE_SAMPLE`` changes nothing: the simulation then samples its state.
SET_SPEED, FAIL, RETURN, TAKE_SAMPLE = range(4)


@dataclass(frozen=True, slots=True, eq=False)
class WorkerTimetable:
    """Changes of workers, one per row, in any order; changes at the same instant take effect in the given order.

    The sum of two timetables contains the changes of both.

    Parameters
    ----------
    time
        (m,) time of the change, s, at least 0.
    kind
        (m,) int64, kind of change: a new speed, a failure, a return.
    worker
        (m,) int64, the worker.
    value
        (m,) the new speed, work/s; unused for other kinds.

    Raises
    ------
    InputError
        Columns of different length, or a value that is not allowed.

    Examples
    --------
    >>> both = WorkerTimetable.speeds([10.0], [0], [0.5]) + WorkerTimetable.failure(1, down=3.0, up=8.0)
    >>> both.time.tolist()
    [3.0, 8.0, 10.0]
    """

    time: NDArray[np.float64]
    kind: NDArray[np.int64]
    worker: NDArray[np.int64]
    value: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name in ("kind", "worker", "value"):
            if getattr(self, name).shape != self.time.shape:
                raise InputError(f"timetable: {name} has shape {getattr(self, name).shape}, not that of time")
        for name, allowed in (
            ("time", np.isfinite(self.time) & (self.time >= 0)),
            ("speed", np.isfinite(self.value) & (self.value >= 0)),
            ("worker", self.worker >= 0),
        ):
            if not allowed.all():
                row = int(np.argmin(allowed))
                raise InputError(f"timetable: {name} of row {row} is negative or not finite")
        order = np.argsort(self.time, kind="stable")
        for name in ("time", "kind", "worker", "value"):
            object.__setattr__(self, name, getattr(self, name)[order])

    def __add__(self, other: WorkerTimetable) -> WorkerTimetable:
        return WorkerTimetable(
            np.concatenate((self.time, other.time)),
            np.concatenate((self.kind, other.kind)),
            np.concatenate((self.worker, other.worker)),
            np.concatenate((self.value, other.value)),
        )

    @classmethod
    def none(cls) -> WorkerTimetable:
        """Return an empty timetable."""
        return cls.speeds([], [], [])

    @classmethod
    def speeds(cls, time: object, worker: object, speed: object) -> WorkerTimetable:
        """Return changes of speed: each holds from its time on; 0 stalls the worker without a notification."""
        times = np.array(time, dtype=np.float64)
        workers = np.array(worker, dtype=np.int64)
        return cls(times, np.full(len(times), SET_SPEED), workers, np.array(speed, dtype=np.float64))

    @classmethod
    def failure(cls, worker: int, down: float, up: float | None = None) -> WorkerTimetable:
        """Return the failure of a worker at ``down`` and its return at ``up``, both in s; None for no return.

        Schedulers are notified. The worker's tasks are dispatched again at once and restart from their beginning. It
        returns without tasks.
        """
        times = [down] if up is None else [down, up]
        if up is not None and not up > down:
            raise InputError(f"up is {up}, expected a time after down, {down}")
        kinds = np.array([FAIL, RETURN][: len(times)], dtype=np.int64)
        return cls(
            np.array(times, dtype=np.float64), kinds, np.full(len(times), worker), np.zeros(len(times))
        )


@dataclass(frozen=True, slots=True, eq=False)
class SiteTimetable:
    """Changes of sites: from each time on, the site has the slots and links of that row.

    Parameters
    ----------
    time
        (c,) time of the change, s, ascending.
    site
        (c,) int64, the site.
    slots
        (c,) int64, its slots.
    up, down
        (c,) bandwidth of its uplink and downlink, bytes/s.

    Raises
    ------
    InputError
        Columns of different length, or a value that is not allowed.

    Examples
    --------
    >>> table = SiteTimetable(np.array([5.0]), np.array([0]), np.array([1]), np.ones(1), np.ones(1))
    >>> len(table), len(SiteTimetable.none())
    (1, 0)
    """

    time: NDArray[np.float64]
    site: NDArray[np.int64]
    slots: NDArray[np.int64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name in ("site", "slots", "up", "down"):
            values = getattr(self, name)
            if values.shape != self.time.shape:
                raise InputError(f"timetable: {name} has shape {values.shape}, not that of time")
            if not (values >= 0).all():
                row = int(np.argmin(values >= 0))
                raise InputError(f"timetable: {name} of row {row} is {values[row]}, expected 0 or more")
        if not np.isfinite(self.time).all() or (np.diff(self.time) < 0).any():
            raise InputError("timetable: time: expected finite times in ascending order")

    def __len__(self) -> int:
        return len(self.time)

    @classmethod
    def none(cls) -> SiteTimetable:
        """Return an empty timetable."""
        return cls(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class NodeTimetable:
    """Changes of nodes' cores, one per row; changes at the same instant take effect in the given order.

    Parameters
    ----------
    time
        (m,) time of the change, s, at least 0, ascending.
    node
        (m,) int64, the node.
    cores
        (m,) int64, its number of cores from then on.
    kill
        (m,) bool, whether jobs that hold more cores than that are killed at once. Otherwise they end as usual, and the
        cores that they release are removed (the node is *drained*). Of several rows for one node at one instant, the
        last one counts.

    Raises
    ------
    InputError
        Columns of different length, times that descend, or a value that is not allowed.

    Examples
    --------
    >>> both = NodeTimetable.outage(0, 5.0, 9.0, cores=4) + NodeTimetable.outage(1, 7.0, None, cores=4, kill=True)
    >>> both.time.tolist(), both.cores.tolist(), both.kill.tolist()
    ([5.0, 7.0, 9.0], [0, 0, 4], [False, True, False])
    """

    time: NDArray[np.float64]
    node: NDArray[np.int64]
    cores: NDArray[np.int64]
    kill: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for name in ("node", "cores", "kill"):
            values = getattr(self, name)
            if values.shape != self.time.shape:
                raise InputError(f"outages: {name} has shape {values.shape}, not that of time")
            if not (values >= 0).all():
                row = int(np.argmin(values >= 0))
                raise InputError(f"outages: {name} of row {row} is {values[row]}, expected 0 or more")
        if not (np.isfinite(self.time) & (self.time >= 0)).all() or (np.diff(self.time) < 0).any():
            raise InputError("outages: time: expected finite times of at least 0 in ascending order")

    def __len__(self) -> int:
        return len(self.time)

    def __add__(self, other: NodeTimetable) -> NodeTimetable:
        time, node, cores, kill = (
            np.concatenate((getattr(self, name), getattr(other, name)))
            for name in ("time", "node", "cores", "kill")
        )
        order = np.argsort(time, kind="stable")
        return NodeTimetable(time[order], node[order], cores[order], kill[order])

    @classmethod
    def none(cls) -> NodeTimetable:
        """Return an empty timetable."""
        return cls(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_))

    @classmethod
    def outage(
        cls, node: int, down: float, up: float | None, *, cores: int, left: int = 0, kill: bool = False
    ) -> NodeTimetable:
        """Return the outage of a node, which has ``left`` cores from ``down`` on.

        From ``up`` on it has all its ``cores`` again; never if ``up`` is None. Times are in s.
        """
        if up is not None and not up > down:
            raise InputError(f"up is {up}, expected a time after down, {down}")
        rows = [(down, left, kill)] if up is None else [(down, left, kill), (up, cores, False)]
        time, has, kills = zip(*rows, strict=True)
        return cls(
            np.array(time, np.float64),
            np.full(len(rows), node),
            np.array(has, np.int64),
            np.array(kills, np.bool_),
        )
