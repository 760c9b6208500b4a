"""The optimum of the binary program, by HiGHS."""

from __future__ import annotations

import dataclasses

from windlass.model.values import number
from windlass.plan.compiled import Climbs
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.merge import merged_choices
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.program import solve
from windlass.plan.lib.shared_program import solve_shared
from windlass.plan.view import Plan, PlanView


class Optimal(Climbs):
    """Runs as many queries as possible with the highest mean accuracy; its time grows fast with their number.

    Each reason states how far below the optimum the plan may be. If the solver finds no plan in its time, the
    plan is that of ``cascade``, or of ``merged``.

    Parameters
    ----------
    seconds
        Time limit of each call of the solver, after which it returns its best plan. There are at most three
        calls, or six if a result exceeds a capacity by a rounding error.
    gap
        Allowed relative difference between the sum of accuracies and its proven bound.
    merge
        Whether equal work of queries on one camera counts once, as for ``merged``.

    Source: thesis, section 5.5.1, equations 5.1 to 5.4; solved by HiGHS. The program with merging is Windlass's.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.plan.view import QueryOptions
    >>> one, cores = np.array([0.5]), np.array([[4.0]])
    >>> queries = tuple(QueryOptions(i, f"q{i}", one, cores) for i in range(2))
    >>> plan = Optimal().decide(PlanView(0.0, ("cloud.cores",), np.array([8.0]), queries))
    >>> plan.choices, plan.why[0]
    ((0, 0), 'starts: configuration 0, accuracy 0.5; at the optimum')
    """

    name = "optimal"

    def __init__(self, seconds: float = 60.0, gap: float = 1e-4, merge: bool = False) -> None:
        self.seconds = number("seconds", seconds, 0.0, open_below=True)
        self.gap = number("gap", gap, 0.0)
        self.merge = bool(merge)

    def decide(self, view: PlanView) -> Plan:
        """Return the solver's plan."""
        problem = Problem.of_view(view)
        limits = self.seconds, self.gap
        found = solve_shared(view, *limits) if self.merge else solve(problem, *limits)
        if found is None:
            choices, note = greedy(problem, 2.0), "no optimum found in time"
            plan = as_plan(view, merged_choices(view, choices, 2) if self.merge else choices, self.merge)
        else:
            plan = as_plan(view, found.choices, self.merge)
            below = 1.0 - problem.score(found.choices)[1] / found.bound if found.bound > 0 else 0.0
            note = (
                "at the optimum" if below <= max(self.gap, 1e-9) else f"at most {below:.2%} below the optimum"
            )
            note += "" if found.proven else ", stopped by the time limit"
        return dataclasses.replace(plan, why=tuple(f"{why}; {note}" for why in plan.why))
