"""The greedy planner of the thesis."""

from __future__ import annotations

import dataclasses

import numpy as np

from windlass.model import InputError
from windlass.model.values import number
from windlass.plan.compiled import Climbs
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.fair import fair_choices
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.places import heights
from windlass.plan.lib.problem import Problem, from_undominated
from windlass.plan.view import Plan, PlanView


class Cascade(Climbs):
    """Switches the query that gains most accuracy for its extra cost, repeatedly, within a band of configurations.

    The cost of a configuration is its largest share of any resource. All queries start with their cheapest;
    then one query at a time switches to a more accurate configuration that fits. As printed, it has to fit in
    addition to all that runs, including the query's own configuration.

    The policy ignores what runs now. Its plan may be worse than that of ``fair``; each reason then states this.

    Parameters
    ----------
    band
        Configurations that cost more than ``band`` times the least cost at their accuracy are ignored;
        infinity for no limit.
    release
        Whether the resources that a query holds count as free for its own switch.
    cost
        ``dominant``, the largest share of a resource, or ``sum``, the sum of all shares.
    efficiency
        ``difference``, gain divided by extra cost, or ``plain``, accuracy divided by cost.
    ties
        Of a query's configurations with equal cost and accuracy: ``first``, the first one, which runs lowest, or
        ``cloud``, the one whose components run furthest up.

    Source: thesis, sections 5.5.3 to 5.5.5, Figure 5.13; section 5.7.7 for the other costs and efficiencies;
    section 5.7.8 for ties.

    Examples
    --------
    >>> from windlass.plan.view import QueryOptions
    >>> ladder, cores = np.array([0.2, 0.6, 0.9]), np.array([[1.0], [4.0], [6.0]])
    >>> queries = tuple(QueryOptions(i, f"q{i}", ladder, cores) for i in range(2))
    >>> view = PlanView(0.0, ("cloud.cores",), np.array([10.0]), queries)
    >>> Cascade().decide(view).choices, Cascade(release=True).decide(view).choices
    ((2, 0), (2, 1))
    """

    name = "cascade"

    def __init__(
        self,
        band: float = 2.0,
        release: bool = False,
        cost: str = "dominant",
        efficiency: str = "difference",
        ties: str = "first",
    ) -> None:
        self.band = band if band == np.inf else number("band", band, 1.0)
        for field, value, known in (
            ("cost", cost, ("dominant", "sum")),
            ("efficiency", efficiency, ("difference", "plain")),
            ("ties", ties, ("first", "cloud")),
        ):
            if value not in known:
                raise InputError(f"{field} is {value!r}, expected one of {', '.join(known)}")
        self.release, self.sums, self.plain = bool(release), cost == "sum", efficiency == "plain"
        self.upwards = ties == "cloud"

    def decide(self, view: PlanView) -> Plan:
        """Return the plan of the greedy."""
        # A dominated configuration never costs less, but may run further up at the same cost.
        problem = Problem.of_view(view) if self.upwards else Problem.undominated(view)
        climbed, height = problem, None
        if self.upwards:
            height = np.concatenate([*(heights(each) for each in view.queries), np.empty(0, np.int64)])
        if self.sums:
            climbed = dataclasses.replace(problem, cost=problem.demand.sum(axis=1))
        choices = greedy(climbed, self.band, self.release, self.plain, height)
        plan = as_plan(view, choices if self.upwards else from_undominated(view, choices))
        if problem.score(choices) < problem.score(fair_choices(problem)):
            plan = dataclasses.replace(
                plan, why=tuple(f"{why}; fair shares would do better" for why in plan.why)
            )
        return plan
