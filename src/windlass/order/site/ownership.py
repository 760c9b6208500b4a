"""Protocols of policies that depend on the users, groups and queues of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from windlass.model import Owners
from windlass.order.site import SitePolicy
from windlass.policy.registry import capability


@runtime_checkable
class Decaying(Protocol):
    """A policy, or a priority of the policy ``queue``, that depends on the processor-seconds used by each user."""

    @property
    def half_life(self) -> float | None:
        """Half-life of consumed processor-seconds, s, above 0 and possibly infinite.

        None if consumption does not matter. Engines read it once, before a run; views then have ``used``.
        """
        ...


@runtime_checkable
class LimitsUsers(Protocol):
    """A policy that may limit what one user runs at once."""

    @property
    def limits_users(self) -> bool:
        """Whether a limit is set."""
        ...


@runtime_checkable
class Owned(Protocol):
    """A policy that needs the owners of all jobs before a run."""

    def placed(self, owners: Owners, queues: Sequence[str]) -> tuple[SitePolicy, Owners]:
        """Return a policy prepared for these owners, and the users renumbered as it requires.

        Worlds call it once, before a run, through :func:`placed`.

        Parameters
        ----------
        owners
            Users, groups and queues of the n jobs.
        queues
            Names of their queues, by number.
        """
        ...


@runtime_checkable
class OwnedPriority(Protocol):
    """A priority whose numbers depend on the owners of the run's jobs."""

    def placed(self, owners: Owners, queues: Sequence[str]) -> tuple[NDArray[np.float64], Owners]:
        """Return (k,) numbers for ``given``, and the users renumbered to match them.

        The policy ``queue`` calls it once, before a run.

        Parameters
        ----------
        owners
            Users, groups and queues of the n jobs.
        queues
            Names of their queues, by number.
        """
        ...


def placed(policy: SitePolicy, owners: Owners, queues: Sequence[str]) -> tuple[SitePolicy, Owners]:
    """Return the policy prepared for the owners of a run's jobs, and the users renumbered as it requires.

    Parameters
    ----------
    policy
        A policy; one that depends on owners is :class:`Owned`.
    owners
        Users, groups and queues of the jobs.
    queues
        Names of their queues, by number.

    Returns
    -------
    tuple
        Both unchanged if the policy does not depend on owners. Views and ``used`` follow the new numbers.

    Examples
    --------
    >>> from windlass.order.site.policies.easy import Easy
    >>> owners = Owners.of(2, user=[0, 1])
    >>> placed(Easy(), owners, ())[1] is owners
    True
    """
    able = capability(policy, Owned)
    return (policy, owners) if able is None else able.placed(owners, queues)


def half_life_of(policy: object) -> float | None:
    """Return the half-life of consumption for a policy or a priority, s; None if consumption does not matter.

    Parameters
    ----------
    policy
        A policy of one site, or a priority.

    Examples
    --------
    >>> from windlass.order.site.policies.easy import Easy
    >>> from windlass.order.site.policies.queue import Queue
    >>> half_life_of(Queue({"multifactor": {"half_life": 60}})), half_life_of(Easy())
    (60.0, None)
    """
    able = capability(policy, Decaying)
    return None if able is None else able.half_life


def depends_on_users(policy: object) -> bool:
    """Return whether a policy starts other jobs if it knows their users.

    Parameters
    ----------
    policy
        A policy of one site.

    Examples
    --------
    >>> from windlass.order.site.policies.easy import Easy
    >>> from windlass.order.site.policies.limited import Limited
    >>> depends_on_users(Limited(jobs_per_user=2)), depends_on_users(Limited()), depends_on_users(Easy())
    (True, False, False)
    """
    able = capability(policy, LimitsUsers)
    return half_life_of(policy) is not None or (able is not None and able.limits_users)
