"""With which configuration should each streaming query run, and where?

A camera's stream can be looked at in many ways: at which resolution, how often, by which detector; and each step can
run at the camera, in a private cluster or in the cloud. More accurate ways cost more cores and bytes. A planner chooses
for all queries together. It reads a :class:`PlanView` and answers with a :class:`Plan`; it never touches an engine.

Policies, one file each in ``policies/``:

- ``cascade``: the greedy of the thesis, by what a switch gains for its cost.
- ``refined``: near the optimum, by prices of the linear relaxation, rounding, and switches in pairs.
- ``steady``: the same with few changes of what runs.
- ``merged``: the greedy, with common work of queries on one camera done once; ``merge-everything``: all of it, always.
- ``optimal``: the binary program, by HiGHS.
- ``fair``: 1/n of every resource for each query.
- ``videostorm``: one pool of cores, placements at random.
- ``same-location``: the greedy, with each query in one cluster; ``static``: with all queries on one tier.

:mod:`~windlass.plan.view` says what policies see and answer. :mod:`~windlass.plan.configurations` makes the numbers
in it from queries of components with knobs, and clusters in tiers. :mod:`~windlass.plan.functions` offers planning on
arrays, of which the functions here are a part; :mod:`~windlass.plan.bound` says what no plan can be better than.
:mod:`~windlass.plan.solve` compares planners on the same queries. :mod:`~windlass.plan.files` reads queries and
clusters, :mod:`~windlass.plan.profile` measures plans of real video pipelines. :mod:`~windlass.plan.compiled` says
what of a planner is compiled ahead. ``lib/`` has what policies share.

>>> from windlass.plan import POLICIES, cascade, fair
>>> "fair" in POLICIES.names()
True
>>> fair([[0.2, 0.6, 0.9]] * 2, [[[1.0], [4.0], [6.0]]] * 2, [10.0]).tolist()
[1, 1]
>>> cascade([[0.2, 0.6, 0.9]] * 2, [[[1.0], [4.0], [6.0]]] * 2, [11.0]).tolist()
[2, 1]
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from windlass.plan.configurations import Configurations, configurations
from windlass.plan.functions import cascade, fair, optimal, refined, videostorm
from windlass.plan.view import Plan, PlanView, QueryOptions
from windlass.policy.registry import Registry

POLICIES = Registry(
    "plan",
    "With which configuration should each streaming query run, and where?",
    "a query comes or goes, or capacity changes",
    f"{__name__}.policies",
)


class PlanPolicy(Protocol):
    """Decides with which configuration each query runs from now on.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy. In addition, it may be
    :class:`~windlass.jit.compiled.Compiled`.
    """

    name: ClassVar[str]

    def decide(self, view: PlanView) -> Plan:
        """A configuration for each query, or none where it cannot run. The view is not changed."""
        ...


__all__ = [
    "POLICIES",
    "Configurations",
    "Plan",
    "PlanPolicy",
    "PlanView",
    "QueryOptions",
    "cascade",
    "configurations",
    "fair",
    "optimal",
    "refined",
    "videostorm",
]
