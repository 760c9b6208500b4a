"""The view that placement policies read, and the answer that they return."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.model import PolicyError

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]

#: Codes of the problems of a row of a placement, which compiled engines return.
RIGHT, NO_SLOT, NO_TASK, NO_LINK, BAD_SITE, LATE_MOVE = range(6)
_PROBLEMS = {
    NO_SLOT: "not enough free slots at the site",
    NO_TASK: "no such stage row, or the number of tasks is not from 1 to the number that wait there",
    NO_LINK: "no link for what is read",
    BAD_SITE: "no such site, or a source that does not fit the stage (-1 only if it reads from all sites)",
    LATE_MOVE: "a move of a stage that has begun or reads from all sites",
}


class Sites(NamedTuple):
    """Sites, as columns of length n.

    ``slots`` is the number of slots, ``free`` the number of free ones; ``up`` and ``down`` are the links,
    bytes/s; ``up_free`` and ``down_free`` their unused bandwidth, bytes/s.
    """

    slots: _Ints
    free: _Ints
    up: _Floats
    down: _Floats
    up_free: _Floats
    down_free: _Floats

    @classmethod
    def of(cls, slots: object, up: object, down: object, free: object = None) -> Sites:
        """Build sites with idle links; all slots are free by default."""
        count = np.ascontiguousarray(slots, dtype=np.int64)
        links = np.ascontiguousarray(up, dtype=np.float64), np.ascontiguousarray(down, dtype=np.float64)
        open_slots = count.copy() if free is None else np.ascontiguousarray(free, dtype=np.int64)
        return cls(count, open_slots, *links, links[0].copy(), links[1].copy())


class Ready(NamedTuple):
    """Stages with waiting tasks, one row each (m rows, n sites), in order of arrival of their jobs.

    ====================  =========  ==========================================================================
    ``job``               (m,)       job number; rows of one job have the same number
    ``left``              (m,)       stages of the job that have not ended
    ``shuffles``          (m,)       1 if each task reads from all sites, 0 if it reads one site's input
    ``total``             (m,)       tasks of the stage
    ``waiting``           (m,)       tasks not started
    ``task_s``            (m,)       estimated compute time of a task, s
    ``next_work``         (m,)       slot-seconds of the following shuffle; 0 if none follows
    ``ratio``             (m,)       bytes written per byte read
    ``since``             (m,)       when a task of it started last, or when it became ready, s
    ``here``              (m, n)     tasks not started whose input is at the site; 0 for shuffles
    ``data``              (m, n)     bytes that the tasks not started will read at the site
    ``started``           (m, n)     tasks started at the site so far
    ``running``           (m, n)     tasks that hold a slot of the site now
    ``plan``              (m, n)     the policy's stored state, such as tasks planned for the site; -1 at first
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
        """Build stages without started tasks: maps from ``here`` and ``task_bytes``, shuffles from data and waiting."""
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
    """The state that a placement policy may use for a decision.

    Parameters
    ----------
    now
        Current time on the engine's clock, s.
    sites, ready
        The sites, and the stages with waiting tasks.
    fresh
        (m,) 1 for stages of which no task has started or moved.
    changed
        Whether slots or links of a site changed since the last decision.
    moved
        Whether jobs arrived or departed since then, or a stage became ready.

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
    """Tasks to start now, in this order.

    Parameters
    ----------
    starts
        (k, 4) int64: row of ``ready``, the site whose input the tasks read (-1 if they read from all sites),
        the site where they run, and their number. Together they fit the free slots.
    why
        (k,) int64, index into ``reasons``.
    reasons
        Reasons of starts, for ``--explain`` and dry runs.
    moves
        (k, 4) int64 in the same form: input to move ahead of the tasks, without a slot; the tasks then wait
        at the new site. Only for rows that ``fresh`` marks.
    plan
        (m, n) state to keep as ``ready.plan`` until the next decision, or None for no change.
    largest_first
        True to start tasks of different sizes largest first, False for the order of the stage.
    wake
        Time of the next decision even if nothing happens until then, s; infinity for none.

    Examples
    --------
    >>> view = PlaceView(0.0, Sites.of([1, 2], [9, 9], [9, 9]), Ready.of(shuffles=[0], task_s=[1], here=[[2, 0]]))
    >>> Placement(np.array([[0, 0, 0, 2]]), np.array([], int), ()).check(view)
    Traceback (most recent call last):
    windlass.model.errors.PolicyError: gave 0 reasons for 1 starts
    """

    starts: _Ints
    why: _Ints
    reasons: tuple[str, ...]
    moves: _Ints = field(default_factory=lambda: np.empty((0, 4), np.int64))
    plan: _Ints | None = None
    largest_first: bool = False
    wake: float = math.inf

    def check(self, view: PlaceView) -> None:
        """Raise unless an engine can carry this out, moves first, then starts in their order.

        An engine may know of more than the view has, such as a missing link between two sites.

        Raises
        ------
        PolicyError
            See :meth:`check_form`; or a row names a stage, site or source that does not exist, has more tasks than wait
            or than slots are free, lacks a link for what is read, or moves input of a stage that has begun or that
            reads from all sites.
        """
        sites, ready = view.sites, view.ready
        self.check_form(view.now, len(ready.job), len(sites.slots))
        free, waiting, here = sites.free.copy(), ready.waiting.copy(), ready.here.copy()
        begun = ready.started.sum(axis=1) > 0
        for number, (row, source, site, tasks) in enumerate([*self.moves.tolist(), *self.starts.tolist()]):
            is_move = number < len(self.moves)
            if not 0 <= row < len(waiting):
                raise self.refusal(NO_TASK, number)
            shuffles = bool(ready.shuffles[row])
            if not 0 <= site < len(free) or source >= len(free) or (source < 0) != shuffles:
                raise self.refusal(BAD_SITE, number)
            if not 1 <= tasks <= waiting[row] or (not shuffles and tasks > here[row, source]):
                raise self.refusal(NO_TASK, number)
            if is_move and (shuffles or begun[row]):
                raise self.refusal(LATE_MOVE, number)
            if not is_move and tasks > free[site]:
                raise self.refusal(NO_SLOT, number)
            read = ready.data[row] > 0.0
            if not shuffles:
                read = read & (np.arange(len(read)) == source)
            read[site] = False
            if read.any() and not (sites.down[site] > 0.0 and (sites.up[read] > 0.0).all()):
                raise self.refusal(NO_LINK, number)
            waiting[row] -= tasks
            if not shuffles:
                here[row, source] -= tasks
            if not is_move:
                free[site] -= tasks

    def check_form(self, now: float, rows: int, sites: int) -> None:
        """Raise unless shapes, reasons and ``wake`` are valid for these numbers of stages and sites.

        Parameters
        ----------
        now
            The engine's clock, s.
        rows, sites
            Stages of the view, and sites.

        Raises
        ------
        PolicyError
            An array has another shape, a start has no reason, or ``wake`` is not after ``now``.
        """
        if not self.wake > now:
            raise PolicyError(f"wake is {self.wake} s, expected a time after now, {now} s")
        if not _has_rows(self.starts) or not _has_rows(self.moves):
            shapes = f"{np.shape(self.starts)} and {np.shape(self.moves)}"
            raise PolicyError(f"starts and moves have shapes {shapes}, expected (k, 4) whole numbers each")
        if len(self.why) != len(self.starts):
            raise PolicyError(f"gave {len(self.why)} reasons for {len(self.starts)} starts")
        if len(self.why) and not 0 <= self.why.min() <= self.why.max() < len(self.reasons):
            raise PolicyError(
                f"why is {self.why.min()} to {self.why.max()}, expected 0 to {len(self.reasons) - 1}"
            )
        if self.plan is not None and np.shape(self.plan) != (rows, sites):
            raise PolicyError(f"plan has shape {np.shape(self.plan)}, expected ({rows}, {sites})")

    def refusal(self, problem: int, number: int) -> PolicyError:
        """Return the error for a problem of a row; rows are counted over moves, then starts."""
        moves = len(self.moves)
        line = (self.moves[number] if number < moves else self.starts[number - moves]).tolist()
        return PolicyError(f"returned (stage row, source, site, tasks) {line}: {_PROBLEMS[problem]}")


def _has_rows(lines: _Ints) -> bool:
    return lines.ndim == 2 and lines.shape[1] == 4 and lines.dtype.kind in "iu"
