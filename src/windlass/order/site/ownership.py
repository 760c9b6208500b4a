"""What policies offer that go by whose jobs are, beyond what a view says."""

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
    """A policy, or a priority of the policy ``queue``, that goes by what each user has had."""

    @property
    def half_life(self) -> float | None:
        """After how long processor-seconds count half, s, above 0 and possibly infinite.

        None of a policy to which they do not count. Engines read it once, before a run: views then have ``used``.
        """
        ...


@runtime_checkable
class Owned(Protocol):
    """A policy that has to know whose the jobs of a run are before they come."""

    def placed(self, owners: Owners, queues: Sequence[str]) -> tuple[SitePolicy, Owners]:
        """Return a policy that knows it, and users numbered as it wants them.

        Worlds call it once, before a run, by :func:`placed`.

        Parameters
        ----------
        owners
            Whose the n jobs are.
        queues
            Names of their queues, by number.
        """
        ...


@runtime_checkable
class OwnedPriority(Protocol):
    """A priority whose numbers depend on whose the jobs of a run are."""

    def placed(self, owners: Owners, queues: Sequence[str]) -> tuple[NDArray[np.float64], Owners]:
        """Return (k,) numbers for ``given``, and users numbered as they go by them.

        The policy ``queue`` calls it once, before a run.

        Parameters
        ----------
        owners
            Whose the n jobs are.
        queues
            Names of their queues, by number.
        """
        ...


def placed(policy: SitePolicy, owners: Owners, queues: Sequence[str]) -> tuple[SitePolicy, Owners]:
    """A policy that knows whose the jobs are that will come, and users numbered as it wants them.

    Parameters
    ----------
    policy
        One that goes by it is :class:`Owned`.
    owners
        Whose the jobs are.
    queues
        Names of their queues, by number.

    Returns
    -------
    tuple
        Both as they were where the policy does not go by it. Views and what users have had go by the new numbers.

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
    """After how long what users have had counts half for a policy or a priority, s; None where it does not count.

    Parameters
    ----------
    policy
        Of one site, or a priority.

    Examples
    --------
    >>> from windlass.order.site.policies.easy import Easy
    >>> from windlass.order.site.policies.queue import Queue
    >>> half_life_of(Queue({"multifactor": {"half_life": 60}})), half_life_of(Easy())
    (60.0, None)
    """
    able = capability(policy, Decaying)
    return None if able is None else able.half_life
