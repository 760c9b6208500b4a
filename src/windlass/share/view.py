"""What a co-scheduler sees, and what is measured of those that share.

:mod:`~windlass.share.answer` is what it answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from windlass.model import InputError
from windlass.model.values import number
from windlass.share.allocation import Allocation, Candidate, Guest

#: The quotas that a co-scheduler may give, percent of the shared cores' time (ASAx, Algorithm 1: m = 10).
ACTIONS = (0, 10, 20, 30, 40, 50, 60, 70, 80, 90)


@dataclass(frozen=True, slots=True)
class Head:
    """When the first of those who wait can start, if all who run do so for as long as they asked to.

    Parameters
    ----------
    job
        Who that is.
    at
        Then it can, s; infinity for one that the site has no room for.
    spare
        Cores that it leaves over then.
    """

    job: int
    at: float
    spare: int


@dataclass(frozen=True, slots=True)
class ShareView:
    """All that a co-scheduler may know at one instant.

    Parameters
    ----------
    now
        The engine's clock, s.
    running
        Allocations, in the order in which they are tried.
    waiting
        Jobs that wait and could not start on idle cores, in the order in which they are served.
    actions
        The quotas there are, percent; the first is 0, for not at all.
    head
        Whose start no guest may put off; None where nobody was promised one.

    Raises
    ------
    InputError
        A job is there twice, or the actions are not rising whole percents from 0 to below 100.

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
        """By when a guest that starts now will be gone, s, if its quota stays so and its host runs as long as it may.

        A guest goes on when its host has ended, for what its quota has left of the time that it asked for. Where it is
        stopped in between, or gets less, it may not be done by then, and has to go if it is in the way.

        >>> host = Allocation(1, "montage", 8, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
        >>> ShareView(0.0, (host,), ()).promised_end(host, Candidate(2, "blast", 8, 4e9, 40.0), quota=50)
        70.0
        """
        end = self._end(host)
        return end + max(0.0, candidate.request - quota / 100.0 * (end - self.now))

    def outstays(self, host: Allocation, candidate: Candidate, quota: int) -> int:
        """Cores that a guest could keep from the head of the queue.

        >>> host = Allocation(1, "montage", 8, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
        >>> view = ShareView(0.0, (host,), (), head=Head(9, at=70.0, spare=0))
        >>> [view.outstays(host, Candidate(2, "blast", 8, 4e9, request), 50) for request in (40.0, 41.0)]
        [0, 8]
        """
        if self.head is None or candidate.job == self.head.job:
            return 0
        # A host that should be there still is not among those whose cores the head was promised.
        fits = self._end(host) > self.head.at or self.promised_end(host, candidate, quota) <= self.head.at
        return 0 if fits else candidate.cores

    def _end(self, host: Allocation) -> float:
        """By when a host is expected to be gone, s: to the bit what the head's promise was told from, where known."""
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
    """What was measured of a pair over the time in which its quota stood, ending with a checkpoint or with a job.

    Parameters
    ----------
    before
        The host as it was when the quota was decided.
    after
        The host as it is now: ``elapsed``, tasks, rates and ``waited`` of the time between.
    guest
        Who shared it, and at what quota; ``progress`` is of the time between, ``note`` what the policy left.
    ended, killed
        Whether the host has ended; and whether the system killed it at its walltime.
    """

    before: Allocation
    after: Allocation
    guest: Guest
    ended: bool = False
    killed: bool = False


def checked_actions(name: str, actions: tuple[int, ...]) -> tuple[int, ...]:
    """Quotas as users give them: rising whole percents, the first 0, the last below 100; or an error that names them.

    >>> checked_actions("actions", (0, 25, 50, 75))
    (0, 25, 50, 75)
    """
    rising = all(low < high for low, high in pairwise(actions))
    plain = all(isinstance(each, int) and not isinstance(each, bool) for each in actions)
    if len(actions) < 2 or not plain or not rising or actions[0] != 0 or actions[-1] >= 100:
        raise InputError(f"{name} is {list(actions)}, expected rising whole percents, 0 first, all below 100")
    return actions
