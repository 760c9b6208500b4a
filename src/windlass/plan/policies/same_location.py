"""All components of a query in one cluster."""

from __future__ import annotations

import numpy as np

from windlass.model.values import number
from windlass.plan.compiled import Climbs
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.places import in_one_place
from windlass.plan.lib.problem import Problem
from windlass.plan.view import Plan, PlanView


class SameLocation(Climbs):
    """Plans with the greedy algorithm of ``cascade`` and keeps all components of a query in one cluster.

    Therefore only source streams and results cross links. If placements are unknown, all configurations count.

    Parameters
    ----------
    band
        See ``cascade``.

    Source: thesis, section 5.7.2, Cascade-SL, Figure 5.19.

    Examples
    --------
    >>> from windlass.plan.view import QueryOptions
    >>> place = np.array([[0, 0], [0, 1], [1, 1]])
    >>> query = QueryOptions(1, "cars", np.array([0.5, 0.9, 0.7]), np.ones((3, 1)), place=place)
    >>> SameLocation().decide(PlanView(0.0, ("cloud.cores",), np.ones(1), (query,))).choices
    (2,)
    """

    name = "same-location"

    def __init__(self, band: float = 2.0) -> None:
        self.band = band if band == np.inf else number("band", band, 1.0)

    def decide(self, view: PlanView) -> Plan:
        """Return the plan of the greedy, with one cluster for each query."""
        problem = Problem.of_view(view)
        keep = np.concatenate([*(in_one_place(options) for options in view.queries), np.empty(0, bool)])
        choices = problem.whole(keep, greedy(problem.only(keep), self.band))
        return as_plan(view, choices)
