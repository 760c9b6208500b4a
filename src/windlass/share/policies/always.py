"""Sharing of every allocation at one quota."""

from typing import ClassVar

from windlass.model import InputError
from windlass.share.lib.first_fit import QuotaChoice, first_fit
from windlass.share.view import ACTIONS, ShareView, Sharing


class Always:
    """Places each waiting job on the first allocation with room, at a fixed quota.

    It uses no measurements and therefore shows the benefit and the cost of first fit alone.

    Parameters
    ----------
    quota
        Percent of the shared cores' time; an action above 0.

    Raises
    ------
    InputError
        The quota is not one of the actions above 0.

    Examples
    --------
    >>> from windlass.share.allocation import Allocation, Candidate
    >>> host = Allocation(1, "montage", 8, 8e9, 60.0, 0.0, cpu=99.0, memory_used=50.0)
    >>> Always(quota=20).decide(ShareView(0.0, (host,), (Candidate(2, "blast", 8, 1e9, 60.0),))).shares[0].quota
    20
    """

    name: ClassVar[str] = "always"

    def __init__(self, quota: int = 30) -> None:
        if quota not in ACTIONS[1:]:
            raise InputError(f"quota is {quota!r}, expected one of {', '.join(map(str, ACTIONS[1:]))}")
        self.quota = quota

    def decide(self, view: ShareView) -> Sharing:
        """Return a guest for each allocation with room, in queue order."""
        choice = QuotaChoice(self.quota, f"first allocation with room; always {self.quota} %")
        return Sharing(first_fit(view, lambda host, guest: choice))
