"""Plans near the optimum in which equal work of several queries counts once.

1. The plan without merging, and that of the greedy, are improved by switches of a query together with its peers.
2. The linear relaxation of the program with merging gives a bound, and the reduced cost of each configuration: what it
   would lose at the prices of resources and of shared work.
3. Each query keeps few configurations: those of the plans, those that run in part, and those of the smallest reduced
   cost. HiGHS solves the program on these, in a limited number of nodes; switches improve its plan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.merge import merged_choices
from windlass.plan.lib.prices import ABSENT
from windlass.plan.lib.problem import ROOM, Problem
from windlass.plan.lib.program import Matrices
from windlass.plan.lib.refine import DEFAULT, FEWEST, RefineLimits, few_of, refine
from windlass.plan.lib.restricted import GAP, NODES
from windlass.plan.lib.shared_program import shared_matrices, solve_shared
from windlass.plan.view import PlanView, QueryOptions

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Peers that switch together with a query.
_TOGETHER = 2


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """The solution of the relaxation with merging.

    Parameters
    ----------
    worth
        (K,) the reduced cost of each configuration, in accuracy, with the sign reversed; −inf if it cannot run.
    share
        (K,) fraction of each configuration that runs.
    bound
        Upper bound on the sum of accuracies of plans that run every query that can run.
    """

    worth: _Floats
    share: _Floats
    bound: float


def refine_shared(view: PlanView, problem: Problem, limits: RefineLimits = DEFAULT) -> tuple[_Ints, float]:
    """Return choices (n,) near the optimum if equal work counts once, and a bound; never worse than without merging.

    The bound is that on the sum of accuracies if every query that can run does; infinity if it was not found in time.

    Parameters
    ----------
    view
        The queries; those without pieces share nothing.
    problem
        The view's problem without merging.
    limits
        How far the search goes.
    """
    alone, _ = refine(problem, limits)
    plans = [merged_choices(view, each, _TOGETHER) for each in (alone, greedy(problem, 2.0))]
    best = max(plans, key=problem.score)
    if limits.seconds == 0.0 or not (problem.cost <= ROOM).any():
        return best, np.inf
    relaxed = relax_shared(problem, shared_matrices(view, problem), limits.seconds)
    if relaxed is None:
        return best, np.inf
    few = few_of(problem, relaxed.worth, relaxed.share, plans, FEWEST)
    solved = solve_shared(_only(view, problem, few), limits.seconds, GAP, NODES)
    if solved is None:
        return best, relaxed.bound
    chosen = merged_choices(view, problem.whole(few, solved.choices), _TOGETHER)
    return max((best, chosen), key=problem.score), relaxed.bound


def relax_shared(problem: Problem, matrices: Matrices, seconds: float) -> Relaxed | None:
    """Solve the relaxation, in which queries may run in part, at a loss; None if the time does not suffice.

    Parameters
    ----------
    problem
        The problem of all configurations.
    matrices
        Its program with merging.
    seconds
        Time limit.
    """
    rows, pieces, n = matrices.rows, matrices.demand.shape[1] - len(matrices.rows), len(problem)
    limits, room = [matrices.demand], [np.full(problem.resources, ROOM)]
    if matrices.shared is not None:
        limits.append(matrices.shared)
        room.append(np.zeros(matrices.shared.shape[0]))
    above = vstack(limits)
    found = linprog(
        np.concatenate((-problem.accuracy[rows], np.zeros(pieces), np.full(n, -ABSENT))),
        A_ub=hstack([above, csr_array((above.shape[0], n))]).tocsr(),
        b_ub=np.concatenate(room),
        A_eq=hstack([matrices.choice, eye_array(n)]).tocsr(),
        b_eq=(matrices.choice.sum(axis=1) > 0).astype(np.float64),
        bounds=(0, None),
        method="highs-ds",
        options={"time_limit": seconds},
    )
    if found.status != 0:
        return None
    worth, share = np.full(len(problem.accuracy), -np.inf), np.zeros(len(problem.accuracy))
    worth[rows], share[rows] = -found.lower.marginals[: len(rows)], found.x[: len(rows)]
    return Relaxed(worth, share, -float(found.fun))


def _only(view: PlanView, problem: Problem, few: NDArray[np.bool_]) -> PlanView:
    """Return a view with the marked configurations (K,) only."""
    queries = tuple(
        QueryOptions(
            one.query,
            one.name,
            one.accuracy[own],
            one.demand[own],
            piece=None if one.piece is None else one.piece[own],
            piece_demand=None if one.piece_demand is None else one.piece_demand[own],
        )
        for one, own in zip(view.queries, np.split(few, problem.start[1:-1]), strict=True)
    )
    return PlanView(view.now, view.resources, view.capacity, queries)
