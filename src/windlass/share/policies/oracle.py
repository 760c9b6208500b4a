"""Sharing with known speeds of every pair."""

from __future__ import annotations

from typing import ClassVar

from windlass.share.allocation import Allocation, Candidate
from windlass.share.interference import PairSpeeds, time_shared
from windlass.share.lib.first_fit import QuotaChoice, adjusted, first_fit
from windlass.share.lib.part import part_of
from windlass.share.view import ShareView, Sharing


class Oracle:
    """Chooses the quota that is best for the guest within the host's budget, knowing the true speeds of every pair.

    It is an upper bound on the gain of first fit, because real policies do not know these speeds. It optimises
    each pair alone and not the whole queue: a better guest may wait further back.

    Parameters
    ----------
    speeds
        Returns the speeds of a host and a guest at a quota, as fractions of their speeds when running alone. The
        default is time sharing without interference.
    budget
        Allowed slowdown of a host: a fraction below 1, such as 0.05, or percent from 1 on.

    Raises
    ------
    InputError
        The budget is out of bounds.

    Examples
    --------
    >>> host = Allocation(1, "montage", 8, 8e9, 60.0, 0.0, cpu=55.0, memory_used=50.0)
    >>> view = ShareView(0.0, (host,), (Candidate(2, "blast", 8, 1e9, 60.0),))
    >>> Oracle().decide(view).shares[0].quota
    50
    """

    name: ClassVar[str] = "oracle"
    #: Knows the speeds of pairs that have not run, so that it is compared with the others and cannot win.
    bound: ClassVar[bool] = True

    def __init__(self, speeds: PairSpeeds = time_shared, budget: float = 0.1) -> None:
        self.speeds = speeds
        self.budget = part_of("budget", budget)

    def decide(self, view: ShareView) -> Sharing:
        """Return guests at their best quotas, and new quotas for existing pairs."""

        def best(host: Allocation, guest: Candidate) -> QuotaChoice:
            allowed = 1.0 / (1.0 + self.budget)
            known = [(quota, self.speeds(host, guest, quota)) for quota in view.actions[1:]]
            within = [(each.guest, -quota) for quota, each in known if each.host >= allowed]
            if not within:
                return QuotaChoice(0, f"no quota keeps the host within {100.0 * self.budget:g} %")
            fast, quota = max(within)
            return QuotaChoice(
                -quota, f"the guest has {100 * fast:.0f} % of its speed, the host stays within its budget"
            )

        pairs = adjusted(view, lambda host, guest: best(host, guest.job))
        return Sharing((*pairs, *first_fit(view, best)))
