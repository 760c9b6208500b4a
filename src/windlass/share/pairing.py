"""Changes of allocations when an answer is applied and when a job of a pair ends, common to all engines."""

from __future__ import annotations

import math
from dataclasses import replace

from windlass.share.allocation import Allocation, Guest
from windlass.share.view import ShareView, Sharing


def carried_out(view: ShareView, answer: Sharing) -> tuple[Allocation, ...]:
    """Return the allocations of a view after an answer is applied.

    Parameters
    ----------
    view
        The view that was answered.
    answer
        The answer; it is checked first.

    Returns
    -------
    The allocations, in the order of the view.

    Raises
    ------
    PolicyError
        The answer is invalid; nothing is changed.

    Examples
    --------
    >>> from windlass.share.view import Share
    >>> from windlass.share.allocation import Candidate
    >>> host = Allocation(1, "montage", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
    >>> view = ShareView(0.0, (host,), (Candidate(2, "blast", 4, 4e9, 60.0),))
    >>> carried_out(view, Sharing((Share(1, 2, 30, "host idles"),)))[0].guest.quota
    30
    """
    answer.check(view)
    waiting = {candidate.job: candidate for candidate in view.waiting}
    shares = {share.host: share for share in answer.shares}
    back = {each.guest for each in answer.back}
    hosts: list[Allocation] = []
    for host in view.running:
        share = shares.get(host.job)
        if share is not None:
            job = waiting[share.guest] if host.guest is None else host.guest.job
            host = replace(host, guest=Guest(job, share.quota, note=share.note))
        elif host.guest is not None and host.guest.job.job in back:
            host = guest_ended(host)
        hosts.append(host)
    return tuple(hosts)


def guest_ended(host: Allocation) -> Allocation:
    """Return a host whose guest has ended: it has all of its cores' time, and may host another guest.

    >>> from windlass.share.allocation import Candidate
    >>> pair = Allocation(1, "montage", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0,
    ...     guest=Guest(Candidate(2, "blast", 2, 1e9, 60.0), 30))
    >>> guest_ended(pair).memory_free
    4000000000.0
    """
    return replace(host, guest=None)


def host_ended(host: Allocation, ran: float, memory_used: float = 100.0) -> Allocation | None:
    """Return the allocation of a guest whose host has ended, alone on its own cores; None if there is no guest.

    The guest has all of the time of these cores, whatever its quota was, even if it was stopped; the other
    cores and the other memory are released.

    Parameters
    ----------
    host
        The host with its guest.
    ran
        Time the guest has run at a quota above 0, s: its used walltime.
    memory_used
        Peak memory of the guest, percent of its request; 100 if it was never measured.

    Returns
    -------
    The guest's allocation. If its CPU use is unknown, it is assumed to use its cores fully.

    Examples
    --------
    >>> from windlass.share.allocation import Candidate
    >>> pair = Allocation(1, "montage", 4, 8e9, 60.0, 60.0, cpu=10.0, memory_used=50.0,
    ...     guest=Guest(Candidate(2, "blast", 2, 1e9, 90.0), 30))
    >>> left = host_ended(pair, ran=40.0)
    >>> left.job, left.cores, left.walltime, left.elapsed, left.cpu
    (2, 2, 90.0, 40.0, 100.0)
    """
    if host.guest is None:
        return None
    job = host.guest.job
    cpu = 100.0 if math.isnan(job.cpu) else job.cpu
    return Allocation(job.job, job.job_class, job.cores, job.memory, job.request, ran, cpu, memory_used)
