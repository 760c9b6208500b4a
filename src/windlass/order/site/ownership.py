"""Policies that go by whose jobs are, beyond what a view says: they are told before a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windlass.model import Owners
from windlass.order.site import SitePolicy
from windlass.policy.registry import optional


def placed(policy: SitePolicy, owners: Owners, queues: Sequence[str]) -> tuple[SitePolicy, Owners]:
    """A policy that knows whose the jobs are that will come, and users numbered as it wants them.

    Parameters
    ----------
    policy
        One that goes by it has a method ``placed(owners, queues)``, which gives what this function does.
    owners
        Whose the jobs are.
    queues
        Names of their queues, by number.

    Returns
    -------
    tuple
        Both as they were where the policy has no such method. Views and what users have had go by the new numbers.

    Examples
    --------
    >>> from windlass.order.site.policies.easy import Easy
    >>> owners = Owners.of(2, user=[0, 1])
    >>> placed(Easy(), owners, ())[1] is owners
    True
    """
    place: Callable[[Owners, Sequence[str]], tuple[SitePolicy, Owners]] | None = optional(policy, "placed")
    return (policy, owners) if place is None else place(owners, queues)
