"""A warning for policies that depend on users: the jobs of a live queue have none."""

from __future__ import annotations

from collections.abc import Callable

from windlass.drive import Named
from windlass.order.site.ownership import depends_on_users


def warn_of_users(policy: Named, notify: Callable[[str], None]) -> None:
    """Report that a policy's shares of users and limits per user have no effect on a live queue.

    Parameters
    ----------
    policy
        The order policy.
    notify
        Called with the warning, if the policy depends on users.

    Examples
    --------
    >>> from windlass.order.site.policies.limited import Limited
    >>> warn_of_users(Limited(jobs_per_user=2), print)
    policy 'limited': the users of live jobs are not known; its shares of users and limits per user have no effect
    >>> warn_of_users(Limited(), print)
    """
    if depends_on_users(policy):
        notify(
            f"policy {policy.name!r}: the users of live jobs are not known; "
            "its shares of users and limits per user have no effect"
        )
