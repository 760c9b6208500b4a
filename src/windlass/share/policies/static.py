"""Sharing of every allocation half and half."""

from typing import ClassVar

from windlass.share.policies.always import Always


class Static(Always):
    """Places each waiting job on the first allocation with room, at half of the time each.

    Source: ASAx, Section 4.4, the Static setting: two jobs a server, 50 % each, by cgroups.

    Examples
    --------
    >>> from windlass.share.allocation import Allocation, Candidate
    >>> from windlass.share.view import ShareView
    >>> host = Allocation(1, "montage", 8, 8e9, 60.0, 0.0, cpu=99.0, memory_used=50.0)
    >>> Static().decide(ShareView(0.0, (host,), (Candidate(2, "blast", 8, 1e9, 60.0),))).shares[0].quota
    50
    """

    name: ClassVar[str] = "static"

    def __init__(self) -> None:
        super().__init__(quota=50)
