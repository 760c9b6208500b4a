"""Co-scheduling of waiting jobs on the cores of running ones, with a CPU quota for each.

A running job, the *host*, often leaves many of its cores idle. A co-scheduler decides which waiting job, the
*guest*, may use them, and how much of their time. It reads a :class:`ShareView` and returns a
:class:`Sharing`; it never calls an engine. An engine checks the whole answer (:meth:`Sharing.check`), applies
quotas through control groups or its simulated cores, and passes measurements to learning policies as
:class:`Checkpoint`.

Policies, one file each in ``policies/``:

- ``asax``: quotas drawn from a learned mixture of experts.
- ``pairs``: the largest quota that stays within a budget, learned from measured pairs.
- ``oracle``: knows the speeds of every pair.
- ``none``: no sharing; EASY backfilling alone.
- ``static``: half of the time each; ``always``: one fixed quota.

:mod:`~windlass.share.allocation` describes jobs and allocations, :mod:`~windlass.share.view` what policies read and
return, and :mod:`~windlass.share.pairing` the allocations after an answer. ``lib/`` has parts that several policies
share. Every engine keeps a :mod:`~windlass.share.book` of running jobs (:mod:`~windlass.share.running`) and measures
them with :mod:`~windlass.share.usage`. :mod:`~windlass.share.interference` predicts the speeds of two jobs that share
cores, fitted to measured pairs.

:mod:`~windlass.share.context` lists the constructor arguments that an engine offers to a policy, and
:mod:`~windlass.share.learned` has the protocols of learning policies. :mod:`~windlass.share.learning`
compares how ASAx learns with the bound of its theorem.

:class:`Asax` and :class:`Pairs` can be used outside an engine. :func:`happiness` measures whether a job will
meet its walltime, and :func:`first_fit` pairs jobs with allocations for custom policies.

>>> from windlass.share import POLICIES
>>> "static" in POLICIES.names()
True
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from windlass.policy.registry import Registry, capability
from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.context import ShareContext
from windlass.share.interference import Interference, Speeds, fit_interference
from windlass.share.learned import Observing, Persistent
from windlass.share.lib.first_fit import QuotaChoice, first_fit
from windlass.share.lib.state import happiness
from windlass.share.pairing import carried_out, guest_ended, host_ended
from windlass.share.policies.asax import Asax
from windlass.share.policies.pairs import Pairs
from windlass.share.view import ACTIONS, Checkpoint, Share, ShareView, Sharing

POLICIES = Registry(
    "share",
    "Which waiting job may share an allocation, and at what quota?",
    "a waiting job may fit on an allocation, or a pair reaches a checkpoint",
    f"{__name__}.policies",
)


class SharePolicy(Protocol):
    """A policy that decides which waiting jobs start on the cores of running ones, and their share of CPU time.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy. It may implement
    :class:`~windlass.share.learned.Observing` and :class:`~windlass.share.learned.Persistent` as well.
    """

    name: ClassVar[str]

    def decide(self, view: ShareView) -> Sharing:
        """Return the guests that start at ``view.now`` and the quotas that change. The view is not changed."""
        ...


def observe(policy: SharePolicy, checkpoint: Checkpoint) -> None:
    """Pass a measurement to a policy that is :class:`Observing`; engines call this before the next decision.

    Parameters
    ----------
    policy
        The policy of this decision.
    checkpoint
        The measurement since the pair's quota was set.

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
