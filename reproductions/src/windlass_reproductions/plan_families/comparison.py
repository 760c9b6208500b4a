"""Planners on one problem, compared with what is proven about it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from windlass.plan import cascade, fair, refined
from windlass.plan.proof import prove
from windlass_reproductions.plan_families.families import PlanningProblem

#: The planner that is judged.
OURS = "refined"
#: On a busy machine, too, the limit of nodes of its integer programs counts, and not that of time.
_PLANNERS: dict[str, Callable[..., NDArray[np.int64]]] = {
    OURS: partial(refined, seconds=60.0),
    "cascade": cascade,
    "fair": fair,
}
#: Least part of the bound: in the mean of a family, and in each case.
MEAN, WORST = 0.99, 0.97
#: How much longer the solver runs where its first bound leaves more than the goal for the mean.
_LONGER = 6.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Planners on one problem.

    Parameters
    ----------
    parts
        Sum of accuracies over the proven bound, of each planner; planners that run fewer queries are left out.
    fewer
        Queries of ``refined`` fewer than in the solver's plan.
    unknown
        Queries that might run in addition: neither found nor excluded.
    seconds
        CPU seconds of ``refined``.
    """

    parts: dict[str, float]
    fewer: int
    unknown: int
    seconds: float


def compile_planners() -> None:
    """Run all planners once, because compilation must not count as their time."""
    for planner in _PLANNERS.values():
        planner([[0.5, 0.9]] * 2, [[[1.0], [2.0]]] * 2, [3.0])


def compare(problem: PlanningProblem, seconds: float) -> Comparison:
    """Return the sums of planners over a proven bound.

    The binary program is solved only where the relaxation leaves more than the goal for the mean. If its bound still
    does after ``seconds``, the solver runs six times as long: a bound that is not tight says little about a plan.
    """
    given = problem.accuracy, problem.demand, problem.capacity
    begun = time.process_time()
    ours = _PLANNERS[OURS](*given)
    spent = time.process_time() - begun
    proof = prove(*given, ours, seconds, MEAN)
    if problem.total(ours) < MEAN * proof.bound:
        proof = prove(*given, ours, _LONGER * seconds, MEAN)
    count = int((ours >= 0).sum())
    parts = {}
    for name, planner in _PLANNERS.items():
        choices = ours if name == OURS else planner(*given)
        if (choices >= 0).sum() >= count:
            parts[name] = problem.total(choices) / proof.bound if proof.bound > 0 else 1.0
    return Comparison(parts, proof.found - count, proof.most - proof.found, spent)
