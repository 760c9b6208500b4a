"""Few changes: what runs goes on as it does, unless that does not fit or a change is worth it."""

from __future__ import annotations

import numpy as np

from windlass.model.values import number
from windlass.plan.compiled import Refines
from windlass.plan.lib.answer import answered
from windlass.plan.lib.keep import settled
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.refine import refine
from windlass.plan.view import Plan, PlanView


class Steady(Refines):
    """The plan of ``refined``, by few changes: a running query changes where it has to, or where that is worth it.

    A change stops a component, moves it, and loses frames. Who does not run starts as ``refined`` has it. Where what
    runs does not fit any more, or keeps somebody from running, queries change to what ``refined`` has for them, those
    first that relieve most for the accuracy they lose. All others change together if that brings ``worth`` on average,
    or one by one where it brings so much alone.

    Parameters
    ----------
    worth
        How much accuracy a change has to bring, 0 to 1; 0 is ``refined`` itself, as good a plan with more changes.

    Source: ours; the thesis plans anew each time.

    Examples
    --------
    >>> from windlass.plan.view import QueryOptions
    >>> ladder, cores = np.array([0.2, 0.6, 0.62]), np.array([[1.0], [4.0], [5.0]])
    >>> view = PlanView(0.0, ("cloud.cores",), np.array([9.0]), (QueryOptions(1, "cars", ladder, cores, current=1),))
    >>> [Steady(worth).decide(view).choices for worth in (0.0, 0.05)]
    [(2,), (1,)]
    """

    name = "steady"

    def __init__(self, worth: float = 0.05) -> None:
        self.worth = number("worth", worth, 0.0, 1.0)

    def decide(self, view: PlanView) -> Plan:
        """What runs, with the changes that are needed or worth it."""
        problem = Problem.seen(view)
        current = np.array([options.current for options in view.queries], dtype=np.int64)
        choices = settled(problem, current, refine(problem)[0], self.worth)
        return answered(view, problem, choices)
