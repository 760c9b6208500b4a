"""The planner of VideoStorm: all cores form one pool, and each plan is placed once, at random."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.problem import ROOM, Problem

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
#: Accuracy and cores of a plan.
_Plan = tuple[float, float]


def storm_choices(
    problem: Problem, work: _Floats, pool: float, rng: np.random.Generator, cheaper: bool = False
) -> _Ints:
    """Return choices (n,): plans by gain for their cores in the pool; then each is placed once, where it fits.

    Planning ignores clusters and links.

    Parameters
    ----------
    problem
        Its demands decide which placements fit. Configurations that exceed a capacity alone are left out.
    work
        (K,) total cores of each configuration. Configurations of a query with equal accuracy and cores are
        placements of one plan.
    pool
        Cores of all clusters together; infinity for no limit.
    rng
        Draws a placement among those that fit, query by query.
    cheaper
        Whether a query whose plan fits nowhere runs its most accurate plan with fewer cores that does fit;
        otherwise it does not run.
    """
    placements = [_placements(problem, work, i) for i in range(len(problem))]
    planned = _planned([list(own) for own in placements], pool * ROOM)
    room, choices = np.full(problem.resources + 1, ROOM), np.full(len(problem), -1)
    for i, plan in enumerate(planned):
        if plan is None:
            continue
        columns = problem.columns[i]
        less = (
            [other for other in placements[i] if other[0] < plan[0] and other[1] < plan[1]] if cheaper else []
        )
        for tried in (plan, *sorted(less, key=lambda other: (-other[0], other[1]))):
            rows = placements[i][tried]
            fits = rows[(problem.demand[rows] <= room[columns]).all(axis=1)]
            if len(fits):
                row = fits[rng.integers(len(fits))]
                np.subtract.at(room, columns, problem.demand[row])
                room[-1] = np.inf
                choices[i] = row - problem.start[i]
                break
    return choices


def _planned(plans: list[list[_Plan]], left: float) -> list[_Plan | None]:
    """Return a plan for each query, or None, whose cores are at most ``left`` in total; changes ``plans``."""
    now: list[_Plan | None] = [None] * len(plans)
    heap: list[tuple[float, float, int, int]] = []

    def push(i: int) -> None:
        """Add the next switch of a query to the heap, if any."""
        keys = [
            (*_merit(plan, now[i]), i, at)
            for at, plan in enumerate(plans[i])
            if (held := now[i]) is None or plan[0] > held[0]
        ]
        if keys:
            heapq.heappush(heap, min(keys))

    for i in range(len(plans)):
        push(i)
    while heap:
        _, _, i, at = heapq.heappop(heap)
        plan, held = plans[i][at], now[i]
        more = plan[1] - (held[1] if held is not None else 0.0)
        if more <= left:
            now[i], left = plan, left - more
        else:
            del plans[i][at]
        push(i)
    return now


def _merit(plan: _Plan, held: _Plan | None) -> tuple[float, float]:
    """Return a sort key, least first: queries that do not run, by fewest cores; then free switches; then efficiency."""
    value, cores = plan
    if held is None:
        return -np.inf, cores
    efficiency = (value - held[0]) / (cores - held[1]) if cores > held[1] else np.inf
    return -efficiency, -value


def _placements(problem: Problem, work: _Floats, i: int) -> dict[_Plan, _Ints]:
    """Return the plans of a query in ascending order, with the rows of their placements."""
    rows = np.arange(problem.start[i], problem.start[i + 1])
    rows = rows[problem.cost[rows] <= ROOM]
    if not len(rows):
        return {}
    kinds, which = np.unique(
        np.stack((problem.accuracy[rows], work[rows].round(9)), axis=1), axis=0, return_inverse=True
    )
    which = which.reshape(-1)
    return {(float(a), float(w)): rows[which == at] for at, (a, w) in enumerate(kinds)}
