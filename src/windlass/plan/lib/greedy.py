"""The greedy of Figure 5.13: everybody's cheapest, then the switch that gains most for what it costs, again and again.

The switch is chosen over all queries at each step, but few of them have to be looked at. What was found best for a
query stays its best while resources only get scarcer, if it still fits. Where a switch gives something back, the
queries that could use it are looked at again, and only if what they could gain at most is more than what is known.
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
    """Whether a row fits into what is left, with what its query holds (a row, −1 for nothing) if that counts."""
    for at in range(demand.shape[1]):
        left = room[columns[i, at]]
        if held >= 0:
            left += demand[held, at]
        if demand[row, at] > left:
            return False
    return True


@lean
def look_again(
    i, start, accuracy, columns, demand, cost, release, plain, room, chosen, best, gain, chance, which
):
    """Find query i's best switch: its efficiency, what it gains, and the row; and what it could gain at most."""
    held = chosen[i]
    now, paid = (accuracy[held], cost[held]) if held >= 0 else (0.0, 0.0)
    best[i], gain[i], which[i], chance[i] = -1.0, -1.0, -1, -1.0
    for row in range(start[i], start[i + 1]):
        more = accuracy[row] - now
        if more <= 0.0:
            continue
        # Who does not run yet goes first, then what costs nothing, each by what is gained.
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
    """Let a query run a row in place of what it holds."""
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
    """Whether a switch from one row to another leaves more of anything that query j could use."""
    for at in range(demand.shape[1]):
        if held >= 0 and demand[held, at] > demand[row, at]:
            for other in range(columns.shape[1]):
                if columns[j, other] == columns[i, at]:
                    return True
    return False


def climb(start, accuracy, columns, demand, cost, release, plain, room, chosen, best, gain, chance, which):
    """Switch until nothing fits or gains; rows of each query are sorted by cost. Returns the number of switches.

    ``room`` (L + 1,) is what is left and ``chosen`` (n,) the row each query runs, −1 for none; both are changed.
    ``best``, ``gain``, ``chance`` and ``which`` (n,) are room to work in.
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
            look_again(
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
    """(K,) which configurations are on the Pareto boundary, or cost at most ``band`` times as much as it does there.

    The boundary at an accuracy is the least cost of all configurations of the query that are as accurate or more.
    Configurations that need what there is none of are left out.

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
        # A boundary of no cost has a band of no width, however wide.
        widest = np.where(finite & (least > 0), band, 1.0) * np.where(finite, least, 0.0)
        keep[order[rows]] = np.isfinite(cost[rows]) & finite & (cost[rows] <= widest)
    return keep


def greedy(problem: Problem, band: float, release: bool = False, plain: bool = False) -> _Ints:
    """(n,) choices of the greedy within the Pareto band.

    Parameters
    ----------
    problem
        Whose cost is the one to be climbed by.
    band
        How many times the boundary's cost a configuration may have.
    release
        Whether what a query holds counts as free for its own switch; as printed it does not.
    plain
        Whether efficiency is accuracy by cost, instead of what is gained by what is paid more.
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
        # Where the cheapest does not fit beside those before it, the next that does.
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
