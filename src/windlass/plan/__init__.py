"""The configuration of each streaming query, and the clusters on which its components run.

A camera's stream can be analysed in many ways, which differ in resolution, frame rate and detector, and each
step can run at the camera, in a private cluster or in the cloud. More accurate configurations need more cores
and bandwidth. A planner chooses configurations for all queries together. It reads a :class:`PlanView` and
returns a :class:`Plan`; it never calls an engine.

Policies, one file each in ``policies/``:

- ``cascade``: the thesis's greedy algorithm, by gain per cost of a switch.
- ``refined``: near the optimum, by prices of the linear relaxation, rounding, switches in pairs, and small
  integer programs.
- ``steady``: the same, with few changes to running queries.
- ``merged``: the greedy, where queries on one camera share common work; ``merge-everything``: all common
  work, always.
- ``optimal``: the binary program, solved by HiGHS.
- ``fair``: equal shares of every resource for the queries that use it.
- ``videostorm``: plans for one pool of cores, each placed once, at random.
- ``same-location``: the greedy, with each query in one cluster; ``static``: with all queries on one tier.

:mod:`~windlass.plan.view` has the view and the answer. :mod:`~windlass.plan.configurations` computes their
numbers from queries, whose components have knobs, and clusters in tiers. :mod:`~windlass.plan.functions`
plans on arrays; some of its functions are exported here. :mod:`~windlass.plan.bound` computes an upper bound
on the accuracy of any plan; :mod:`~windlass.plan.proof` compares a plan with what HiGHS proves.
:mod:`~windlass.plan.solve` compares planners on the same queries. :mod:`~windlass.plan.files` reads queries
and clusters, and :mod:`~windlass.plan.profile` measures plans of real video pipelines.
:mod:`~windlass.plan.compiled` lists the functions of a planner to compile ahead. ``lib/`` has parts that
several policies share.

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
    "a query arrives or departs, or capacity changes",
    f"{__name__}.policies",
)


class PlanPolicy(Protocol):
    """A policy that decides the configuration of each query.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy. It may implement
    :class:`~windlass.jit.compiled.Compiled` as well.
    """

    name: ClassVar[str]

    def decide(self, view: PlanView) -> Plan:
        """Return a configuration for each query, or none if it cannot run. The view is not changed."""
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
