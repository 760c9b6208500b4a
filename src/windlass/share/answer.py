"""What a co-scheduler answers, and whether that can be carried out."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.model import PolicyError
from windlass.share.allocation import Allocation, Candidate
from windlass.share.view import ShareView


@dataclass(frozen=True, slots=True)
class Share:
    """Let one job have a part of the time of another's cores.

    Parameters
    ----------
    host
        The running job whose allocation it is.
    guest
        A waiting job, which starts now; or the host's guest, whose quota changes.
    quota
        Percent of the time of the guest's cores, one of the view's actions. 0 gives all back to the host: the guest
        stops where it is and keeps its memory. Only a guest that is there already can have 0.
    why
        The reason, for ``--explain`` and for dry runs.
    note
        Numbers that the engine keeps with the pair, and hands back with what it measures of it.
    """

    host: int
    guest: int
    quota: int
    why: str
    note: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Back:
    """Put a guest back in the queue, where it begins again: worth it for one that has hardly begun.

    Parameters
    ----------
    guest
        Who; one that may be restarted.
    why
        The reason.
    """

    guest: int
    why: str


@dataclass(frozen=True, slots=True)
class Sharing:
    """What a co-scheduler answers: who shares with whom from now on; whoever is not named goes on as before.

    Parameters
    ----------
    shares
        Guests that start, and quotas that change.
    back
        Guests that leave.

    Examples
    --------
    >>> Sharing((Share(1, 2, 30, "host idles"),)).shares[0].quota
    30
    """

    shares: tuple[Share, ...] = ()
    back: tuple[Back, ...] = ()

    def check(self, view: ShareView) -> None:
        """Raise unless all of it can be carried out together; engines call this before they change anything.

        Raises
        ------
        PolicyError
            A job is not there, would share twice, has no cores or no memory in that one allocation, or could put off
            the head of the queue; or a quota is not among the actions, or has no reason.

        Examples
        --------
        >>> host = Allocation(1, "montage", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
        >>> view = ShareView(0.0, (host,), (Candidate(2, "blast", 8, 4e9, 60.0),))
        >>> Sharing((Share(1, 2, 30, "host idles"),)).check(view)
        Traceback (most recent call last):
        windlass.model.errors.PolicyError: shares job 1 with job 2: needs 8 cores, the allocation has 4
        """
        hosts = {host.job: host for host in view.running}
        waiting = {candidate.job: candidate for candidate in view.waiting}
        taken: set[int] = set()
        spare = 0 if view.head is None else view.head.spare
        for share in self.shares:
            problem = _problem(share, hosts.get(share.host), waiting.get(share.guest), view.actions)
            for job in (share.host, share.guest):
                if not problem and job in taken:
                    problem = f"job {job} shares twice"
                taken.add(job)
            if not problem and share.guest in waiting:
                spare -= (late := view.outstays(hosts[share.host], waiting[share.guest], share.quota))
                problem = "it could put off the head of the queue" if late and spare < 0 else ""
            if problem:
                raise PolicyError(f"shares job {share.host} with job {share.guest}: {problem}")
        guests = {host.guest.job.job: host.guest.job for host in view.running if host.guest is not None}
        for back in self.back:
            problem = "" if back.why else "it has no reason"
            problem = problem or ("" if back.guest in guests else "it is nobody's guest")
            problem = problem or ("" if guests[back.guest].restarts else "it may not be restarted")
            problem = problem or (f"job {back.guest} is named twice" if back.guest in taken else "")
            taken.add(back.guest)
            if problem:
                raise PolicyError(f"puts job {back.guest} back: {problem}")


def _problem(
    share: Share, host: Allocation | None, candidate: Candidate | None, actions: tuple[int, ...]
) -> str:
    """Why one share cannot be, or nothing."""
    if host is None:
        return f"job {share.host} is not running"
    if type(share.quota) is not int or share.quota not in actions:
        return f"quota is {share.quota!r}, expected one of {', '.join(map(str, actions))}"
    if not share.why:
        return "it has no reason"
    if host.guest is not None:
        there = host.guest.job.job
        return "" if share.guest == there else f"job {share.host} shares with job {there} already"
    if candidate is None:
        return f"job {share.guest} is not waiting"
    if share.quota == 0:
        return "quota is 0, and a job that waits can only start with more"
    if candidate.cores > host.cores:
        return f"needs {candidate.cores} cores, the allocation has {host.cores}"
    if candidate.memory > host.memory_free:
        return f"needs {candidate.memory:g} bytes, the allocation has {host.memory_free:g} left"
    return ""
