"""What a placement policy sees, and what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


class Sites(NamedTuple):
    """Sites, as columns of length n.

    ``slots`` in all, ``free`` of them now; ``up``, ``down`` links, bytes/s; ``up_free``, ``down_free`` what of them
    nobody uses now, bytes/s.
    """

    slots: _Ints
    free: _Ints
    up: _Floats
    down: _Floats
    up_free: _Floats
    down_free: _Floats

    @classmethod
    def of(cls, slots: object, up: object, down: object, free: object = None) -> Sites:
        """Sites whose links are idle; all slots are free where not said otherwise."""
        count = np.ascontiguousarray(slots, dtype=np.int64)
        links = np.ascontiguousarray(up, dtype=np.float64), np.ascontiguousarray(down, dtype=np.float64)
        open_slots = count.copy() if free is None else np.ascontiguousarray(free, dtype=np.int64)
        return cls(count, open_slots, *links, links[0].copy(), links[1].copy())


class Ready(NamedTuple):
    """Stages of which tasks wait, one row each (m rows, n sites), in order of arrival of their jobs.

    ====================  =========  ==========================================================================
    ``job``               (m,)       which job; rows of one job have the same number
    ``left``              (m,)       stages of the job that have not ended
    ``shuffles``          (m,)       1 where each task reads from all sites, 0 where it reads one site's input
    ``total``             (m,)       tasks of the stage
    ``waiting``           (m,)       tasks not begun
    ``task_s``            (m,)       how long a task is thought to compute, s
    ``next_work``         (m,)       slot-seconds of the shuffle that follows; 0 where none does
    ``ratio``             (m,)       bytes written per byte read
    ``since``             (m,)       when a task of it began last, or when it became ready, s
    ``here``              (m, n)     tasks not begun whose input lies at the site; 0 for shuffles
    ``data``              (m, n)     what the tasks not begun will read at the site, bytes
    ``started``           (m, n)     tasks begun at the site so far
    ``running``           (m, n)     tasks that hold a slot of the site now
    ``plan``              (m, n)     what the policy left of it, such as tasks planned for the site; -1 until then
    ====================  =========  ==========================================================================
    """

    job: _Ints
    left: _Ints
    shuffles: _Ints
    total: _Ints
    waiting: _Ints
    task_s: _Floats
    next_work: _Floats
    ratio: _Floats
    since: _Floats
    here: _Ints
    data: _Floats
    started: _Ints
    running: _Ints
    plan: _Ints

    @classmethod
    def of(
        cls,
        shuffles: object,
        task_s: object,
        here: object,
        task_bytes: object = 1.0,
        *,
        data: object = None,
        waiting: object = None,
        job: object = None,
        left: object = None,
        next_work: object = None,
        ratio: object = None,
    ) -> Ready:
        """Stages of which nothing has begun: map rows by ``here`` and ``task_bytes``, others by data and waiting."""
        tasks = np.ascontiguousarray(here, dtype=np.int64)
        rows = len(tasks)
        kinds = np.array(np.broadcast_to(np.asarray(shuffles, dtype=np.int64), rows))
        size = np.broadcast_to(np.asarray(task_bytes, dtype=np.float64), rows)
        own = tasks * size[:, None]
        counts = tasks.sum(axis=1)
        read = own if data is None else np.where(kinds[:, None] == 1, np.asarray(data, dtype=np.float64), own)
        wait = (
            counts if waiting is None else np.where(kinds == 1, np.asarray(waiting, dtype=np.int64), counts)
        )
        wait = np.ascontiguousarray(wait)

        def ints(values: object, otherwise: object) -> _Ints:
            given = otherwise if values is None else values
            return np.array(np.broadcast_to(np.asarray(given, dtype=np.int64), rows))

        def floats(values: object, otherwise: float) -> _Floats:
            given = otherwise if values is None else values
            return np.array(np.broadcast_to(np.asarray(given, dtype=np.float64), rows))

        return cls(
            job=ints(job, np.arange(rows)),
            left=ints(left, 1),
            shuffles=kinds,
            total=wait.copy(),
            waiting=wait,
            task_s=floats(task_s, 1.0),
            next_work=floats(next_work, 0.0),
            ratio=floats(ratio, 1.0),
            since=np.zeros(rows),
            here=tasks,
            data=np.ascontiguousarray(read, dtype=np.float64),
            started=np.zeros_like(tasks),
            running=np.zeros_like(tasks),
            plan=np.full_like(tasks, -1),
        )


_int_rows, _float_rows = types.int64[:, ::1], types.float64[:, ::1]
_ints, _floats = types.int64[::1], types.float64[::1]
SITES = types.NamedTuple((_ints, _ints, *(_floats,) * 4), Sites)
READY = types.NamedTuple(
    (*(_ints,) * 5, *(_floats,) * 4, _int_rows, _float_rows, _int_rows, _int_rows, _int_rows), Ready
)


@dataclass(frozen=True, slots=True)
class PlaceView:
    """All that a placement policy may know at one instant.

    Parameters
    ----------
    now
        The engine's clock, s.
    sites, ready
        Where tasks may run, and the stages of which some wait.
    fresh
        (m,) 1 for stages of which nothing has begun or moved.
    changed
        Whether slots or links of a site changed since the last decision.
    moved
        Whether jobs arrived or departed since, or a stage can begin.

    Examples
    --------
    >>> sites = Sites.of(slots=[3, 3, 3], up=[10e9] * 3, down=[10e9] * 3)
    >>> ready = Ready.of(shuffles=[0, 0], task_s=[1, 1], here=[[0, 1, 2], [2, 4, 6]])
    >>> view = PlaceView(0.0, sites, ready)
    >>> view.ready.waiting.tolist(), view.fresh.tolist()
    ([3, 12], [1, 1])
    """

    now: float
    sites: Sites
    ready: Ready
    fresh: _Ints = field(default_factory=lambda: np.empty(0, np.int64))
    changed: bool = False
    moved: bool = True

    def __post_init__(self) -> None:
        if not len(self.fresh):
            object.__setattr__(self, "fresh", np.ones(len(self.ready.job), np.int64))


@dataclass(frozen=True, slots=True)
class Placement:
    """Start these tasks now, in this order.

    Parameters
    ----------
    starts
        (k, 4) int64: row of ``ready``, the site whose input the tasks read (-1 where they read from all sites),
        the site where they run, and how many. Together they fit the free slots.
    why
        (k,) int64, index into ``reasons``.
    reasons
        Why tasks were started, for ``--explain`` and for dry runs.
    moves
        (k, 4) int64 of the same form: input to move ahead of any task, which holds no slot; the tasks wait at
        the new site then. Only for rows that ``fresh`` marks.
    plan
        (m, n) what to keep as ``ready.plan`` until the next decision, or None for no change.
    largest_first
        Whether tasks of unlike size begin with the largest, or in the order of the stage.
    wake
        When to ask again even if nothing happens until then, s; infinity for no such wish.
    """

    starts: _Ints
    why: _Ints
    reasons: tuple[str, ...]
    moves: _Ints = field(default_factory=lambda: np.empty((0, 4), np.int64))
    plan: _Ints | None = None
    largest_first: bool = False
    wake: float = math.inf
