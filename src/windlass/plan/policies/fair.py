"""Fair shares of every resource."""

from __future__ import annotations

from windlass.model import InputError
from windlass.plan.compiled import Divides
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.fair import fair_choices, shares
from windlass.plan.lib.problem import Problem, from_undominated
from windlass.plan.view import Plan, PlanView


class Fair(Divides):
    """Divides every resource equally; each query runs its most accurate configuration within its shares.

    The unused part of a query's share stays idle.

    Parameters
    ----------
    among
        ``users``, the queries with a configuration that uses the resource, or ``queries``, all of them. With
        ``queries`` each query receives a share of cameras and links that it cannot use.

    Source: thesis, section 5.7.1, the baseline Fair Allocation, which divides among all queries; division
    among users is Windlass's.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.plan.view import QueryOptions
    >>> far, near = np.array([[1.0, 0.0]]), np.array([[0.0, 2.0]])
    >>> queries = tuple(QueryOptions(i, f"q{i}", np.array([0.6]), each) for i, each in enumerate((far, near)))
    >>> view = PlanView(0.0, ("cloud.cores", "camera.cores"), np.array([2.0, 2.0]), queries)
    >>> Fair().decide(view).choices, Fair("queries").decide(view).choices
    ((0, 0), (0, -1))
    """

    name = "fair"

    def __init__(self, among: str = "users") -> None:
        if among not in ("users", "queries"):
            raise InputError(f"among is {among!r}, expected one of users, queries")
        self.among = among

    def decide(self, view: PlanView) -> Plan:
        """Return the best configuration within each query's shares."""
        problem = Problem.undominated(view)
        choices = from_undominated(view, fair_choices(problem, self.among))
        return as_plan(view, choices, part=shares(problem, self.among))
