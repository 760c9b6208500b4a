"""Equal shares of every resource for all queries."""

from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.fair import fair_choices
from windlass.plan.lib.problem import Problem
from windlass.plan.view import Plan, PlanView


class Fair:
    """Gives each query 1/n of every resource, and the most accurate configuration that fits in it.

    The unused part of a query's share stays idle.

    Source: thesis, section 5.7.1, the baseline Fair Allocation.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.plan.view import QueryOptions
    >>> ladder, cores = np.array([0.2, 0.6, 0.9]), np.array([[1.0], [4.0], [6.0]])
    >>> queries = tuple(QueryOptions(i, f"q{i}", ladder, cores) for i in range(2))
    >>> Fair().decide(PlanView(0.0, ("cloud.cores",), np.array([10.0]), queries)).choices
    (1, 1)
    """

    name = "fair"

    def decide(self, view: PlanView) -> Plan:
        """Return the best configuration within each query's share."""
        problem = Problem.of_view(view)
        return as_plan(view, problem, fair_choices(problem), part=1.0 / max(1, len(problem)))
