"""Plans near the optimum: rounded from the linear relaxation, made to fit, and improved by switches.

1. The greedy and the fair parts are plans to begin with.
2. The relaxation gives prices, and parts of configurations (:mod:`~windlass.plan.lib.prices`).
3. Each query keeps the configurations that are worth most at these prices, those run in part, and those of 1.
4. Each query takes the configuration that the relaxation runs most of; what is too much then is taken back at the least
   loss (:mod:`~windlass.plan.lib.search`).
5. Single switches and pairs improve this plan and that of the greedy. The best plan of all wins, so that the answer is
   never worse than the greedy's or the fair one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.fair import fair_choices
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.prices import Prices, relaxed
from windlass.plan.lib.problem import ROOM, Problem
from windlass.plan.lib.search import IMPROVE, REPAIR

_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]


def refine(problem: Problem, keep: int = 24, sweeps: int = 20) -> tuple[_Ints, float]:
    """(n,) choices near the optimum, and a bound on the sum of accuracies where all queries run that can.

    Parameters
    ----------
    problem
        Of any size.
    keep
        How many configurations a query has to switch among.
    sweeps
        How often all queries are looked at, at most.
    """
    plans = [greedy(problem, 2.0, release) for release in (True, False)]
    plans.append(fair_choices(problem))
    if not len(problem.accuracy):
        return plans[0], 0.0
    prices = relaxed(problem, plans)
    few = _few(problem, prices, plans, keep)
    small = problem.only(few)
    rounded = _rounded(small, prices.share[few])
    starts = [_inside(problem, few, plan) for plan in plans[:2]]
    tried = [_improved(small, plan, sweeps) for plan in [*([] if rounded is None else [rounded]), *starts]]
    plans += [problem.whole(few, plan) for plan in tried]
    return max(plans, key=problem.score), prices.bound


def _few(problem: Problem, prices: Prices, plans: list[_Ints], keep: int) -> _Bools:
    """(K,) the configurations to switch among: worth most, run in part, or of a plan; and each query's cheapest."""
    few = prices.share > 1e-9
    for plan in plans:
        few[(problem.start[:-1] + plan)[plan >= 0]] = True
    for a, b in zip(problem.start[:-1].tolist(), problem.start[1:].tolist(), strict=True):
        best = np.argsort(-prices.worth[a:b], kind="stable")[:keep]
        few[a + best] |= np.isfinite(prices.worth[a:b][best])
        if b > a and np.isfinite(problem.cost[a:b].min()):
            few[a + int(problem.cost[a:b].argmin())] = True
    return few


def _rounded(small: Problem, share: NDArray[np.float64]) -> _Ints | None:
    """The configuration of which each query runs most, made to fit; None where that fails, or somebody has none."""
    if (np.diff(small.start) == 0).any():
        return None
    ends = zip(small.start[:-1].tolist(), small.start[1:].tolist(), strict=True)
    chosen = np.array([a + int(share[a:b].argmax()) for a, b in ends])
    room = _room(small, chosen)
    fits = REPAIR.ready()(small.start, small.accuracy, _columns(small), small.demand, room, chosen)
    return chosen - small.start[:-1] if fits else None


def _improved(small: Problem, choices: _Ints, sweeps: int) -> _Ints:
    chosen = np.where(choices >= 0, small.start[:-1] + choices, -1)
    room = _room(small, chosen)
    IMPROVE.ready()(small.start, small.accuracy, _columns(small), small.demand, room, chosen, sweeps)
    return np.where(chosen >= 0, chosen - small.start[:-1], -1)


def _room(small: Problem, chosen: _Ints) -> NDArray[np.float64]:
    left = ROOM - small.used(np.where(chosen >= 0, chosen - small.start[:-1], -1))
    left[-1] = np.inf
    return left


def _columns(small: Problem) -> _Ints:
    return np.ascontiguousarray(small.columns)


def _inside(problem: Problem, few: _Bools, plan: _Ints) -> _Ints:
    """A plan's choices as choices among the few."""
    before = np.append(0, np.cumsum(few))
    rows = problem.start[:-1] + np.maximum(plan, 0)
    return np.where(plan >= 0, before[rows] - before[problem.start[:-1]], -1)
