"""The planner of VideoStorm: all cores form one pool, and placements are drawn at random."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.problem import ROOM, Problem

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def storm_choices(problem: Problem, work: _Floats, rng: np.random.Generator) -> _Ints:
    """Return choices (n,): plans by gain for their cores, each placed at random where it fits.

    Parameters
    ----------
    problem
        Its demands decide which placements fit.
    work
        (K,) total cores of each configuration. Configurations of a query with equal accuracy and cores are
        placements of one plan.
    rng
        Draws placements.
    """
    n = len(problem)
    room, choices = np.full(problem.resources + 1, ROOM), np.full(n, -1)
    plans = [_plans(problem, work, i) for i in range(n)]
    now = [(0.0, 0.0)] * n
    heap: list[tuple[float, float, int, int]] = []

    def push(i: int) -> None:
        """Add the next switch of a query to the heap, if any."""
        keys = [
            (*_merit(value, cores, *now[i], choices[i] >= 0), i, at)
            for at, (value, cores, _) in enumerate(plans[i])
            if choices[i] < 0 or value > now[i][0]
        ]
        if keys:
            heapq.heappush(heap, min(keys))

    for i in range(n):
        push(i)
    while heap:
        _, _, i, at = heapq.heappop(heap)
        value, cores, rows = plans[i][at]
        columns, held = problem.columns[i], choices[i]
        back = problem.demand[problem.start[i] + held] if held >= 0 else 0.0
        fits = rows[(problem.demand[rows] <= room[columns] + back).all(axis=1)]
        if len(fits):
            row = fits[rng.integers(len(fits))]
            np.add.at(room, columns, back - problem.demand[row])
            room[-1] = np.inf
            choices[i], now[i] = row - problem.start[i], (value, cores)
        else:
            del plans[i][at]
        push(i)
    return choices


def _merit(value: float, cores: float, accuracy: float, paid: float, runs: bool) -> tuple[float, float]:
    """Return a sort key, least first: queries that do not run, by fewest cores; then free switches; then efficiency."""
    if not runs:
        return -np.inf, cores
    efficiency = (value - accuracy) / (cores - paid) if cores > paid else np.inf
    return -efficiency, -value


def _plans(problem: Problem, work: _Floats, i: int) -> list[tuple[float, float, _Ints]]:
    """Return the plans of a query: accuracy, cores, and the rows of their placements."""
    rows = np.arange(problem.start[i], problem.start[i + 1])
    pairs = np.stack((problem.accuracy[rows], work[rows].round(9)), axis=1)
    if not len(rows):
        return []
    kinds, which = np.unique(pairs, axis=0, return_inverse=True)
    which = which.reshape(-1)
    return [(float(a), float(w), rows[which == at]) for at, (a, w) in enumerate(kinds)]
