"""Planning near the optimum in a fraction of its time."""

from __future__ import annotations

import dataclasses

import numpy as np

from windlass.model.values import number, whole
from windlass.plan.compiled import Refines
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.refine import DEFAULT, RefineLimits, refine
from windlass.plan.lib.refine_shared import refine_shared
from windlass.plan.view import Plan, PlanView


class Refined(Refines):
    """Rounds the linear relaxation, makes it fit, and improves it; never worse than the greedy.

    It improves the plan by pairs of switches. Unless the plan is then close to the optimum, integer programs
    on few configurations of each query follow. It tries the plans of ``cascade`` and ``fair`` as well, and
    returns the best of all: first the most running queries, then the largest sum of accuracies. If all queries
    run, each reason states how far below the optimum the plan may be.

    Parameters
    ----------
    keep
        Number of configurations that each query may switch between.
    sweeps
        Maximum number of passes over all queries.
    seconds
        Time limit of each of at most two integer programs, after which the best plan so far is used; 0 for none.
        They also have a limit of nodes, so that small problems have the same plan on any machine.
    merge
        Whether equal work of queries on one camera counts once, as for ``merged``. The plan is then never worse than
        without; the relaxation and up to three more integer programs count equal work once.

    Source: Windlass; the relaxation by column generation (Dantzig and Wolfe 1960).

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

    def __init__(
        self,
        keep: int = DEFAULT.keep,
        sweeps: int = DEFAULT.sweeps,
        seconds: float = DEFAULT.seconds,
        merge: bool = False,
    ) -> None:
        self.keep, self.sweeps = whole("keep", keep, 1), whole("sweeps", sweeps, 0)
        self.seconds = number("seconds", seconds, 0.0)
        self.merge = bool(merge)

    def decide(self, view: PlanView) -> Plan:
        """Return the best plan found, with a bound on its distance from the optimum."""
        problem = Problem.of_view(view)
        limits = RefineLimits(self.keep, self.sweeps, self.seconds)
        if self.merge:
            choices, bound = refine_shared(view, problem, limits)
        else:
            choices, bound = refine(problem, limits)
        plan = as_plan(view, choices, self.merge)
        if not len(choices) or (choices < 0).any() or not 0.0 < bound < np.inf:
            return plan
        note = f"at most {max(0.0, 1.0 - problem.score(choices)[1] / bound):.2%} below the optimum"
        return dataclasses.replace(plan, why=tuple(f"{why}; {note}" for why in plan.why))
