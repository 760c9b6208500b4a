"""How many machines of which type, before they are needed?

Jobs ask for resources, and machines take minutes to start. An autoscaler sees how many instances of each type jobs
needed so far, and says how many there should be, those that hold jobs included. It reads a :class:`ScaleView` and
answers with :class:`Totals`; it never touches an engine.

Policies, one file each in ``policies/``:

- ``reactive``: what the cluster autoscaler of Kubernetes does; ``consolidate``: what Karpenter does.
- ``hazard``, ``thrifty``, ``newsvendor``: ours, of what a spare instance is worth.
- ``predictive``: the paper's, by a forecast.
- ``static``: as many as were ever needed.
- ``clairvoyant``: knows the jobs to come.

:mod:`~windlass.scale.view` says what policies see and answer. :mod:`~windlass.scale.embedding` turns what jobs ask for
into numbers of instances; :func:`embed` is its short form. :mod:`~windlass.scale.bin_packing`: how many instances jobs
fill that wait. :mod:`~windlass.scale.base_instance` says with which type a series should begin. ``forecast/`` says how
many will be needed, :mod:`~windlass.scale.backtest` how good its forecasters are, by :mod:`~windlass.scale.accuracy`.
``lib/`` has what policies share. :mod:`~windlass.scale.monitor` keeps what was needed, on disk.
:mod:`~windlass.scale.context` has what an engine offers to the constructor of a policy.

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
    """Decides how many instances of each type there should be.

    It is asked once a period, and at looks in between (``view.due`` says which): then it serves who waits, and does not
    learn or plan. A class with a ``name`` and this method, in a file of ``policies/``, is a policy. Besides, it may
    be :class:`Idling`.
    """

    name: ClassVar[str]

    def decide(self, view: ScaleView) -> Totals:
        """How many there should be from now on. The view is not changed."""
        ...


@runtime_checkable
class Idling(Protocol):
    """A policy that says how long instances stay that it does not want any more."""

    @property
    def idle(self) -> float | None:
        """How long an instance may be empty, where there are more than the policy wants, before it goes, s.

        At least 0 and finite; None of a policy that leaves it to the engine. Engines read it once, before a run, by
        :func:`idle_time`.
        """
        ...


def idle_time(policy: ScalePolicy, otherwise: float) -> float:
    """How long an instance may be empty before it goes, s: as the policy says, else as the engine is set up.

    Parameters
    ----------
    policy
        Of this decision.
    otherwise
        For policies that do not say, s.

    Raises
    ------
    InputError
        What it says is negative or not finite.

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
