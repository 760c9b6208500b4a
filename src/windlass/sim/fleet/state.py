"""State of jobs over a fleet: a few arrays of records, what each holds, and how it is made.

What belongs to one thing (a site, a job, a stage, a task) lies side by side in one record: an event then waits for one
cache line and not for ten, and compiled functions that pass the state on pass thirty arrays and not eighty, which
costs a third of the compiling.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.model.fleet import Fleet, FleetCase, FleetJobs
from windlass.order.fleet.compiled import REFINE, SELECT
from windlass.sim.events.heap import HEAP, Heap, make_heap
from windlass.sim.fleet.records import BATCH, CELL, CHANGE, FLOW, JOB, PART, ROW, RUN, SITE, STAGE, TASK

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Records = NDArray[np.void]


class FleetState(NamedTuple):
    """Everything that changes, and what it is read from; J jobs, K stages, P parts, T tasks, n sites.

    ``run`` (1,), ``sites`` (n,), ``jobs`` (J + 1,), ``stages`` (K + 1,), ``parts`` (P + 1,), ``tasks`` (T,),
    ``children`` (E,): as the records say; one more at the end says where the last one's ends. ``by_size`` (T,): the
    tasks of each stage, the largest first; empty where all are alike. ``cells`` (rows, n), ``rows`` (rows + 1,): stages
    of jobs that are there. ``weight`` (n, n): flows between two sites; ``rate`` and ``progress`` of each;
    ``most`` that they carry at most; bytes ``carried`` so far; ``head``, the flow that ends first. These, ``flows`` and
    ``batches`` are empty without links. ``changes``: the timetable.

    For policies that order jobs: ``sized`` (rows, n) what is left of each job, ``slots``, ``backlog``, ``no_backlog``
    (n,); ``order`` (n, rows) what they answer, then rows of the tables in that order. ``share``, ``rest``,
    ``begun``, ``want`` (n,): room to round shares of tasks in.

    Logs: ``flow_log`` (…, 6) start, end, bytes, source, site, stage; ``rate_log`` (…, 4) time, source, site, bytes/s.
    """

    heap: Heap
    run: _Records
    sites: _Records
    jobs: _Records
    stages: _Records
    parts: _Records
    tasks: _Records
    children: _Ints
    by_size: _Ints
    cells: _Records
    rows: _Records
    weight: _Floats
    rate: _Floats
    progress: _Floats
    most: _Floats
    carried: _Floats
    head: _Ints
    flows: _Records
    batches: _Records
    changes: _Records
    sized: _Floats
    slots: _Floats
    backlog: _Floats
    no_backlog: _Floats
    order: _Ints
    share: _Floats
    rest: _Floats
    begun: _Ints
    want: _Ints
    flow_log: _Floats
    rate_log: _Floats


def _array(kind: Any, dimensions: int = 1) -> Any:
    return types.Array(numba.from_dtype(kind), dimensions, "C")


_KINDS = {
    "heap": HEAP,
    "run": _array(RUN),
    "sites": _array(SITE),
    "jobs": _array(JOB),
    "stages": _array(STAGE),
    "parts": _array(PART),
    "tasks": _array(TASK),
    "cells": _array(CELL, 2),
    "rows": _array(ROW),
    "flows": _array(FLOW),
    "batches": _array(BATCH),
    "changes": _array(CHANGE),
    **dict.fromkeys(("children", "by_size", "begun", "want"), types.int64[::1]),
    **dict.fromkeys(("slots", "backlog", "no_backlog", "share", "rest"), types.float64[::1]),
    **dict.fromkeys(("sized", "flow_log", "rate_log"), types.float64[:, ::1]),
    **dict.fromkeys(("weight", "rate", "progress", "most", "carried"), types.float64[:, ::1]),
    **dict.fromkeys(("order", "head"), types.int64[:, ::1]),
}
FLEET_STATE = types.NamedTuple([_KINDS[name] for name in FleetState._fields], FleetState)


class FleetAsRun(NamedTuple):
    """A fleet with the functions of a policy that orders its jobs in the loop, and what ``select`` is given."""

    select: object
    refine: object
    options: _Floats
    state: FleetState


FLEET_RUN = types.NamedTuple(
    [types.FunctionType(SELECT), types.FunctionType(REFINE), types.float64[::1], FLEET_STATE], FleetAsRun
)


def make_state(
    case: FleetCase,
    *,
    standing: bool,
    python: bool = False,
    by_seconds: bool = False,
    look_every: float = 0.0,
    decide_every: float = 0.0,
    log: bool = False,
    rows: int = 64,
) -> FleetState:
    """The state before anything happens.

    Parameters
    ----------
    case
        Sites, jobs, timetable.
    standing
        Whether tasks start by a standing order of the jobs; else by placements.
    python
        Whether Python gives the order.
    by_seconds
        Whether it is told expected seconds, else numbers of tasks.
    look_every, decide_every
        Least time between looks at the links, and between placements, s.
    log
        Whether to keep every read and every change of a rate.
    rows
        Room in the tables by stage, to begin with.

    Examples
    --------
    >>> from windlass.model.fleet import fixed_table
    >>> case = FleetCase(Fleet.of([2]), fixed_table([0.0], [[1]], [1.0]))
    >>> make_state(case, standing=True).sites["free"].tolist()
    [2]
    """
    fleet, jobs, timetable = case.fleet, case.jobs, case.timetable
    n, linked, total = len(fleet), fleet.linked, len(jobs.duration)
    run = np.zeros(1, RUN)
    for name in ("look", "wake"):
        run[name] = np.inf
    for name in ("now", "decided", "next"):
        run[name] = -np.inf
    run["look_every"], run["decide_every"] = look_every, decide_every
    run["logs"], run["linked"], run["limited"] = log, linked, bool(np.isfinite(fleet.pair).any())
    run["standing"], run["python"], run["by_seconds"] = standing, python, by_seconds
    run["homes"], run["closed"] = jobs.homes and standing, (fleet.slots == 0).sum()
    unlike = bool(len(jobs.size) and (jobs.size != 1.0).any())
    weight, rate, progress, carried = np.zeros((4, *fleet.pair.shape))
    made = FleetState(
        heap=make_heap((total if len(timetable) else min(int(fleet.slots.sum()), total)) + 16),
        run=run,
        sites=_sites(fleet),
        jobs=_jobs(jobs),
        stages=_stages(jobs),
        parts=_filled(PART, len(jobs.task0), site=np.append(jobs.site, -1), task0=jobs.task0),
        tasks=_tasks(jobs),
        children=jobs.children,
        by_size=np.lexsort((-jobs.size, jobs.stage)) if unlike else np.empty(0, np.int64),
        cells=np.zeros((0, n), CELL),
        rows=np.zeros(1, ROW),
        weight=weight,
        rate=rate,
        progress=progress,
        most=fleet.pair,
        carried=carried,
        head=np.full(fleet.pair.shape, -1, np.int64),
        flows=np.zeros(0, FLOW),
        batches=np.zeros(0, BATCH),
        changes=_filled(
            CHANGE,
            len(timetable),
            **{name: getattr(timetable, name) for name in ("time", "site", "slots", "up", "down")},
        ),
        sized=np.empty((0, n if standing else 0)),
        slots=np.maximum(fleet.slots, 1).astype(np.float64),
        backlog=np.zeros(n),
        no_backlog=np.zeros(n),
        order=np.empty((n if standing else 0, 0), np.int64),
        share=np.empty(n),
        rest=np.empty(n),
        begun=np.empty(n, np.int64),
        want=np.empty(n, np.int64),
        flow_log=np.empty((1024 if log else 0, 6)),
        rate_log=np.empty((4 * n * n + 1024 if log else 0, 4)),
    )
    made = with_rows(made, rows)
    return with_room(made, 4 * n * n + 1024, 1024) if linked else made


def _filled(kind: Any, length: int, **columns: Any) -> _Records:
    made = np.zeros(length, kind)
    for name, values in columns.items():
        made[name] = values
    return made


def _sites(fleet: Fleet) -> _Records:
    links = {"up": fleet.up, "down": fleet.down} if fleet.linked else {}
    return _filled(SITE, len(fleet), slots=fleet.slots, free=fleet.slots, **links)


def _jobs(jobs: FleetJobs) -> _Records:
    made = _filled(JOB, len(jobs) + 1, stage0=jobs.stage0, submit=np.inf, end=np.nan)
    made["submit"][:-1], made["error"][:-1] = jobs.submit, jobs.error
    made["stages_left"][:-1] = np.diff(jobs.stage0)
    return made


def _stages(jobs: FleetJobs) -> _Records:
    made = _filled(
        STAGE, len(jobs.tasks) + 1, first=jobs.first, part0=jobs.part0, child0=jobs.child_at, row=-1
    )
    columns = ("job", "tasks", "shuffles", "ratio", "task_bytes")
    for name, values in ((name, getattr(jobs, name)) for name in columns):
        made[name][:-1] = values
    made["parents_left"][:-1] = jobs.parents
    return made


def _tasks(jobs: FleetJobs) -> _Records:
    # What is written when a task starts and ends is not filled in before: each pass over the tasks takes its time.
    sizes = {"size": jobs.size} if len(jobs.size) else {}
    return _filled(TASK, len(jobs.duration), duration=jobs.duration, stage=jobs.stage, **sizes)


def with_rows(state: FleetState, rows: int) -> FleetState:
    """The same with room for so many stages in the tables; an order in force stays so."""
    old = len(state.cells)
    cells = np.zeros((rows, state.cells.shape[1]), CELL)
    cells[:old] = state.cells
    lists = np.zeros(rows + 1, ROW)
    lists[: old + 1] = state.rows
    # Those in stock are taken from the front on.
    lists["free"][old:rows] = np.arange(old, rows)
    order = np.zeros((len(state.order), rows), np.int64)
    order[:, :old] = state.order
    sized = np.zeros((rows, state.sized.shape[1]))
    return state._replace(cells=cells, rows=lists, order=order, sized=sized)


def with_room(state: FleetState, flows: int, batches: int) -> FleetState:
    """The same with room for so many more flows and batches, and for what they may log."""
    run = state.run[0]
    short = len(state.flows) - run["flows"] < flows or len(state.batches) - run["batches"] < batches
    if not (short or run["logs"]):
        return state
    state = state._replace(
        flows=_stocked(state.flows, int(run["flows"]), flows),
        batches=_stocked(state.batches, int(run["batches"]), batches),
    )
    if run["logs"]:
        # A read that is under way has yet to be logged.
        coming = int(run["flows"]) + 8 * state.weight.size + 1024
        state = state._replace(
            flow_log=_longer(state.flow_log, int(run["logged"]) + coming),
            rate_log=_longer(state.rate_log, int(run["rates"]) + coming),
        )
    return state


def _stocked(table: _Records, used: int, more: int) -> _Records:
    old = len(table)
    if old - used >= more:
        return table
    found = np.zeros(old + max(more, old), table.dtype)
    found[:old] = table
    found["free"][old:] = np.arange(old, len(found))
    return found


def _longer(table: _Floats, rows: int) -> _Floats:
    if len(table) >= rows:
        return table
    return np.concatenate([table, np.empty((rows, table.shape[1]))])
