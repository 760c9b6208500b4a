"""Who may share an allocation with whom, and at what CPU quota?

A job was given cores and leaves many of them idle: a co-scheduler says which waiting job may use them, and how much of
their time. It reads a :class:`ShareView` and answers with a :class:`Sharing`; it never touches an engine. An engine
checks the answer as a whole (:meth:`Sharing.check`), sets quotas by control groups or as its simulated cores have them,
and tells policies that learn what it measured, by :class:`Checkpoint`.

Policies, one file each in ``policies/``:

- ``asax``: quotas drawn from a learned mixture of experts.
- ``pairs``: the largest quota that measured pairs say is within a budget.
- ``oracle``: told how fast every pair would be.
- ``none``: nobody shares; EASY backfilling alone.
- ``static``: half and half; ``always``: one quota for all.

:mod:`~windlass.share.allocation` says who runs, waits and shares, :mod:`~windlass.share.view` what policies see of
them, :mod:`~windlass.share.answer` what they answer, :mod:`~windlass.share.pairing` what then becomes of allocations;
``lib/`` has what they share. Every engine keeps :mod:`~windlass.share.book`, of who runs and shares
(:mod:`~windlass.share.running`), by what :mod:`~windlass.share.usage` tells from readings.
:mod:`~windlass.share.interference` says how fast two jobs are together, fitted to measured pairs.

:mod:`~windlass.share.context` has what an engine offers to the constructor of a policy,
:mod:`~windlass.share.learned` the protocols of policies that learn. :mod:`~windlass.share.learning` says how well ASAx
learns, compared with its theorem.

Here :class:`Asax` and :class:`Pairs` can be used by themselves; :func:`happiness` is how well a job is doing, and
:func:`first_fit` pairs jobs with allocations for a policy of one's own.

>>> from windlass.share import POLICIES
>>> "static" in POLICIES.names()
True
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from windlass.policy.registry import Registry, capability
from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.answer import Share, Sharing
from windlass.share.context import ShareContext
from windlass.share.interference import Interference, Speeds, fit_interference
from windlass.share.learned import Observing, Persistent
from windlass.share.lib.first_fit import QuotaChoice, first_fit
from windlass.share.lib.state import happiness
from windlass.share.pairing import carried_out, guest_ended, host_ended
from windlass.share.policies.asax import Asax
from windlass.share.policies.pairs import Pairs
from windlass.share.view import ACTIONS, Checkpoint, ShareView

POLICIES = Registry(
    "share",
    "Who may share an allocation with whom, and at what quota?",
    "a job waits that an allocation could take in, or a shared one comes to a checkpoint",
    f"{__name__}.policies",
)


class SharePolicy(Protocol):
    """Decides which waiting jobs start on the cores of running ones, and how much of their time each has.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy. In addition, it may be
    :class:`~windlass.share.learned.Observing` and :class:`~windlass.share.learned.Persistent`.
    """

    name: ClassVar[str]

    def decide(self, view: ShareView) -> Sharing:
        """Who starts as a guest at ``view.now``, and whose quota changes. The view is not changed."""
        ...


def observe(policy: SharePolicy, checkpoint: Checkpoint) -> None:
    """Hand what was measured of a pair to a policy that is :class:`Observing`; engines do so before they ask again.

    Parameters
    ----------
    policy
        Of this decision.
    checkpoint
        What was measured since the pair's quota was decided.

    Examples
    --------
    >>> import numpy as np
    >>> guest = Guest(Candidate(2, "blast", 4, 0.0, 60.0), quota=50)
    >>> host = Allocation(1, "montage", 4, 8e9, 60.0, 30.0, cpu=10.0, memory_used=50.0, guest=guest)
    >>> observe(POLICIES.make("static", np.random.default_rng(1)), Checkpoint(host, host, guest))
    """
    learner = capability(policy, Observing)
    if learner is not None:
        learner.observed(checkpoint)


__all__ = [
    "ACTIONS",
    "POLICIES",
    "Allocation",
    "Asax",
    "Candidate",
    "Checkpoint",
    "Guest",
    "Interference",
    "Observing",
    "Pairs",
    "Persistent",
    "QuotaChoice",
    "Share",
    "ShareContext",
    "SharePolicy",
    "ShareView",
    "Sharing",
    "Speeds",
    "carried_out",
    "first_fit",
    "fit_interference",
    "guest_ended",
    "happiness",
    "host_ended",
    "observe",
]
