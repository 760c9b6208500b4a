"""Queries on one camera do common work once, where that is worth it."""

from __future__ import annotations

import numpy as np

from windlass.model.values import number, whole
from windlass.plan.compiled import Climbs
from windlass.plan.lib.answer import answered
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.merge import merged_choices
from windlass.plan.lib.problem import Problem
from windlass.plan.view import Plan, PlanView


class Merged(Climbs):
    """The greedy of ``cascade``, then switches of a query together with a subset of its peers onto the same components.

    Peers are queries on one camera that could begin with the same work. Components that are the same, after the same
    ones and in the same clusters, run once and count once. A query that switches may take peers along: each to its most
    accurate configuration that shares most with the one that is switched to. Efficiency is over all that switch.

    Two things differ from the thesis: the greedy climbs without peers first, and equal work is done once wherever it is
    found, whether or not all common components are equal.

    Parameters
    ----------
    together
        How many peers are taken along at most, besides all of them.
    band
        As that of ``cascade``.

    Source: thesis, section 5.5.6.

    Examples
    --------
    >>> from windlass.plan.view import QueryOptions
    >>> work = np.array([[[4.0], [1.0]]])
    >>> queries = tuple(
    ...     QueryOptions(i, f"q{i}", np.array([0.9]), work.sum(axis=1), piece=np.array([[7, 8 + i]]), piece_demand=work)
    ...     for i in range(2)
    ... )
    >>> Merged().decide(PlanView(0.0, ("cloud.cores",), np.array([6.0]), queries)).choices
    (0, 0)
    """

    name = "merged"

    def __init__(self, together: int = 2, band: float = 2.0) -> None:
        self.together = whole("together", together, 0)
        self.band = band if band == np.inf else number("band", band, 1.0)

    def decide(self, view: PlanView) -> Plan:
        """The plan of the greedy, merged."""
        problem = Problem.seen(view)
        choices = merged_choices(view, greedy(problem, self.band), self.together)
        return answered(view, problem, choices, merged=True)
