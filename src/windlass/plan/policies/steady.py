"""Planning with few changes to running queries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.plan.compiled import Refines
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.keep import with_few_changes
from windlass.plan.lib.merge import used_shares
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.refine import refine
from windlass.plan.lib.refine_shared import refine_shared
from windlass.plan.view import Plan, PlanView


class Steady(Refines):
    """Follows the plan of ``refined`` with few changes: a running query changes only if it has to or if it is worth it.

    A change stops a component, moves it and loses frames. New queries start as ``refined`` plans. If the
    running configurations no longer fit, or keep a query from running, queries change to the plan of
    ``refined``, in order of relief for the accuracy that they lose. All other changes are made together if
    they gain ``worth`` on average, or one by one if one alone gains that much.

    Parameters
    ----------
    worth
        Accuracy that a change has to gain, 0 to 1; 0 gives the plan of ``refined`` with its changes.
    merge
        Whether equal work of queries on one camera counts once, as for ``merged``.

    Source: Windlass; the thesis makes a new plan each time.

    Examples
    --------
    >>> from windlass.plan.view import QueryOptions
    >>> ladder, cores = np.array([0.2, 0.6, 0.62]), np.array([[1.0], [4.0], [5.0]])
    >>> view = PlanView(0.0, ("cloud.cores",), np.array([9.0]), (QueryOptions(1, "cars", ladder, cores, current=1),))
    >>> [Steady(worth).decide(view).choices for worth in (0.0, 0.05)]
    [(2,), (1,)]
    """

    name = "steady"

    def __init__(self, worth: float = 0.05, merge: bool = False) -> None:
        self.worth = number("worth", worth, 0.0, 1.0)
        self.merge = bool(merge)

    def decide(self, view: PlanView) -> Plan:
        """Return the running configurations, with the changes that are needed or worth it."""
        problem = Problem.of_view(view)
        current = np.array([options.current for options in view.queries], dtype=np.int64)
        wanted, _ = refine_shared(view, problem) if self.merge else refine(problem)

        def used(choices: NDArray[np.int64]) -> NDArray[np.float64]:
            return used_shares(view, choices) if self.merge else problem.used(choices)[:-1]

        choices = with_few_changes(problem, current, wanted, self.worth, used)
        return as_plan(view, choices, self.merge)
