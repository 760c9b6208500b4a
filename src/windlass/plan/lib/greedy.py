"""The greedy algorithm of Figure 5.13.

Each query starts with its cheapest configuration. Then the switch with the best efficiency is made, repeatedly.

Each step chooses among the switches of all queries, but few of them have to be recomputed. A query's best
switch stays its best while resources only get scarcer, if it still fits. If a switch releases a resource, the
queries that could use it are recomputed, and only if their largest possible gain exceeds the best known one.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, lean
from windlass.jit.schema import allocate, column, numba_type
from windlass.plan.lib.problem import ROOM, Problem

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Bools = NDArray[np.bool_]


@lean
def fits_now(demand, row, columns, i, room, held):
    """Return whether a row fits into the free room plus the resources of its query's row ``held`` (−1 for none)."""
    for at in range(demand.shape[1]):
        left = room[columns[i, at]]
        if held >= 0:
            left += demand[held, at]
        if demand[row, at] > left:
            return False
    return True


class Climb(NamedTuple):
    """Configurations sorted by query and cost, what runs, and the best switch of each query."""

    start: Annotated[_Ints, column("ends")]  # first configuration of each query, and the end of the last
    accuracy: Annotated[_Floats, column("rows")]
    columns: Annotated[_Ints, column("queries", "needs")]  # the resources that each query uses
    demand: Annotated[_Floats, column("rows", "needs")]
    cost: Annotated[_Floats, column("rows")]
    release: int  # 1 if the resources that a query holds count as free for its own switch
    plain: int  # 1 if efficiency is accuracy divided by cost
    room: Annotated[_Floats, column("resources")]  # free capacity; changed
    turn: Annotated[
        _Ints, column("starting")
    ]  # queries with configurations, in the order in which they start
    chosen: Annotated[_Ints, column("queries", fill=-1)]  # the row that each query runs, -1 for none; changed
    best: Annotated[_Floats, column("queries", fill=np.inf)]  # efficiency of the best switch
    gain: Annotated[_Floats, column("queries", fill=np.inf)]
    chance: Annotated[
        _Floats, column("queries", fill=None)
    ]  # the largest efficiency that a query could reach
    which: Annotated[_Ints, column("queries", fill=None)]  # the row of the best switch


@lean
def find_switch(i, state):
    """Find query i's best switch: its efficiency, gain and row; and the largest efficiency it could reach."""
    accuracy, columns, demand, cost = state.accuracy, state.columns, state.demand, state.cost
    start, release, plain, room, chosen = (
        state.start,
        state.release != 0,
        state.plain != 0,
        state.room,
        state.chosen,
    )
    best, gain, chance, which = state.best, state.gain, state.chance, state.which
    held = chosen[i]
    now, paid = (accuracy[held], cost[held]) if held >= 0 else (0.0, 0.0)
    best[i], gain[i], which[i], chance[i] = -1.0, -1.0, -1, -1.0
    for row in range(start[i], start[i + 1]):
        more = accuracy[row] - now
        if more <= 0.0:
            continue
        # Queries that do not run yet come first, then switches without cost, each by gain.
        free = held < 0 or cost[row] <= paid
        efficiency = np.inf
        if plain:
            efficiency = accuracy[row] / cost[row]
        elif not free:
            efficiency = more / (cost[row] - paid)
        gained = more + (1.0 if held < 0 else 0.0)
        chance[i] = max(chance[i], efficiency)
        if efficiency < best[i] or (efficiency == best[i] and gained <= gain[i]):
            continue
        if fits_now(demand, row, columns, i, room, held if release else -1):
            best[i], gain[i], which[i] = efficiency, gained, row


@lean
def take(i, row, columns, demand, room, chosen):
    """Replace the configuration of a query by another row."""
    held = chosen[i]
    for at in range(demand.shape[1]):
        column = columns[i, at]
        if held >= 0:
            room[column] += demand[held, at]
        room[column] -= demand[row, at]
    room[len(room) - 1] = np.inf
    chosen[i] = row


@lean
def releases(j, i, row, held, columns, demand):
    """Return whether a switch between two rows releases any resource that query j could use."""
    for at in range(demand.shape[1]):
        if held >= 0 and demand[held, at] > demand[row, at]:
            for other in range(columns.shape[1]):
                if columns[j, other] == columns[i, at]:
                    return True
    return False


@lean
def start_all(state):
    """Start each query with its cheapest configuration; if that does not fit, with the next one that does."""
    columns, demand, room, chosen = state.columns, state.demand, state.room, state.chosen
    for place in range(len(state.turn)):
        i = state.turn[place]
        for row in range(state.start[i], state.start[i + 1]):
            if fits_now(demand, row, columns, i, room, -1):
                take(i, row, columns, demand, room, chosen)
                break


