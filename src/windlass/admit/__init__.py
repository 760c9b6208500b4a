"""May this node take one more task now?

Each node answers for itself, from what it measures of itself. Once a step of its telemetry it sees an
:class:`AdmitView` and answers with an :class:`Admission`, which stands until the next step; whoever brings tasks asks
what stands. A signal is good if it is up before tasks begin to wait for cores, and seldom otherwise.

Policies, one file each in ``policies/``:

- ``pronto``: spikes of projections on the leading directions of all metrics.
- ``forewarn``: ours: learns from each node's own CPU Ready what came before it, and keeps to a downtime.
- ``utilisation``, ``ready``: cores are busy; tasks wait.
- ``alarm``: a forecast of CPU Ready is a spike.
- ``always``, ``never``, ``random``: what any signal is held against.

:mod:`~windlass.admit.view` says what they see and answer, :mod:`~windlass.admit.fleet` has many nodes in one call,
:mod:`~windlass.admit.federation` merges what nodes know up a tree (:mod:`~windlass.admit.shared_model` is
what ``forewarn`` sends along, :mod:`~windlass.admit.saving` has them as bytes; :mod:`~windlass.admit.learned` has the
protocols of policies that can be saved and merged),
:mod:`~windlass.admit.compiled` is how a simulator asks, :mod:`~windlass.admit.measure` says how good a signal is,
:mod:`~windlass.admit.evaluation` runs policies over telemetry that is there, :mod:`~windlass.admit.forecast` is what
``alarm`` is made of; ``lib/`` has what policies share.

Here :class:`Pronto` can be used by itself, as can the trackers of leading directions (:class:`FPCAEdge`,
:class:`Spirit`, :class:`FrequentDirections`, :class:`PowerMethod`), and :func:`merge` of what two of them found.
:mod:`~windlass.admit.context` has what an engine offers to the constructor of a policy.

>>> from windlass.admit import POLICIES
>>> "utilisation" in POLICIES.names()
True
"""

from __future__ import annotations

from typing import ClassVar, Protocol

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
from windlass.admit.view import Admission, AdmitView
from windlass.policy.registry import Registry

POLICIES = Registry(
    "admit",
    "May this node take one more task now?",
    "a node has measured itself; what it answers stands for each task until the next time",
    f"{__name__}.policies",
)


class AdmitPolicy(Protocol):
    """Decides for one node whether it takes tasks.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy. It is asked at every step of its
    node's telemetry, and may remember what it saw. A constructor that asks for ``dim``, the number of metrics, or for
    ``rng`` is given it.
    """

    name: ClassVar[str]

    def decide(self, view: AdmitView) -> Admission:
        """Whether the node takes tasks from now on. The view is not changed."""
        ...


__all__ = [
    "POLICIES",
    "Admission",
    "AdmissionFleet",
    "AdmitContext",
    "AdmitPolicy",
    "AdmitView",
    "Aggregator",
    "AggregatorTree",
    "FPCAEdge",
    "Forewarn",
    "FrequentDirections",
    "PowerMethod",
    "Pronto",
    "Spirit",
    "Subspace",
    "distance",
    "merge",
]
