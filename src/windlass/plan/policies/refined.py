"""Near the optimum in a small part of its time: prices, rounding, and switches in pairs."""

from __future__ import annotations

import dataclasses

from windlass.model.values import whole
from windlass.plan.compiled import Refines
from windlass.plan.lib.answer import answered
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.refine import refine
from windlass.plan.view import Plan, PlanView


class Refined(Refines):
    """What the linear relaxation would run, rounded, made to fit and improved by pairs of switches; never below greedy.

    It tries the greedy of ``cascade`` and ``fair`` as well, and the best of all wins: as many queries as run in any of
    them, then the greatest sum of accuracies. Each reason says how far below the optimum the plan may be, where all
    queries run.

    Parameters
    ----------
    keep
        How many configurations a query has to switch among.
    sweeps
        How often all queries are looked at, at most.

    Source: ours; the relaxation by column generation (Dantzig and Wolfe 1960).

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.plan.view import QueryOptions
    >>> ladder, cores = np.array([0.2, 0.6, 0.9]), np.array([[1.0], [4.0], [6.0]])
    >>> queries = tuple(QueryOptions(i, f"q{i}", ladder, cores) for i in range(2))
    >>> sorted(Refined().decide(PlanView(0.0, ("cloud.cores",), np.array([10.0]), queries)).choices)
    [1, 2]
    """

    name = "refined"

    def __init__(self, keep: int = 24, sweeps: int = 20) -> None:
        self.keep, self.sweeps = whole("keep", keep, 1), whole("sweeps", sweeps, 0)

    def decide(self, view: PlanView) -> Plan:
        """The best plan found, and how good it is for sure."""
        problem = Problem.seen(view)
        choices, bound = refine(problem, self.keep, self.sweeps)
        plan = answered(view, problem, choices)
        if not len(choices) or (choices < 0).any() or bound <= 0:
            return plan
        said = f"at most {max(0.0, 1.0 - problem.score(choices)[1] / bound):.2%} below the optimum"
        return dataclasses.replace(plan, why=tuple(f"{why}; {said}" for why in plan.why))