def climb(state):
    """Start all queries, and switch until nothing fits or gains; return the number of switches."""
    start_all(state)
    columns, demand, room, chosen = state.columns, state.demand, state.room, state.chosen
    best, gain, chance, which = state.best, state.gain, state.chance, state.which
    n, switches = len(chosen), 0
    sure = chosen < -1
    while True:
        i = -1
        for j in range(n):
            if best[j] >= 0.0 and (i < 0 or best[j] > best[i] or (best[j] == best[i] and gain[j] > gain[i])):
                i = j
        if i < 0:
            return switches
        held, row = chosen[i], which[i]
        if not sure[i] or not fits_now(demand, row, columns, i, room, held if state.release != 0 else -1):
            find_switch(i, state)
            sure[i] = True
            continue
        take(i, row, columns, demand, room, chosen)
        switches += 1
        sure[i], best[i], gain[i] = False, np.inf, np.inf
        for j in range(n):
            if sure[j] and chance[j] > best[j] and releases(j, i, row, held, columns, demand):
                sure[j], best[j], gain[j] = False, chance[j], np.inf


CLIMB = Kernel(climb, types.int64(numba_type(Climb)))


def band_of(start, order, accuracy, cost, band, keep):
    """Clear the marks of configurations above the band; ``order`` has the most accurate of each query first."""
    for i in range(len(start) - 1):
        at, end, least = start[i], start[i + 1], np.inf
        while at < end:
            # Configurations of one accuracy compete at the same point of the boundary.
            last = at
            while last < end and accuracy[order[last]] == accuracy[order[at]]:
                least = min(least, cost[order[last]])
                last += 1
            for row in order[at:last]:
                # A boundary with cost 0 has a band of width 0 for any factor.
                if cost[row] > least * band:
                    keep[row] = False
            at = last


BAND = Kernel(
    band_of,
    types.void(*(types.int64[::1],) * 2, *(types.float64[::1],) * 2, types.float64, types.boolean[::1]),
)


def in_band(problem: Problem, band: float) -> _Bools:
    """Return (K,) which configurations cost at most ``band`` times as much as the Pareto boundary at their accuracy.

    The boundary at an accuracy is the least cost of all configurations of the query that are at least as
    accurate. Configurations that need a resource without capacity are left out.

    Source: thesis, section 5.5.5.
    """
    keep = np.isfinite(problem.cost)
    if band < np.inf:
        BAND.ready()(problem.start, problem.by_accuracy, problem.accuracy, problem.cost, band, keep)
    return keep


def greedy(
    problem: Problem, band: float, release: bool = False, plain: bool = False, height: _Ints | None = None
) -> _Ints:
    """Return the choices of the greedy (n,) within the Pareto band.

    Parameters
    ----------
    problem
        The problem, with the cost to use.
    band
        Maximum cost of a configuration as a multiple of the boundary's.
    release
        Whether the resources that a query holds count as free for its own switch; in the paper they do not.
    plain
        Whether efficiency is accuracy divided by cost, instead of gain divided by extra cost.
    height
        (K,) the largest goes first among configurations of a query with equal cost and accuracy; None for the
        order of the problem.
    """
    n = len(problem)
    own = problem.owners()
    kept = np.flatnonzero(in_band(problem, band))
    ties = np.zeros(len(kept)) if height is None else -height[kept]
    order = kept[np.lexsort((ties, -problem.accuracy[kept], problem.cost[kept], own[kept]))]
    start = np.searchsorted(own[order], np.arange(n + 1))
    accuracy, cost, demand = problem.accuracy[order], problem.cost[order], problem.demand[order]
    room, chosen = np.full(problem.resources + 1, ROOM), np.full(n, -1)
    room[-1] = np.inf
    some = np.flatnonzero(np.diff(start))
    sizes = {
        "ends": n + 1,
        "rows": len(order),
        "queries": n,
        "needs": demand.shape[1],
        "resources": len(room),
        "starting": len(some),
    }
    state = allocate(
        Climb,
        sizes,
        start=start,
        accuracy=accuracy,
        columns=problem.columns,
        demand=demand,
        cost=cost,
        release=int(release),
        plain=int(plain),
        room=room,
        turn=some[np.argsort(cost[start[:-1][some]], kind="stable")],
        chosen=chosen,
    )
    CLIMB.ready()(state)
    runs = chosen >= 0
    choices = np.full(n, -1)
    choices[runs] = order[chosen[runs]] - problem.start[:-1][runs]
    return choices
