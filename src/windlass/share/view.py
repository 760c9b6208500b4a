"""The view that co-schedulers read, the measurements of pairs, and the answer with its validation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from windlass.model import InputError, PolicyError
from windlass.model.values import number
from windlass.share.allocation import Allocation, Candidate, Guest

#: Quotas that a co-scheduler may give, percent of the shared cores' time (ASAx, Algorithm 1: m = 10).
ACTIONS = (0, 10, 20, 30, 40, 50, 60, 70, 80, 90)


@dataclass(frozen=True, slots=True)
class Head:
    """The earliest start of the first waiting job, if all running jobs run for their requested time.

    Parameters
    ----------
    job
        Number of the waiting job.
    at
        Its earliest start, s; infinity if the site has no room for it.
    spare
        Cores that it leaves idle then.
    """

    job: int
    at: float
    spare: int


@dataclass(frozen=True, slots=True)
class ShareView:
    """The state that a co-scheduler may use for a decision.

    Parameters
    ----------
    now
        Current time on the engine's clock, s.
    running
        Allocations, in the order in which they are tried.
    waiting
        Waiting jobs that could not start on idle cores, in queue order.
    actions
        Allowed quotas, percent; the first is 0, no sharing.
    head
        The promised start that no guest may delay; None if there is no promise.

    Raises
    ------
    InputError
        A job occurs twice, or the actions are not rising whole percents from 0 to below 100.

    Examples
    --------
    >>> host = Allocation(1, "montage", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
    >>> ShareView(0.0, (host,), (Candidate(2, "blast", 4, 4e9, 60.0),)).actions[-1]
    90
    """

    now: float
    running: tuple[Allocation, ...]
    waiting: tuple[Candidate, ...]
    actions: tuple[int, ...] = ACTIONS
    head: Head | None = None

    def promised_end(self, host: Allocation, candidate: Candidate, quota: int) -> float:
        """Return when a guest that starts now will have ended, s, at a constant quota and the host's longest runtime.

        After the end of its host, a guest continues alone for the rest of its requested time. If it is stopped
        or gets a lower quota before, it may need longer. It is then requeued if the promise needs its cores.

        >>> host = Allocation(1, "montage", 8, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
        >>> ShareView(0.0, (host,), ()).promised_end(host, Candidate(2, "blast", 8, 4e9, 40.0), quota=50)
        70.0
        """
        end = self._end(host)
        return end + max(0.0, candidate.request - quota / 100.0 * (end - self.now))

    def outstays(self, host: Allocation, candidate: Candidate, quota: int) -> int:
        """Return the number of cores that a guest could keep from the head of the queue.

        >>> host = Allocation(1, "montage", 8, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
        >>> view = ShareView(0.0, (host,), (), head=Head(9, at=70.0, spare=0))
        >>> [view.outstays(host, Candidate(2, "blast", 8, 4e9, request), 50) for request in (40.0, 41.0)]
        [0, 8]
        """
        if self.head is None or candidate.job == self.head.job:
            return 0
        # The head's promise does not include the cores of a host that is expected to end after it.
        fits = self._end(host) > self.head.at or self.promised_end(host, candidate, quota) <= self.head.at
        return 0 if fits else candidate.cores

    def _end(self, host: Allocation) -> float:
        """Return when a host is expected to end, s; if known, the exact value behind the head's promise."""
        at_walltime = self.now + max(0.0, host.walltime - host.elapsed)
        return at_walltime if math.isnan(host.ends) else max(self.now, host.ends)

    def __post_init__(self) -> None:
        number("now", self.now, -math.inf)
        checked_actions("actions", self.actions)
        seen: set[int] = set()
        for job in self._jobs():
            if job in seen:
                raise InputError(f"job {job} is in the view twice, expected each job once")
            seen.add(job)

    def _jobs(self) -> Iterator[int]:
        for host in self.running:
            yield host.job
            if host.guest is not None:
                yield host.guest.job.job
        for candidate in self.waiting:
            yield candidate.job


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The measurement of a pair while its quota was constant, until a checkpoint or the end of a job.

    Parameters
    ----------
    before
        The host when the quota was set.
    after
        The host now; tasks, rates and ``waited`` cover the time since ``before``.
    guest
        The guest and its quota; ``progress`` covers the same time, and the policy attached ``note``.
    ended, killed
        Whether the host has ended, and whether the system killed it at its walltime.
    """

    before: Allocation
    after: Allocation
    guest: Guest
    ended: bool = False
    killed: bool = False


def checked_actions(name: str, actions: tuple[int, ...]) -> tuple[int, ...]:
    """Check quotas: rising whole percents, the first 0, the last below 100; raise an error with the name otherwise.

    >>> checked_actions("actions", (0, 25, 50, 75))
    (0, 25, 50, 75)
    """
    rising = all(low < high for low, high in pairwise(actions))
    plain = all(isinstance(each, int) and not isinstance(each, bool) for each in actions)
    if len(actions) < 2 or not plain or not rising or actions[0] != 0 or actions[-1] >= 100:
        raise InputError(f"{name} is {list(actions)}, expected rising whole percents from 0 to below 100")
    return actions


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
