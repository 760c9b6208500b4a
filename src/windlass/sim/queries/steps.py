"""Compiled steps of queries, for instants at which nothing happens to a query.

Queries on sites that other parts use are called at each change of a row there. Mostly no query lacks cores then, and
none lacked any before: the speeds stay, and at most a call of the planner is scheduled. These steps complete such an
instant; otherwise they return :data:`IN_PYTHON`, and the part in Python carries out the whole step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, inlined
from windlass.jit.schema import Scalars, allocate, column, numba_type
from windlass.model.queries import KINDS
from windlass.sim.handle import opening
from windlass.sim.ledger import Ledger
from windlass.sim.nodes import Nodes
from windlass.sim.part import Entries, Part
from windlass.sim.status import FIRST_OWN, REACHED

#: Status of a step that the part carries out in Python.
IN_PYTHON = FIRST_OWN

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_STEP = len(KINDS)


class QueryCounts(Scalars):
    """Numbers of queries and of rows.

    ``part``: the part's number in the ledger. ``units``: units of the ledger in one core. ``queries``: all queries.
    ``present``, ``departed``: those that are there, and that have left. ``quiet``: whether the speeds and cores of the
    part's last decision hold. ``owing``: rows in which the part holds more than the row has.
    """

    part: int
    units: int = 1
    queries: int
    present: int
    departed: int
    quiet: int
    owing: int


class QueryClock(Scalars):
    """Instants, s; infinity for never.

    ``next_event``: the next event of the part; NaN after something has changed, until it is computed again.
    ``next_change``: the next change of its timetable. ``plan_due``: the next call of the planner. ``planned``: the last
    one. ``notice``, ``patience``: delays of a call; see :class:`~windlass.sim.queries.setup.Terms`.
    """

    next_event: float = np.nan
    next_change: float = np.inf
    plan_due: float = np.inf
    planned: float = -np.inf
    notice: float
    patience: float


class QueryRun(NamedTuple):
    """What decides whether a query is concerned by changed rows.

    Axes: ``rows`` of the ledger; ``clusters``; ``resources``, the cores and links of the clusters.
    """

    nodes: Nodes
    cluster: Annotated[_Ints, column("rows", fill=-1)]  # the cluster of a row of the ledger; -1 for none
    usable: Annotated[_Ints, column("rows")]  # units of a row that the part holds or may take, as seen last
    holds: Annotated[_Ints, column("rows")]  # units of a row that the part holds, as seen last
    owes: Annotated[
        NDArray[np.uint8], column("rows")
    ]  # 1 if the part holds more than the row has, as seen last
    site: Annotated[_Ints, column("clusters")]  # the site in the ledger
    free: Annotated[_Ints, column("clusters")]  # sum of ``usable``
    held: Annotated[_Ints, column("clusters")]  # sum of ``holds``
    keep: Annotated[_Ints, column("clusters")]  # units that the part always holds
    capacity: Annotated[_Floats, column("resources")]  # of which the speeds of queries were computed
    wanted: Annotated[_Floats, column("resources")]  # what components would use of unlimited resources
    counts: Annotated[NDArray[np.void], QueryCounts]
    clock: Annotated[NDArray[np.void], QueryClock]


RUN_TYPE = numba_type(QueryRun)
_opened = opening(RUN_TYPE)


@inlined
def _read_row(run, row):
    """Read the cores of a row of a cluster."""
    cluster = run.cluster[row]
    if cluster < 0:
        return
    held, idle = run.nodes.held[row, run.counts[0].part], run.nodes.idle[row]
    usable, owes = max(idle + held, 0), np.uint8(idle < 0 and held > 0)
    run.free[cluster] += usable - run.usable[row]
    run.held[cluster] += held - run.holds[row]
    run.counts[0].owing += np.int64(owes) - np.int64(run.owes[row])
    run.usable[row], run.holds[row], run.owes[row] = usable, held, owes


@inlined
def _cores_of(run, cluster):
    """Return the cores of a cluster that the part holds or may take, within its limit."""
    free, most = run.free[cluster], run.nodes.most[run.site[cluster], run.counts[0].part]
    return (free if most < 0 else min(free, most)) / run.counts[0].units


@inlined
def _concerned(run):
    """Return whether new cores change the speeds of queries or the cores that the part holds; -1 for no new cores."""
    counts, found = run.counts[0], -1
    if counts.owing > 0:
        return 1
    for cluster in range(len(run.site)):
        if run.held[cluster] < run.keep[cluster]:
            return 1
        if _cores_of(run, cluster) != run.capacity[cluster * _STEP]:
            found = 0
    if found < 0:
        return found
    if counts.quiet == 0:
        return 1
    for resource in range(len(run.capacity)):
        cores = run.capacity[resource]
        if resource % _STEP == 0:
            cores = min(cores, _cores_of(run, resource // _STEP))
        if run.wanted[resource] > cores:
            return 1
    return 0


@inlined
def _schedule_plan(run, now):
    """Schedule a call of the planner after new cores, which are only a possible gain: no configuration lacks any."""
    clock = run.clock[0]
    clock.plan_due = min(clock.plan_due, max(now, clock.planned + clock.patience) + clock.notice)
    # An unknown next event stays unknown.
    if clock.plan_due < clock.next_event:
        clock.next_event = clock.plan_due


def _settle(address, now):
    """Take note of changed rows, as ``QueriesPart.settle`` does, if no query is concerned."""
    run = _opened(address)
    nodes, counts = run.nodes, run.nodes.counts[0]
    for place in range(counts.to_settle):
        _read_row(run, nodes.to_settle[place])
    # Parts that settled before this one have changed more rows.
    for place in range(counts.changed):
        _read_row(run, nodes.changed[place])
    concerned = _concerned(run)
    if concerned > 0:
        return IN_PYTHON
    if concerned == 0:
        for cluster in range(len(run.site)):
            run.capacity[cluster * _STEP] = _cores_of(run, cluster)
        if run.counts[0].present > 0:
            _schedule_plan(run, now)
    return REACHED


def _run(address, until, steps):
    """Do nothing before the next event."""
    return REACHED if until < _opened(address).clock[0].next_event else IN_PYTHON


def _alter(address, now):
    """Do nothing before the next change of the timetable."""
    return IN_PYTHON if _opened(address).clock[0].next_change <= now else REACHED


def _decide(address, now):
    """Do nothing before the next event if the speeds of the last decision hold."""
    run = _opened(address)
    return REACHED if run.counts[0].quiet != 0 and run.clock[0].next_event > now else IN_PYTHON


def _horizon(address):
    """Return the next event, s; NaN if it has to be computed again."""
    return _opened(address).clock[0].next_event


def _ended(address):
    """Return whether all queries have left."""
    counts = _opened(address).counts[0]
    return np.int64(counts.departed == counts.queries)


RUN = Kernel(_run, types.int64(types.int64, types.float64, types.int64), allocates=False)
ALTER = Kernel(_alter, types.int64(types.int64, types.float64), allocates=False)
SETTLE = Kernel(_settle, types.int64(types.int64, types.float64), allocates=False)
DECIDE = Kernel(_decide, types.int64(types.int64, types.float64), allocates=False)
HORIZON = Kernel(_horizon, types.float64(types.int64), allocates=False)
ENDED = Kernel(_ended, types.int64(types.int64), allocates=False)
KERNELS = (RUN, ALTER, SETTLE, DECIDE, HORIZON, ENDED)


def entries_of(part: Part, address: int) -> Entries:
    """Return the compiled steps of a part of queries.

    Parameters
    ----------
    part
        The part, which completes them.
    address
        Address of its :class:`QueryRun`.
    """
    run, alter, settle, decide, horizon, ended = (
        each.as_argument().entry for each in (RUN, ALTER, SETTLE, DECIDE, HORIZON, ENDED)
    )
    return Entries(
        address,
        run=run,
        steps=0,
        alter=alter,
        settle=settle,
        decide=decide,
        horizon=horizon,
        ended=ended,
        advanced=lambda _, until: part.advance(until),
        altered=lambda _, now: part.alter(now),
        settled=lambda _, now: part.settle(now),
        decided=lambda _, now: part.decide(now),
    )


def make_run(
    ledger: Ledger,
    rows: Sequence[range],
    number: int,
    *,
    units: int,
    keep: _Ints,
    capacity: _Floats,
    queries: int,
) -> QueryRun:
    """Return the state of the steps before the first instant.

    Parameters
    ----------
    ledger
        The ledger, with the cores that the part holds at first.
    rows
        Rows of each cluster.
    number
        The part's number in the ledger.
    units
        Units of the ledger in one core.
    keep
        (clusters,) units that the part always holds; the state shares this array.
    capacity
        (resources,) cores and links of the clusters; the state shares this array.
    queries
        Number of queries.
    """
    nodes = ledger.nodes
    cluster = np.full(len(nodes.idle), -1)
    for at, own in enumerate(rows):
        cluster[own.start : own.stop] = at
    inside, held = cluster >= 0, nodes.held[:, number]
    usable = np.where(inside, np.maximum(nodes.idle + held, 0), 0)
    holds = np.where(inside, held, 0)
    owes = inside & (nodes.idle < 0) & (held > 0)
    run = allocate(
        QueryRun,
        {"rows": len(cluster), "clusters": len(rows), "resources": len(capacity)},
        nodes=nodes,
        cluster=cluster,
        usable=usable,
        holds=holds,
        owes=owes,
        site=[nodes.site[own.start] for own in rows],
        free=[usable[own.start : own.stop].sum() for own in rows],
        held=[holds[own.start : own.stop].sum() for own in rows],
        keep=keep,
        capacity=capacity,
    )
    counts = QueryCounts.of(run.counts)
    counts.part, counts.units, counts.queries, counts.owing = number, units, queries, int(owes.sum())
    return run
