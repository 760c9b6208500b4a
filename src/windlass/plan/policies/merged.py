"""Sharing of common work between queries on one camera, where that is worth it."""

from __future__ import annotations

import numpy as np

from windlass.model.values import number, whole
from windlass.plan.compiled import Climbs
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.merge import merged_choices
from windlass.plan.lib.problem import Problem, from_undominated
from windlass.plan.view import Plan, PlanView


class Merged(Climbs):
    """Improves the greedy plan by switching a query together with some of its peers to the same components.

    Peers are queries on one camera that could start with the same work. Equal components after equal
    components in the same clusters run once and count once. When a query switches, peers may switch as well:
    each to its most accurate configuration that shares most with the new one. Efficiency is computed over all
    that switch.

    Two details differ from the thesis: the greedy runs without peers first, and equal work is shared wherever
    it occurs, whether or not all common components are equal.

    Parameters
    ----------
    together
        Maximum number of peers that switch together; all peers together are tried as well.
    band
        See ``cascade``.

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
        """Return the plan of the greedy, merged."""
        begin = from_undominated(view, greedy(Problem.undominated(view), self.band))
        choices = merged_choices(view, begin, self.together)
        return as_plan(view, choices, merged=True)
