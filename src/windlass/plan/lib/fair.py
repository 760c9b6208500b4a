"""Equal shares of every resource for all queries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.problem import ROOM, Problem


def fair_choices(problem: Problem) -> NDArray[np.int64]:
    """Return the most accurate configuration within 1/n of every resource (n,); ties by cost; −1 if none fits."""
    n = len(problem)
    choices = np.full(n, -1)
    for i in range(n):
        own = slice(int(problem.start[i]), int(problem.start[i + 1]))
        fits = np.flatnonzero(problem.cost[own] * n <= ROOM)
        if len(fits):
            order = np.lexsort((problem.cost[own][fits], -problem.accuracy[own][fits]))
            choices[i] = fits[order[0]]
    return choices
