"""Improvement of a plan by single and paired switches, and repair of a plan that does not fit.

A good plan can often be improved only by two switches at once: one query loses a little to make room for
another that gains more. All pairs would be too many, so each query only has its few configurations that are
worth most at the prices of :mod:`~windlass.plan.lib.prices`, and the query that makes room has to relieve the
scarcest resource.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.jit import Kernel, lean
from windlass.plan.lib.greedy import fits_now, take

#: Smaller gains are rounding errors.
LEAST = 1e-9


@lean
def two_fit(demand, columns, i, row, k, low, room, chosen):
    """Return whether the rows of two queries fit together into the free room and what both hold."""
    for at in range(demand.shape[1]):
        column = columns[i, at]
        if column == len(room) - 1:
            continue
        left = room[column] + demand[chosen[i], at] - demand[row, at]
        for other in range(demand.shape[1]):
            if columns[k, other] == column:
                left += demand[chosen[k], other] - demand[low, other]
        if left < 0.0:
            return False
    for at in range(demand.shape[1]):
        column = columns[k, at]
        if column == len(room) - 1:
            continue
        more = demand[low, at] - demand[chosen[k], at]
        if more > 0.0:
            left = room[column] - more
            for other in range(demand.shape[1]):
                if columns[i, other] == column:
                    left += demand[chosen[i], other] - demand[row, other]
            if left < 0.0:
                return False
    return True


@lean
def short_of(demand, columns, i, row, room, held):
    """Return the resource that a row lacks most beyond what its query holds, and how much; −1 if it fits."""
    worst, most = -1, 0.0
    for at in range(demand.shape[1]):
        lacks = demand[row, at] - demand[held, at] - room[columns[i, at]]
        if lacks > most:
            worst, most = columns[i, at], lacks
    return worst, most


@lean
def make_room(i, row, gain, start, accuracy, columns, demand, room, chosen):
    """Return the query, and its row, that makes room for a row at the least loss below the gain; −1 for none."""
    worst, most = short_of(demand, columns, i, row, room, chosen[i])
    query, low, least = -1, -1, gain - LEAST
    for k in range(len(chosen)):
        held = chosen[k]
        if k == i or held < 0:
            continue
        at = -1
        for other in range(demand.shape[1]):
            if columns[k, other] == worst:
                at = other
        if at < 0 or demand[held, at] < most:
            continue
        for other in range(start[k], start[k + 1]):
            loss = accuracy[held] - accuracy[other]
            if loss >= least or demand[held, at] - demand[other, at] < most or other == held:
                continue
            if two_fit(demand, columns, i, row, k, other, room, chosen):
                query, low, least = k, other, loss
    return query, low


def improve(start, accuracy, columns, demand, room, chosen, sweeps):
    """Make single and paired switches, query by query, until none gains or after ``sweeps`` passes.

    ``room`` (L + 1,) is the free capacity and ``chosen`` (n,) the row that each query runs, −1 for none; both
    are changed. Return the number of switches.
    """
    made = 0
    for _ in range(sweeps):
        before = made
        for i in range(len(chosen)):
            again = True
            while again:
                again = False
                held = chosen[i]
                now = accuracy[held] if held >= 0 else -1.0
                best, most = -1, now + LEAST
                for row in range(start[i], start[i + 1]):
                    if accuracy[row] > most and fits_now(demand, row, columns, i, room, held):
                        best, most = row, accuracy[row]
                if best >= 0:
                    take(i, best, columns, demand, room, chosen)
                    made += 1
                    held, now = best, accuracy[best]
                if held < 0:
                    continue
                up, query, low, most = -1, -1, -1, LEAST
                for row in range(start[i], start[i + 1]):
                    gain = accuracy[row] - now
                    if gain <= most:
                        continue
                    k, other = make_room(
                        i, row, gain - most + LEAST, start, accuracy, columns, demand, room, chosen
                    )
                    if k >= 0:
                        up, query, low, most = row, k, other, gain - (accuracy[chosen[k]] - accuracy[other])
                if up >= 0:
                    take(query, low, columns, demand, room, chosen)
                    take(i, up, columns, demand, room, chosen)
                    made += 2
                    again = True
        if made == before:
            break
    return made


def repair(start, accuracy, columns, demand, room, chosen):
    """Switch until the plan fits, each time at the least loss for the relief; return whether that succeeded.

    ``room`` is the free capacity, below 0 for overload. Each switch reduces the total overload, so the loop
    ends.
    """
    while True:
        over = 0.0
        for column in range(len(room) - 1):
            over += max(0.0, -room[column])
        if over <= 0.0:
            return True
        query, what, best = -1, -1, np.inf
        for i in range(len(chosen)):
            held = chosen[i]
            touches = False
            for at in range(demand.shape[1]):
                touches = touches or (demand[held, at] > 0.0 and room[columns[i, at]] < 0.0)
            if not touches:
                continue
            for row in range(start[i], start[i + 1]):
                relief = 0.0
                for at in range(demand.shape[1]):
                    left = room[columns[i, at]]
                    if columns[i, at] < len(room) - 1:
                        after = left + demand[held, at] - demand[row, at]
                        relief += max(0.0, -left) - max(0.0, -after)
                if relief > LEAST:
                    # The loss counts at least 0; otherwise a free switch with little relief would always win.
                    merit = max(0.0, accuracy[held] - accuracy[row]) / relief
                    if merit < best:
                        query, what, best = i, row, merit
        if query < 0:
            return False
        take(query, what, columns, demand, room, chosen)


_floats, _ints = types.float64[::1], types.int64[::1]
_PROBLEM = (_ints, _floats, types.int64[:, ::1], types.float64[:, ::1])
IMPROVE = Kernel(improve, types.int64(*_PROBLEM, _floats, _ints, types.int64))
REPAIR = Kernel(repair, types.boolean(*_PROBLEM, _floats, _ints))
