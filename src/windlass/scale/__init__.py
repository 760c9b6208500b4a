"""The number of machines of each type in a cluster, chosen before they are needed.

Jobs request resources, and machines take minutes to start. An autoscaler reads a :class:`ScaleView`, which
holds the number of instances of each type that jobs needed so far, and returns :class:`Totals`: how many
there should be, including those that hold jobs. It never calls an engine.

Policies, one file each in ``policies/``:

- ``reactive``: the rules of the Kubernetes cluster autoscaler; ``consolidate``: the rules of Karpenter.
- ``hazard``, ``thrifty``, ``newsvendor``: Windlass's own, based on the value of a spare instance.
- ``predictive``: the paper's, based on a forecast.
- ``buffer``: a constant reserve; ``static``: the largest number that was ever needed.
- ``clairvoyant``: knows future jobs.

:mod:`~windlass.scale.view` holds the view and the answer. :mod:`~windlass.scale.embedding` converts resource
requests into numbers of instances; :func:`embed` is its short form. :mod:`~windlass.scale.bin_packing` counts
the instances that waiting jobs fill. :mod:`~windlass.scale.base_instance` chooses the smallest type of a
series. ``forecast/`` predicts demand; :mod:`~windlass.scale.backtest` evaluates its forecasters with the
measures of :mod:`~windlass.scale.accuracy`. ``lib/`` has parts that several policies share.
:mod:`~windlass.scale.monitor` stores past demand on disk. :mod:`~windlass.scale.context` lists the
constructor arguments that an engine offers to a policy.

>>> from windlass.scale import POLICIES
>>> "reactive" in POLICIES.names()
True
"""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from windlass.model.values import number
from windlass.policy.registry import Registry, capability
from windlass.scale.base_instance import Base, base_instance
from windlass.scale.context import ScaleContext
from windlass.scale.embedding import Embedding, Virtual, balance, embed
from windlass.scale.view import Demands, ScaleView, Totals

POLICIES = Registry(
    "scale",
    "How many machines of which type, before they are needed?",
    "a period is over",
    f"{__name__}.policies",
)


class ScalePolicy(Protocol):
    """A policy that decides how many instances of each type there should be.

    Engines call it once a period, and at polls between (``view.due`` distinguishes the two): at a poll it serves
    waiting jobs, and neither learns nor plans. A class with a ``name`` and this method, in a file of
    ``policies/``, is a policy. It may implement :class:`Idling` as well.
    """

    name: ClassVar[str]

    def decide(self, view: ScaleView) -> Totals:
        """Return how many instances there should be from now on. The view is not changed."""
        ...


@runtime_checkable
class Idling(Protocol):
    """A policy that sets how long an unwanted instance may stay empty."""

    @property
    def idle(self) -> float | None:
        """Idle time (s) after which an empty instance above the policy's total is removed.

        At least 0 and finite; None leaves the choice to the engine. Engines read it once, before a run,
        through :func:`idle_time`.
        """
        ...


def idle_time(policy: ScalePolicy, otherwise: float) -> float:
    """Return the idle time (s) after which an instance is removed: the policy's, or else the engine's.

    Parameters
    ----------
    policy
        The policy of this decision.
    otherwise
        Idle time for policies that set none, s.

    Raises
    ------
    InputError
        The policy's idle time is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> idle_time(POLICIES.make("reactive", np.random.default_rng(1)), otherwise=60.0)
    600.0
    """
    found = capability(policy, Idling)
    idle = None if found is None else found.idle
    return otherwise if idle is None else number(f"{policy.name}: idle", idle, 0.0)


__all__ = [
    "POLICIES",
    "Base",
    "Demands",
    "Embedding",
    "Idling",
    "ScaleContext",
    "ScalePolicy",
    "ScaleView",
    "Totals",
    "Virtual",
    "balance",
    "base_instance",
    "embed",
    "idle_time",
]
