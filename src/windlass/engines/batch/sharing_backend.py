"""Pairs of jobs on one allocation of a batch system, and what is needed of the system where there are some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from windlass.share.allocation import Candidate
from windlass.share.usage import Reading


@dataclass(frozen=True, slots=True)
class Pair:
    """Two jobs on one allocation: their numbers, cores, and the guest's quota in percent."""

    host: int
    guest: int
    quota: int


class JobEnding(Enum):
    """How a job ended: by itself, stopped at its walltime, or in a way that says nothing of who shared with it."""

    DONE = "done"
    KILLED = "killed"
    CUT = "cut"


class SharingSystem(Protocol):
    """What is needed of a batch system besides, where jobs share allocations. It knows no policy."""

    def candidate(self, job: int) -> Candidate | None:
        """A job that may share, waiting or running, as its user submitted it; None for one that may not."""
        ...

    def memory(self, job: int) -> float:
        """Bytes that a running job was given; as many as it asked for where the system does not say more."""
        ...

    def readings(self, jobs: Sequence[int], now: float) -> Mapping[int, Reading]:
        """What these running jobs have used; one that cannot be read just now is left out."""
        ...

    def last_reading(self, job: int, before: Reading) -> Reading:
        """What can still be read of a job that has just ended; ``before`` where nothing can."""
        ...

    def outcome(self, job: int) -> JobEnding:
        """How a job ended."""
        ...

    def together(self, host: int, guest: int) -> bool:
        """Whether a guest runs on its host's cores; also where nobody can tell yet."""
        ...

    def take_in(self, pair: Pair, longest: float, until: float) -> str:
        """Start a held job where another one runs; why it cannot be, or nothing.

        It must not be stopped before it has run for ``longest`` seconds; its quota is set as soon as it runs. It is
        promised to be gone by ``until``.
        """
        ...

    def allow(self, job: int, seconds: float) -> None:
        """A guest must not be stopped before so many seconds more, as it gets less than it asked for."""
        ...

    def put_back(self, job: int, why: str) -> str:
        """Stop a running job and put it back in the queue, held; why it cannot be, or nothing."""
        ...

    def set_quotas(self, pairs: Sequence[Pair]) -> None:
        """These jobs share so from now on; all others have their cores for themselves. Asked often, with no change."""
        ...

    def close(self) -> None:
        """No job shares by quota any more; none is stopped."""
        ...
