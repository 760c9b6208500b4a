"""The greedy of Figure 5.13: each query's cheapest configuration, then repeatedly the switch with the best efficiency.

Each step chooses among the switches of all queries, but few of them have to be recomputed. A query's best
switch stays its best while resources only get scarcer, if it still fits. If a switch releases a resource, the
queries that could use it are recomputed, and only if their largest possible gain exceeds the best known one.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, lean
from windlass.plan.lib.problem import ROOM, Problem

_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]


@lean
def fits_now(demand, row, columns, i, room, held):
    """Return whether a row fits into the free room, plus what its query holds (a row, −1 for nothing)."""
    for at in range(demand.shape[1]):
        left = room[columns[i, at]]
        if held >= 0:
            left += demand[held, at]
        if demand[row, at] > left:
            return False
    return True


@lean
def find_switch(
    i, start, accuracy, columns, demand, cost, release, plain, room, chosen, best, gain, chance, which
):
    """Find query i's best switch: its efficiency, gain and row; and the largest efficiency it could reach."""
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
def gives_back(j, i, row, held, columns, demand):
    """Return whether a switch between two rows releases any resource that query j could use."""
    for at in range(demand.shape[1]):
        if held >= 0 and demand[held, at] > demand[row, at]:
            for other in range(columns.shape[1]):
                if columns[j, other] == columns[i, at]:
                    return True
    return False


def climb(start, accuracy, columns, demand, cost, release, plain, room, chosen, best, gain, chance, which):
    """Switch until nothing fits or gains; rows of each query are sorted by cost. Return the number of switches.

    ``room`` (L + 1,) is the free capacity and ``chosen`` (n,) the row that each query runs, −1 for none; both
    are changed. ``best``, ``gain``, ``chance`` and ``which`` (n,) are work space.
    """
    n, switches = len(chosen), 0
    sure = chosen < -1
    best[:], gain[:] = np.inf, np.inf
    while True:
        i = -1
        for j in range(n):
            if best[j] >= 0.0 and (i < 0 or best[j] > best[i] or (best[j] == best[i] and gain[j] > gain[i])):
                i = j
        if i < 0:
            return switches
        held, row = chosen[i], which[i]
        if not sure[i] or not fits_now(demand, row, columns, i, room, held if release else -1):
            find_switch(
                i,
                start,
                accuracy,
                columns,
                demand,
                cost,
                release,
                plain,
                room,
                chosen,
                best,
                gain,
                chance,
                which,
            )
            sure[i] = True
            continue
        take(i, row, columns, demand, room, chosen)
        switches += 1
        sure[i], best[i], gain[i] = False, np.inf, np.inf
        for j in range(n):
            if sure[j] and chance[j] > best[j] and gives_back(j, i, row, held, columns, demand):
                sure[j], best[j], gain[j] = False, chance[j], np.inf


_floats, _wide, _ints = types.float64[::1], types.float64[:, ::1], types.int64[::1]
_PROBLEM = (_ints, _floats, types.int64[:, ::1], _wide, _floats)
_WORK = (_floats, _floats, _floats, _ints)
CLIMB = Kernel(climb, types.int64(*_PROBLEM, types.boolean, types.boolean, _floats, _ints, *_WORK))


def in_band(problem: Problem, band: float) -> _Bools:
    """Return (K,) which configurations cost at most ``band`` times as much as the Pareto boundary at their accuracy.

    The boundary at an accuracy is the least cost of all configurations of the query that are at least as
    accurate. Configurations that need a resource without capacity are left out.

    Source: thesis, section 5.5.5.
    """
    if band == np.inf:
        return np.isfinite(problem.cost)
    own = problem.owners()
    order = np.lexsort((problem.cost, -problem.accuracy, own))
    cost, keep = problem.cost[order], np.zeros(len(order), dtype=bool)
    for i in range(len(problem)):
        rows = slice(int(problem.start[i]), int(problem.start[i + 1]))
        least = np.minimum.accumulate(cost[rows])
        finite = least < np.inf
        # A boundary with cost 0 has a band of width 0 for any factor.
        widest = np.where(finite & (least > 0), band, 1.0) * np.where(finite, least, 0.0)
        keep[order[rows]] = np.isfinite(cost[rows]) & finite & (cost[rows] <= widest)
    return keep


def greedy(problem: Problem, band: float, release: bool = False, plain: bool = False) -> _Ints:
    """Return the choices of the greedy (n,) within the Pareto band.

    Parameters
    ----------
    problem
        The problem, with the cost to use.
    band
        Maximum cost of a configuration as a multiple of the boundary's.
    release
        Whether what a query holds counts as free for its own switch; as printed it does not.
    plain
        Whether efficiency is accuracy divided by cost, instead of gain divided by extra cost.
    """
    n = len(problem)
    own = problem.owners()
    order = np.lexsort((-problem.accuracy, problem.cost, own))
    order = order[in_band(problem, band)[order]]
    start = np.searchsorted(own[order], np.arange(n + 1))
    accuracy, cost, demand = problem.accuracy[order], problem.cost[order], problem.demand[order]
    room, chosen = np.full(problem.resources + 1, ROOM), np.full(n, -1)
    room[-1] = np.inf
    some = np.flatnonzero(np.diff(start))
    for i in some[np.argsort(cost[start[:-1][some]], kind="stable")].tolist():
        rows = demand[start[i] : start[i + 1]]
        # If the cheapest does not fit in the free room, take the next one that does.
        fits = (rows <= room[problem.columns[i]]).all(axis=1)
        if fits.any():
            chosen[i] = start[i] + int(fits.argmax())
            np.subtract.at(room, problem.columns[i], demand[chosen[i]])
            room[-1] = np.inf
    work = [np.empty(n) for _ in range(3)]
    columns = np.ascontiguousarray(problem.columns)
    CLIMB.ready()(
        start, accuracy, columns, demand, cost, release, plain, room, chosen, *work, np.empty(n, np.int64)
    )
    runs = chosen >= 0
    choices = np.full(n, -1)
    choices[runs] = order[chosen[runs]] - problem.start[:-1][runs]
    return choices
