"""The view that co-schedulers read, and the measurements of pairs.

:mod:`~windlass.share.answer` has the answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from windlass.model import InputError
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
