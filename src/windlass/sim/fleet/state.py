"""The state of jobs over a fleet: arrays of records, their layout, and their initial values.

All values of one site, job, stage or task are in one record. An event then reads one cache line instead of ten, and
compiled functions pass on thirty arrays instead of eighty, which takes a third of the compile time.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit.schema import allocate, column, grown, numba_type
from windlass.model.fleet import Fleet, FleetCase, FleetJobs
from windlass.order.fleet.compiled import REFINE, SELECT
from windlass.sim.events.heap import Heap, make_heap
from windlass.sim.fleet.records import BATCH, CELL, CHANGE, CORE, FLOW, JOB, PART, ROW, RUN, SITE, STAGE, TASK
from windlass.sim.nodes import Nodes

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Records = NDArray[np.void]


class FleetState(NamedTuple):
    """Everything that changes during a run, and its input; :mod:`windlass.sim.fleet.records` describes the records.

    Axes: ``sites``; ``jobs``, ``stages``, ``parts`` and ``tables``, each with one more entry that marks where the last
    one ends; ``tasks``; ``linked``, the sites if they have links, else 0; ``rows``, stages of jobs in the system;
    ``held``, the tasks if they hold cores of a ledger, else 0; ``ledger_rows``, its rows, or 0.
    """

    heap: Heap
    run: Annotated[_Records, column(1, dtype=RUN)]
    sites: Annotated[_Records, column("sites", dtype=SITE)]
    jobs: Annotated[_Records, column("jobs", dtype=JOB)]
    stages: Annotated[_Records, column("stages", dtype=STAGE)]
    parts: Annotated[_Records, column("parts", dtype=PART)]
    tasks: Annotated[_Records, column("tasks", dtype=TASK)]
    cores: Annotated[_Records, column("held", dtype=CORE)]
    on_row: Annotated[
        _Ints, column("ledger_rows", fill=-1)
    ]  # the task that took a core of the row last, or -1
    children: Annotated[_Ints, column("children")]
    by_size: Annotated[
        _Ints, column("sized")
    ]  # the tasks of each stage, largest first; empty if all have the same size
    cells: Annotated[_Records, column("rows", "sites", dtype=CELL)]
    rows: Annotated[_Records, column("tables", dtype=ROW)]
    weight: Annotated[_Floats, column("linked", "linked")]  # flows between two sites
    rate: Annotated[_Floats, column("linked", "linked")]  # bytes/s of each flow
    progress: Annotated[_Floats, column("linked", "linked")]  # bytes that each flow has carried
    most: Annotated[_Floats, column("linked", "linked")]  # highest rate of each pair, bytes/s
    carried: Annotated[_Floats, column("linked", "linked")]  # bytes of ended and running flows
    head: Annotated[_Ints, column("linked", "linked", fill=-1)]  # the flow that ends first
    flows: Annotated[_Records, column("flows", dtype=FLOW)]
    batches: Annotated[_Records, column("batches", dtype=BATCH)]
    changes: Annotated[_Records, column("changes", dtype=CHANGE)]  # the timetable
    # For policies that order jobs:
    sized: Annotated[
        _Floats, column("rows", "ordered", fill=None)
    ]  # tasks or seconds of each job left at each site
    slots: Annotated[_Floats, column("sites")]
    backlog: Annotated[_Floats, column("sites")]
    no_backlog: Annotated[_Floats, column("sites")]
    order: Annotated[_Ints, column("ordered", "rows")]  # the answer, then rows of the tables in that order
    # Scratch space to round shares of tasks:
    share: Annotated[_Floats, column("sites", fill=None)]
    rest: Annotated[_Floats, column("sites", fill=None)]
    begun: Annotated[_Ints, column("sites", fill=None)]
    want: Annotated[_Ints, column("sites", fill=None)]
    # Logs:
    flow_log: Annotated[_Floats, column("reads", 6, fill=None)]  # start, end, bytes, source, site, stage
    rate_log: Annotated[_Floats, column("rates", 4, fill=None)]  # time, source, site, bytes/s
    lost_log: Annotated[_Floats, column("losses", 5, fill=None)]  # task, site, row, start, time of loss


class FleetAsRun(NamedTuple):
    """A fleet, the functions of a policy that orders its jobs in the loop, and the parameters of ``select``.

    Axis ``ledger_sites``: the sites of the ledger.
    """

    select: Annotated[object, SELECT]
    refine: Annotated[object, REFINE]
    options: Annotated[_Floats, column("options")]
    nodes: Nodes
    fleet_site: Annotated[_Ints, column("ledger_sites")]  # the fleet's site for each of the ledger's, or -1
    state: FleetState


FLEET_RUN = numba_type(FleetAsRun)


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
    ledger_rows: int = 0,
) -> FleetState:
    """Return the state before any event.

    Parameters
    ----------
    case
        Sites, jobs, timetable.
    standing
        True if tasks start by a standing order of the jobs, False if by placements.
    python
        True if a policy in Python gives the order.
    by_seconds
        True if the policy sees expected seconds instead of numbers of tasks.
    look_every, decide_every
        Shortest time between updates of the links, and between placements, s.
    log
        True if every read and every change of a rate is logged.
    rows
        Initial room in the tables of stages.
    ledger_rows
        Rows of the ledger whose cores are the slots; 0 for slots of its own.

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
    run["bound"], run["shortest"] = ledger_rows > 0, jobs.duration.min(initial=np.inf)
    run["homes"], run["closed"] = jobs.homes and standing, (fleet.slots == 0).sum()
    unlike = bool(len(jobs.size) and (jobs.size != 1.0).any())
    events = total if len(timetable) else min(int(fleet.slots.sum()), total)
    made = allocate(
        FleetState,
        {
            "sites": n,
            "jobs": len(jobs) + 1,
            "stages": len(jobs.tasks) + 1,
            "parts": len(jobs.task0),
            "tasks": total,
            "linked": len(fleet.pair),
            "children": len(jobs.children),
            "sized": total if unlike else 0,
            "rows": 0,
            "tables": 1,
            "flows": 0,
            "batches": 0,
            "changes": len(timetable),
            "ordered": n if standing else 0,
            "reads": 1024 if log else 0,
            "rates": 4 * n * n + 1024 if log else 0,
            "held": total if ledger_rows else 0,
            "ledger_rows": ledger_rows,
            "losses": 0,
        },
        heap=make_heap(events + 16),
        run=run,
        sites=_sites(fleet),
        jobs=_jobs(jobs),
        stages=_stages(jobs),
        parts=_filled(PART, len(jobs.task0), site=np.append(jobs.site, -1), task0=jobs.task0),
        tasks=_tasks(jobs),
        cores=_filled(CORE, total, row=-1, batch=-1, at=np.arange(total)) if ledger_rows else None,
        children=jobs.children,
        by_size=np.lexsort((-jobs.size, jobs.stage)) if unlike else None,
        most=fleet.pair,
        changes=_filled(
            CHANGE,
            len(timetable),
            **{name: getattr(timetable, name) for name in ("time", "site", "slots", "up", "down")},
        ),
        slots=np.maximum(fleet.slots, 1),
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
    # Fields that are set when a task starts and ends are not initialised: each pass over all tasks takes time.
    sizes = {"size": jobs.size} if len(jobs.size) else {}
    return _filled(TASK, len(jobs.duration), duration=jobs.duration, stage=jobs.stage, **sizes)


def with_rows(state: FleetState, rows: int) -> FleetState:
    """Return the same state with room for more stages in the tables; an order in force stays valid."""
    old = len(state.cells)
    longer = grown(state, rows=rows, tables=rows + 1)
    # Stages get rows in the order of ``free``.
    longer.rows["free"][old:rows] = np.arange(old, rows)
    return longer


def with_room(state: FleetState, flows: int, batches: int) -> FleetState:
    """Return the same state with room for this many more flows and batches, and for the lines that they may log."""
    run = state.run[0]
    short = len(state.flows) - run["flows"] < flows or len(state.batches) - run["batches"] < batches
    if not (short or run["logs"]):
        return state
    state = state._replace(
        flows=_stocked(state.flows, int(run["flows"]), flows),
        batches=_stocked(state.batches, int(run["batches"]), batches),
    )
    if run["logs"]:
        # Each running read will be logged when it ends.
        coming = int(run["flows"]) + 8 * state.weight.size + 1024
        state = state._replace(
            flow_log=_longer(state.flow_log, int(run["logged"]) + coming),
            rate_log=_longer(state.rate_log, int(run["rates"]) + coming),
        )
    return state


def with_longer_log_of_losses(state: FleetState) -> FleetState:
    """Return the same state; if its log of lost tasks is full, with one of at least twice the length."""
    used = int(state.run["lost"][0])
    if used < len(state.lost_log):
        return state
    return state._replace(lost_log=_longer(state.lost_log, 2 * used + 64))


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
