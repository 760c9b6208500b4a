"""Plans near the optimum: the linear relaxation, rounded, made to fit, and improved by switches.

1. The plans of the greedy and of fair shares are the initial plans.
2. The relaxation gives prices, and fractions of configurations (:mod:`~windlass.plan.lib.prices`).
3. Each query keeps the configurations that are worth most at these prices, those that run in part, and those
  of step 1.
4. Each query takes the configuration with the largest fraction; overload is then removed at the least loss
   (:mod:`~windlass.plan.lib.search`).
5. Single and paired switches improve this plan and the greedy ones.
6. If the best plan is not close to the bound, integer programs on few configurations follow
   (:mod:`~windlass.plan.lib.restricted`). The best plan of all is returned, so it is never worse than the
   greedy or the fair one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.fair import fair_choices
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.prices import Prices, relax
from windlass.plan.lib.problem import ROOM, Problem
from windlass.plan.lib.restricted import GAP, more_accurate, more_running
from windlass.plan.lib.search import IMPROVE, REPAIR

_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]
_Floats = NDArray[np.float64]

#: Configurations of each query in an integer program, in addition to those of plans and of the relaxation.
FEWEST = 12


@dataclass(frozen=True, slots=True)
class RefineLimits:
    """How far the search for a plan goes.

    Parameters
    ----------
    keep
        Number of configurations that each query may switch between.
    sweeps
        Maximum number of passes over all queries.
    seconds
        Time limit of each of at most two integer programs, s; 0 for none.
    """

    keep: int = 24
    sweeps: int = 20
    seconds: float = 2.0


#: The limits that planners have unless they are set.
DEFAULT = RefineLimits()


def refine(problem: Problem, limits: RefineLimits = DEFAULT) -> tuple[_Ints, float]:
    """Return choices (n,) near the optimum, and a bound on the sum of accuracies if every query that can run does.

    Parameters
    ----------
    problem
        A problem of any size.
    limits
        How far the search goes.
    """
    plans = [greedy(problem, 2.0, release) for release in (True, False)]
    plans.append(fair_choices(problem))
    if not len(problem.accuracy):
        return plans[0], 0.0
    prices = relax(problem, plans)
    few = few_of(problem, prices.worth, prices.share, plans, limits.keep)
    small = problem.only(few)
    rounded = _rounded(small, prices.share[few])
    starts = [_inside(problem, few, plan) for plan in plans[:2]]
    begun = [*([] if rounded is None else [rounded]), *starts]
    tried = [_improved(small, plan, limits.sweeps) for plan in begun]
    plans += [problem.whole(few, plan) for plan in tried]
    best = max(plans, key=problem.score)
    return (best if limits.seconds == 0.0 else _solved(problem, prices, best, limits)), prices.bound


def _solved(problem: Problem, prices: Prices, best: _Ints, limits: RefineLimits) -> _Ints:
    """Return the best of a plan and those of the integer programs."""
    if not (problem.cost <= ROOM).any():
        return best
    if (best >= 0).all() and problem.score(best)[1] >= (1.0 - GAP) * prices.bound:
        return best
    more = more_running(problem, best, limits.seconds)
    few = few_of(problem, prices.worth, prices.share, [best, more], FEWEST)
    plan = more_accurate(problem, few, more, limits.seconds)
    small = problem.only(few)
    plan = problem.whole(few, _improved(small, _inside(problem, few, plan), limits.sweeps))
    return max((best, plan), key=problem.score)


def few_of(problem: Problem, worth: _Floats, share: _Floats, plans: list[_Ints], keep: int) -> _Bools:
    """Return (K,) the configurations to switch between: worth most, in part or in a plan, each query's cheapest.

    Parameters
    ----------
    problem
        A problem of any size.
    worth, share
        (K,) as of :class:`~windlass.plan.lib.prices.Prices`.
    plans
        Choices (n,) whose configurations are kept.
    keep
        Number of configurations of each query that are worth most.
    """
    few = share > 1e-9
    for plan in plans:
        few[(problem.start[:-1] + plan)[plan >= 0]] = True
    for a, b in zip(problem.start[:-1].tolist(), problem.start[1:].tolist(), strict=True):
        best = np.argsort(-worth[a:b], kind="stable")[:keep]
        few[a + best] |= np.isfinite(worth[a:b][best])
        if b > a and np.isfinite(problem.cost[a:b].min()):
            few[a + int(problem.cost[a:b].argmin())] = True
    return few


def _rounded(small: Problem, share: NDArray[np.float64]) -> _Ints | None:
    """Return each query's configuration with the largest fraction, made to fit; None if that fails."""
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
    """Convert a plan's choices into choices among the few."""
    before = np.append(0, np.cumsum(few))
    rows = problem.start[:-1] + np.maximum(plan, 0)
    return np.where(plan >= 0, before[rows] - before[problem.start[:-1]], -1)
