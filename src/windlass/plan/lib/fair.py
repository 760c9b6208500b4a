"""The same part of everything for everybody."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.problem import ROOM, Problem


def fair_choices(problem: Problem) -> NDArray[np.int64]:
    """(n,) the most accurate configuration that fits into 1/n of every resource; of these the cheapest; −1 for none."""
    n = len(problem)
    choices = np.full(n, -1)
    for i in range(n):
        own = slice(int(problem.start[i]), int(problem.start[i + 1]))
        fits = np.flatnonzero(problem.cost[own] * n <= ROOM)
        if len(fits):
            order = np.lexsort((problem.cost[own][fits], -problem.accuracy[own][fits]))
            choices[i] = fits[order[0]]
    return choices
