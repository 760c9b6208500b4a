"""Planning on one pool of cores, with one random placement of each plan."""

from __future__ import annotations

import numpy as np

from windlass.model import InputError
from windlass.plan.compiled import Formulates
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.storm import storm_choices
from windlass.plan.view import Plan, PlanView


class Videostorm(Formulates):
    """Chooses plans by gain for their cores, as if all clusters were one, then places each once, at random.

    Planning ignores links and tiers. A plan is placed only where it fits. The thesis does not say what a query
    does whose plan fits nowhere. Resources whose name ends in ``.cores`` count as cores.

    Parameters
    ----------
    rng
        Draws placements.
    otherwise
        What a query does whose plan fits nowhere: ``nothing``, or ``cheaper``, its most accurate plan with fewer
        cores that fits.

    Raises
    ------
    InputError
        ``otherwise`` is neither.

    Source: VideoStorm (Zhang et al., NSDI 2017), as described in the thesis, section 5.7.1.

    Examples
    --------
    >>> from windlass.plan.view import QueryOptions
    >>> two = QueryOptions(1, "cars", np.array([0.9, 0.9]), np.array([[4.0, 0.0], [0.0, 4.0]]))
    >>> view = PlanView(0.0, ("private.cores", "cloud.cores"), np.array([4.0, 4.0]), (two,))
    >>> Videostorm(np.random.default_rng(1)).decide(view).choices
    (0,)
    """

    name = "videostorm"

    def __init__(self, rng: np.random.Generator, otherwise: str = "nothing") -> None:
        if otherwise not in ("nothing", "cheaper"):
            raise InputError(f"otherwise is {otherwise!r}, expected one of nothing, cheaper")
        self.rng, self.cheaper = rng, otherwise == "cheaper"

    def decide(self, view: PlanView) -> Plan:
        """Return the plan: first a plan for each query, then a random placement."""
        problem = Problem.of_view(view)
        cores = [at for at, name in enumerate(view.resources) if name.endswith(".cores")]
        work = [options.demand[:, cores].sum(axis=1) for options in view.queries]
        pool = float(view.capacity[cores].sum())
        choices = storm_choices(problem, np.concatenate([*work, np.empty(0)]), pool, self.rng, self.cheaper)
        return as_plan(view, choices)
