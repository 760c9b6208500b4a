"""Admission: whether a node accepts one more task now.

Each node decides independently from its own measurements. At each step of its telemetry it receives an
:class:`AdmitView` and returns an :class:`Admission`, which holds until the next step; dispatchers read the current
answer. A good signal rejects shortly before tasks begin to wait for cores, and seldom otherwise.

Policies, one file each in ``policies/``:

- ``pronto``: spikes of projections on the leading directions of all metrics.
- ``forewarn``: Windlass's own: learns from each node's CPU Ready what precedes a spike, and keeps to a downtime.
- ``rising``: Windlass's own: CPU Ready and its last increase, between spikes.
- ``relenting``: Windlass's own: ``ready``, but not while tasks of the site wait long for a node.
- ``utilisation``, ``ready``: cores are busy; tasks wait.
- ``alarm``: a forecast of CPU Ready is a spike.
- ``gradient``, ``vegas``, ``codel``, ``breakwater``: overload control by latency and queueing delay of a node's tasks.
- ``concurrency``: a constant limit of tasks at once.
- ``always``, ``never``, ``random``: baselines for any signal.

:mod:`~windlass.admit.view` defines the input and output of a policy, and :mod:`~windlass.admit.site` those of a policy
that decides for all nodes of a site. :mod:`~windlass.admit.fleet` runs Pronto on many nodes in one call, and
:mod:`~windlass.admit.federation` merges what nodes have learned up a tree
(:mod:`~windlass.admit.shared_model` is what ``forewarn`` adds, :mod:`~windlass.admit.saving` converts both to bytes;
:mod:`~windlass.admit.learned` has the protocols of policies that can be saved and merged).
:mod:`~windlass.admit.compiled` is the simulator's interface, :mod:`~windlass.admit.measure` measures the quality of a
signal, :mod:`~windlass.admit.evaluation` runs policies over recorded telemetry, and :mod:`~windlass.admit.forecast`
exports the forecasters of ``alarm``; ``lib/`` holds shared algorithms.

:class:`Pronto` can be used alone, as can the trackers of leading directions (:class:`FPCAEdge`,
:class:`Spirit`, :class:`FrequentDirections`, :class:`PowerMethod`) and :func:`merge`, which combines two subspaces.
:mod:`~windlass.admit.context` lists the arguments that an engine offers to the constructor of a policy.

>>> from windlass.admit import POLICIES
>>> "utilisation" in POLICIES.names()
True
"""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from windlass.admit.context import AdmitContext
from windlass.admit.federation import Aggregator, AggregatorTree, Subspace
from windlass.admit.fleet import AdmissionFleet
from windlass.admit.lib.directions import FrequentDirections
from windlass.admit.lib.fpca import FPCAEdge
from windlass.admit.lib.power import PowerMethod
from windlass.admit.lib.spirit import Spirit
from windlass.admit.lib.subspace import distance, merge
from windlass.admit.policies.forewarn import Forewarn
from windlass.admit.policies.pronto import Pronto
from windlass.admit.site import AdmitSiteView, SiteAdmission
from windlass.admit.view import Admission, AdmitView, TaskLoad, UnboundTasks
from windlass.policy.registry import Registry

POLICIES = Registry(
    "admit",
    "May this node take one more task now?",
    "a node has measured itself; its answer holds for each task until the next time",
    f"{__name__}.policies",
)


class AdmitPolicy(Protocol):
    """A policy that decides for one node whether it accepts tasks.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy. It is called at every step of its
    node's telemetry and may keep state. A constructor with a parameter ``dim``, the number of metrics, or ``rng``
    receives it.
    """

    name: ClassVar[str]

    def decide(self, view: AdmitView) -> Admission:
        """Return whether the node accepts tasks from now on. The view is not changed."""
        ...


@runtime_checkable
class AdmitsSite(Protocol):
    """A policy, or its class, that decides for all nodes of a site in one call.

    Each node decides as it would alone, from its own row. A constructor with a parameter ``nodes`` receives the number
    of nodes. A policy for a site that draws random numbers receives one generator for all its nodes.
    """

    def decide_all(self, view: AdmitSiteView) -> SiteAdmission:
        """Return a decision for each node; one that is absent keeps its state. The view is not changed."""
        ...


__all__ = [
    "POLICIES",
    "Admission",
    "AdmissionFleet",
    "AdmitContext",
    "AdmitPolicy",
    "AdmitSiteView",
    "AdmitView",
    "AdmitsSite",
    "Aggregator",
    "AggregatorTree",
    "FPCAEdge",
    "Forewarn",
    "FrequentDirections",
    "PowerMethod",
    "Pronto",
    "SiteAdmission",
    "Spirit",
    "Subspace",
    "TaskLoad",
    "UnboundTasks",
    "distance",
    "merge",
]
