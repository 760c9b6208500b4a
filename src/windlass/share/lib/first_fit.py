"""First fit: who waits goes, in order, to the first allocation that has room for all of it and may be shared.

Source: ASAx, Section 3.2 (gang scheduling over offers) and Section 4.4: an offer is never put together from several
allocations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.answer import Share
from windlass.share.view import ShareView


@dataclass(frozen=True, slots=True)
class QuotaChoice:
    """A quota for a pair, percent; 0 for not sharing it, or for no more. ``note`` stays with the pair."""

    quota: int
    why: str
    note: tuple[float, ...] = ()


def first_fit(
    view: ShareView, choose: Callable[[Allocation, Candidate], QuotaChoice | None]
) -> tuple[Share, ...]:
    """Pairs of waiting jobs and allocations, at most one guest an allocation.

    Parameters
    ----------
    view
        Who runs and who waits.
    choose
        Asked for each pair that has room, in order of the queue, then of the allocations. None or a quota of 0 is no,
        and the next allocation is tried (ASAx, Section 3.2); so it is where the guest could put off the head of the
        queue.

    Returns
    -------
    Those that start now.

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
    """New quotas of those that share already; None leaves a pair as it is.

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
