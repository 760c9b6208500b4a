"""Making a plan better by few switches at a time, and making one fit.

A plan that is good needs at last not one switch but two: somebody gives up a little where that makes room for somebody
who gains more. All pairs of switches are too many, so a query only has its few configurations that are worth most at
the prices of :mod:`~windlass.plan.lib.prices`; and whoever makes room has to relieve what is short most.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.jit import Kernel, lean
from windlass.plan.lib.greedy import fits_now, take

#: What is less is a rounding.
LEAST = 1e-9


@lean
def two_fit(demand, columns, i, row, k, low, room, chosen):
    """Whether two queries' rows fit together into what is left and what both hold."""
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
    """The resource that a row lacks most beside what its query holds, −1 where it fits; and how much of it."""
    worst, most = -1, 0.0
    for at in range(demand.shape[1]):
        lacks = demand[row, at] - demand[held, at] - room[columns[i, at]]
        if lacks > most:
            worst, most = columns[i, at], lacks
    return worst, most


@lean
def make_room(i, row, gain, start, accuracy, columns, demand, room, chosen):
    """Who makes room for a row at the least loss, less than is gained: the query and its row, −1 for nobody."""
    worst, most = short_of(demand, columns, i, row, room, chosen[i])
    who, low, least = -1, -1, gain - LEAST
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
                who, low, least = k, other, loss
    return who, low


def improve(start, accuracy, columns, demand, room, chosen, sweeps):
    """Single switches and pairs of switches, query by query, until none gains or so many sweeps are over.

    ``room`` (L + 1,) is what is left and ``chosen`` (n,) the row each query runs, −1 for none; both are changed.
    Returns how many switches were made.
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
                up, who, low, most = -1, -1, -1, LEAST
                for row in range(start[i], start[i + 1]):
                    gain = accuracy[row] - now
                    if gain <= most:
                        continue
                    k, other = make_room(
                        i, row, gain - most + LEAST, start, accuracy, columns, demand, room, chosen
                    )
                    if k >= 0:
                        up, who, low, most = row, k, other, gain - (accuracy[chosen[k]] - accuracy[other])
                if up >= 0:
                    take(who, low, columns, demand, room, chosen)
                    take(i, up, columns, demand, room, chosen)
                    made += 2
                    again = True
        if made == before:
            break
    return made


def repair(start, accuracy, columns, demand, room, chosen):
    """Switch until all fits, each time by the least loss for what is relieved; returns whether that went.

    ``room`` is what is left, below 0 where too much is asked for. Each switch relieves something in all, so it ends.
    """
    while True:
        over = 0.0
        for column in range(len(room) - 1):
            over += max(0.0, -room[column])
        if over <= 0.0:
            return True
        who, what, best = -1, -1, np.inf
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
                    # What is lost for what is relieved; never less than nothing, or a free switch would hide relief.
                    merit = max(0.0, accuracy[held] - accuracy[row]) / relief
                    if merit < best:
                        who, what, best = i, row, merit
        if who < 0:
            return False
        take(who, what, columns, demand, room, chosen)


_floats, _ints = types.float64[::1], types.int64[::1]
_PROBLEM = (_ints, _floats, types.int64[:, ::1], types.float64[:, ::1])
IMPROVE = Kernel(improve, types.int64(*_PROBLEM, _floats, _ints, types.int64))
REPAIR = Kernel(repair, types.boolean(*_PROBLEM, _floats, _ints))
