"""All components of all queries on one tier."""

from __future__ import annotations

import numpy as np

from windlass.model.values import number, whole
from windlass.plan.compiled import Climbs
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.places import on_tier
from windlass.plan.lib.problem import Problem
from windlass.plan.view import Plan, PlanView


class Static(Climbs):
    """Plans with the greedy algorithm of ``cascade`` and keeps all queries on one tier.

    A tier is the cameras, the private cluster or the cloud. If placements are unknown, all configurations count.

    Parameters
    ----------
    tier
        0 is the camera's own tier, 1 the one above it; −1 the root's, −2 the one below it.
    band
        See ``cascade``.

    Source: thesis, section 5.7.4, Figure 5.23.

    Examples
    --------
    >>> from windlass.plan.view import QueryOptions
    >>> place = np.array([[0, 0], [0, 1], [1, 1]])
    >>> query = QueryOptions(1, "cars", np.array([0.5, 0.9, 0.7]), np.ones((3, 1)), place=place)
    >>> view = PlanView(0.0, ("cloud.cores",), np.ones(1), (query,))
    >>> [Static(tier).decide(view).choices for tier in (0, -1)]
    [(0,), (2,)]
    """

    name = "static"

    def __init__(self, tier: int = -1, band: float = 2.0) -> None:
        self.tier = whole("tier", tier, -1_000)
        self.band = band if band == np.inf else number("band", band, 1.0)

    def decide(self, view: PlanView) -> Plan:
        """Return the plan of the greedy on that tier."""
        problem = Problem.of_view(view)
        keep = np.concatenate([*(on_tier(options, self.tier) for options in view.queries), np.empty(0, bool)])
        choices = problem.whole(keep, greedy(problem.only(keep), self.band))
        return as_plan(view, choices)
