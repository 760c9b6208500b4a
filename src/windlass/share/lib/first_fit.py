"""First fit: each waiting job, in queue order, goes to the first allocation with room that may be shared.

Source: ASAx, Section 3.2 (gang scheduling over offers) and Section 4.4: an offer never combines several
allocations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.view import Share, ShareView


@dataclass(frozen=True, slots=True)
class QuotaChoice:
    """A quota for a pair, percent; 0 for no sharing. ``note`` is kept with the pair."""

    quota: int
    why: str
    note: tuple[float, ...] = ()


def first_fit(
    view: ShareView, choose: Callable[[Allocation, Candidate], QuotaChoice | None]
) -> tuple[Share, ...]:
    """Pair waiting jobs with allocations, at most one guest for each allocation.

    Parameters
    ----------
    view
        Running and waiting jobs.
    choose
        Called for each pair with room, in the order of the queue, then of the allocations. If it returns None
        or a quota of 0, or if the guest could delay the head of the queue, the next allocation is tried
        (ASAx, Section 3.2).

    Returns
    -------
    The guests that start now.

    Examples
    --------
    >>> wide = Allocation(1, "montage", 8, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
    >>> view = ShareView(0.0, (wide,), (Candidate(2, "blast", 9, 0.0, 60.0), Candidate(3, "blast", 8, 0.0, 60.0)))
    >>> [(each.host, each.guest) for each in first_fit(view, lambda host, guest: QuotaChoice(50, "halves"))]
    [(1, 3)]
    """
    shares: list[Share] = []
    free = [host for host in view.running if host.guest is None]
    spare = 0 if view.head is None else view.head.spare
    for candidate in view.waiting:
        for place, host in enumerate(free):
            choice = choose(host, candidate) if host.fits(candidate) else None
            late = 0 if choice is None else view.outstays(host, candidate, choice.quota)
            if choice is not None and choice.quota > 0 and (late == 0 or late <= spare):
                shares.append(Share(host.job, candidate.job, choice.quota, choice.why, choice.note))
                del free[place]
                spare -= late
                break
    return tuple(shares)


def adjusted(view: ShareView, choose: Callable[[Allocation, Guest], QuotaChoice | None]) -> tuple[Share, ...]:
    """Return new quotas for existing pairs; None from ``choose`` keeps a pair's quota.

    Examples
    --------
    >>> guest = Guest(Candidate(2, "blast", 8, 0.0, 60.0), quota=50)
    >>> host = Allocation(1, "montage", 8, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0, guest=guest)
    >>> adjusted(ShareView(0.0, (host,), ()), lambda host, guest: QuotaChoice(0, "too slow"))[0].quota
    0
    """
    shares: list[Share] = []
    for host in view.running:
        if host.guest is not None:
            choice = choose(host, host.guest)
            if choice is not None:
                shares.append(Share(host.job, host.guest.job.job, choice.quota, choice.why, choice.note))
    return tuple(shares)
