"""The answer of a co-scheduler, and its validation."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.model import PolicyError
from windlass.share.allocation import Allocation, Candidate
from windlass.share.view import ShareView


@dataclass(frozen=True, slots=True)
class Share:
    """Gives a job a share of the time of another job's cores.

    Parameters
    ----------
    host
        Number of the running job whose allocation is shared.
    guest
        Number of a waiting job, which starts now, or of the host's guest, whose quota changes.
    quota
        Percent of the guest's cores' time, one of the view's actions. 0 returns all time to the host: the
        guest is stopped and keeps its memory. Only an existing guest can get 0.
    why
        The reason, for ``--explain`` and dry runs.
    note
        Numbers that the engine keeps with the pair and returns with its measurements.
    """

    host: int
    guest: int
    quota: int
    why: str
    note: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Back:
    """Requeues a guest, which restarts from the beginning; useful for one that has run only briefly.

    Parameters
    ----------
    guest
        Number of the guest; its job must allow restarts.
    why
        The reason.
    """

    guest: int
    why: str


@dataclass(frozen=True, slots=True)
class Sharing:
    """A co-scheduler's answer: the pairs that change; all others continue as before.

    Parameters
    ----------
    shares
        Guests that start, and quotas that change.
    back
        Guests that are requeued.

    Examples
    --------
    >>> Sharing((Share(1, 2, 30, "host idles"),)).shares[0].quota
    30
    """

    shares: tuple[Share, ...] = ()
    back: tuple[Back, ...] = ()

    def check(self, view: ShareView) -> None:
        """Raise unless all of it can be applied together; engines call this before any change.

        Raises
        ------
        PolicyError
            A job is unknown, is named twice, lacks cores or memory on the one allocation, or could delay the
            head of the queue; or a quota is not among the actions, or a reason is missing.

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
        named: set[int] = set()
        spare = 0 if view.head is None else view.head.spare
        for share in self.shares:
            problem = _problem(share, hosts.get(share.host), waiting.get(share.guest), view.actions)
            for job in (share.host, share.guest):
                if not problem and job in named:
                    problem = f"job {job} is named twice, expected once"
                named.add(job)
            if not problem and share.guest in waiting:
                spare -= (late := view.outstays(hosts[share.host], waiting[share.guest], share.quota))
                problem = "it could delay the head of the queue" if late and spare < 0 else ""
            if problem:
                raise PolicyError(f"shares job {share.host} with job {share.guest}: {problem}")
        guests = {host.guest.job.job: host.guest.job for host in view.running if host.guest is not None}
        for back in self.back:
            problem = "" if back.why else "no reason is given"
            problem = problem or ("" if back.guest in guests else "it is not a guest")
            problem = problem or ("" if guests[back.guest].restarts else "it does not allow restarts")
            problem = problem or ("it is named twice, expected once" if back.guest in named else "")
            named.add(back.guest)
            if problem:
                raise PolicyError(f"requeues job {back.guest}: {problem}")


def _problem(
    share: Share, host: Allocation | None, candidate: Candidate | None, actions: tuple[int, ...]
) -> str:
    """Return why a share is invalid, or an empty string."""
    if host is None:
        return f"job {share.host} is not running"
    if type(share.quota) is not int or share.quota not in actions:
        return f"quota is {share.quota!r}, expected one of {', '.join(map(str, actions))}"
    if not share.why:
        return "no reason is given"
    if host.guest is not None:
        current = host.guest.job.job
        return "" if share.guest == current else f"job {share.host} already shares with job {current}"
    if candidate is None:
        return f"job {share.guest} is not waiting"
    if share.quota == 0:
        return "quota is 0, expected more than 0 for a waiting job"
    if candidate.cores > host.cores:
        return f"needs {candidate.cores} cores, the allocation has {host.cores}"
    if candidate.memory > host.memory_free:
        return f"needs {candidate.memory:g} bytes, the allocation has {host.memory_free:g} left"
    return ""
