"""The exact minimum of transfer plus compute time of a stage: a linear program in two variables.

The constraints on the placement of one stage depend only on each site's share of the tasks, and the bounds of
a share depend on two numbers: the transfer time ``T`` and the *pace* ``c``, the compute time of one slot's
worth of work per unit of work (compute time = ``work · c``). A site may hold at most ``min(base + T · down, c
· slots)`` and must hold at least ``need − T · up``, in shares of the stage. So T and c are feasible if and
only if

- ``T · up + c · slots ≥ need`` at every site (what cannot leave in time must be computed in time),
- ``Σ min(base + T · down, c · slots) ≥ 1`` (there is room for all tasks),
- if bytes are limited, the most bytes that can stay in place suffice.

Each condition is concave and piecewise linear in (T, c). :func:`search` keeps the linear pieces found so far,
and the best vertex under them; a piece that the vertex violates is added, which moves the vertex along that
piece. It ends when none is violated: the vertex is then the exact optimum, the crossing of two true pieces.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import allocating, lean

#: Results of a search; the first one is success.
SOLVED, NO_ROOM, NO_BUDGET = range(3)
#: Rounding error of a sum of shares; a constraint that is violated by less counts as satisfied.
ROUNDING = 4e-15


class StageConstraints(NamedTuple):
    """Constraints on a stage's shares: columns of length n, and bounds of the two variables.

    ``need`` and ``base`` are shares, ``up`` and ``down`` shares/s, ``slots`` the slots of each site. ``data``
    is each site's share of the bytes and ``order`` the sites by it, largest first; both are used only if
    bytes are limited, that is if ``target``, the least Σ data · share, is above 0. ``work`` is in
    slot-seconds and may be 0. ``least_transfer`` and ``least_pace`` are lower bounds of the two variables.
    """

    need: NDArray[np.float64]
    base: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    slots: NDArray[np.float64]
    data: NDArray[np.float64]
    order: NDArray[np.int64]
    work: float
    least_transfer: float
    least_pace: float
    target: float


@lean
def total_of(values):
    """Return the sum. Numba's own sum takes seconds to compile, because of errors that cannot occur here."""
    total = values.dtype.type(0)
    for x in range(len(values)):
        total += values[x]
    return total


@lean
def fill(values, value):
    """Set all values. Numba's own function is slow to compile, as for sums."""
    for x in range(len(values)):
        values[x] = value


@lean
def copy(source, target):
    """Copy ``source`` into ``target`` of the same length."""
    for x in range(len(target)):
        target[x] = source[x]


@allocating
def parts(values, total):
    """Return each value divided by ``total``."""
    result = np.empty(len(values))
    for x in range(len(values)):
        result[x] = values[x] / total
    return result


@lean
def along_cut(cuts, count, program):
    """Return the best vertex (T, c) on the newest of ``count`` cuts (rows α, β, γ: α T + β c ≥ γ) under all others."""
    alpha, beta, gamma = cuts[count - 1, 0], cuts[count - 1, 1], cuts[count - 1, 2]
    if alpha <= 0.0:
        pace = gamma / beta
        transfer = program.least_transfer
        for row in range(count - 1):
            if cuts[row, 0] > 0.0:
                transfer = max(transfer, (cuts[row, 2] - cuts[row, 1] * pace) / cuts[row, 0])
        return transfer, pace
    low = program.least_pace
    high = np.inf if beta <= 0.0 else (gamma - alpha * program.least_transfer) / beta
    for row in range(count - 1):
        ahead, behind = cuts[row, 1] * alpha, cuts[row, 0] * beta
        turn = ahead - behind
        # Of parallel cuts the newer one is stricter, because the vertex satisfied the older one.
        if abs(turn) <= 1e-13 * (ahead + behind):
            continue
        at = (cuts[row, 2] * alpha - cuts[row, 0] * gamma) / turn
        if turn > 0.0:
            low = max(low, at)
        else:
            high = min(high, at)
    pace = low if program.work * alpha >= beta else high
    return max(program.least_transfer, (gamma - beta * pace) / alpha), pace


@lean
def site_cut(cut, transfer, pace, program):
    """Find the site that most needs a longer transfer; return whether there is one."""
    need, up, slots = program.need, program.up, program.slots
    worst, site = transfer * (1.0 + ROUNDING), -1
    for x in range(len(need)):
        if up[x] > 0.0 and slots[x] > 0.0 and need[x] - pace * slots[x] > worst * up[x]:
            missing = need[x] - pace * slots[x]
            if missing > ROUNDING * need[x]:
                worst, site = missing / up[x], x
    if site >= 0:
        cut[0], cut[1], cut[2] = up[site], slots[site], need[site]
    return site >= 0


@lean
def room_cut(cut, transfer, pace, program):
    """Compute the current piece of the total room; return whether the room is too small."""
    base, down, slots = program.base, program.down, program.slots
    alpha, beta, fixed = 0.0, 0.0, 0.0
    for x in range(len(base)):
        if pace * slots[x] <= base[x] + transfer * down[x]:
            beta += slots[x]
        else:
            alpha += down[x]
            fixed += base[x]
    cut[0], cut[1], cut[2] = alpha, beta, 1.0 - fixed
    return transfer * alpha + pace * beta + fixed < 1.0 - ROUNDING


@lean
def staying_cut(cut, transfer, pace, program):
    """Compute the current piece of the largest Σ data · share; return whether it is below the target.

    Shares start at their lower bounds; the rest is given to the sites with the most data, up to site p. Sites
    before p are at their upper bound, those after it at their lower bound.
    """
    need, base, up, down = program.need, program.base, program.up, program.down
    slots, data, order = program.slots, program.data, program.order
    rest = 1.0
    for x in range(len(need)):
        rest -= max(0.0, need[x] - transfer * up[x])
    last = order[len(order) - 1]
    staying = 0.0
    position = 0
    while position < len(order):
        x = order[position]
        low = max(0.0, need[x] - transfer * up[x])
        room = min(base[x] + transfer * down[x], pace * slots[x]) - low
        if room >= rest:
            last = x
            break
        rest -= room
        position += 1
    worth = data[last]
    alpha, beta, fixed = 0.0, 0.0, worth
    for place in range(len(order)):
        x = order[place]
        more = data[x] - worth
        if place < position:
            if pace * slots[x] <= base[x] + transfer * down[x]:
                beta += more * slots[x]
            else:
                alpha += more * down[x]
                fixed += more * base[x]
        elif need[x] - transfer * up[x] > 0.0:
            alpha -= more * up[x]
            fixed += more * need[x]
    cut[0], cut[1], cut[2] = alpha, beta, program.target - fixed
    staying = transfer * alpha + pace * beta + fixed
    return staying < program.target - ROUNDING


@allocating
def search(program):
    """Return the optimal (T, c) and the result of the search."""
    cuts = np.empty((16 * len(program.need) + 64, 3))
    transfer, pace = program.least_transfer, program.least_pace
    count = 0
    while count < len(cuts):
        cut = cuts[count]
        found = site_cut(cut, transfer, pace, program)
        status = NO_ROOM
        if not found:
            found = room_cut(cut, transfer, pace, program)
        if not found and program.target > 0.0:
            found = staying_cut(cut, transfer, pace, program)
            status = NO_BUDGET
        if not found:
            return transfer, pace, SOLVED
        if cut[0] <= 0.0 and cut[1] <= 0.0:
            return transfer, pace, status
        count += 1
        before_transfer, before_pace = transfer, pace
        transfer, pace = along_cut(cuts, count, program)
        if transfer == before_transfer and pace == before_pace:
            break
    return transfer, pace, SOLVED
