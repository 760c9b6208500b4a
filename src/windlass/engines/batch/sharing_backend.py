"""Pairs of jobs on one allocation of a batch system, and the protocol of systems that support them."""

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
    """How a job ended: it completed, was stopped at its time limit, or ended so that its sharing teaches nothing."""

    DONE = "done"
    KILLED = "killed"
    CUT = "cut"


class SharingSystem(Protocol):
    """The methods of a batch system on which jobs share allocations. It knows no policy."""

    def candidate(self, job: int) -> Candidate | None:
        """Return a job that may share, waiting or running, as its user submitted it; None for other jobs."""
        ...

    def memory(self, job: int) -> float:
        """Return the memory allocated to a running job, bytes; its request if the system has no other figure."""
        ...

    def readings(self, jobs: Sequence[int], now: float) -> Mapping[int, Reading]:
        """Return the usage of these running jobs; a job that cannot be read now is left out."""
        ...

    def last_reading(self, job: int, before: Reading) -> Reading:
        """Return what can still be read of a job that has just ended; ``before`` if nothing can."""
        ...

    def outcome(self, job: int) -> JobEnding:
        """Return how a job ended."""
        ...

    def together(self, host: int, guest: int) -> bool:
        """Return whether a guest runs on its host's cores; true while this is unknown."""
        ...

    def take_in(self, pair: Pair, longest: float, until: float) -> str:
        """Start a held job where another one runs; return an error message, or an empty string.

        The job must not be stopped before it has run for ``longest`` seconds; its quota is set as soon as it runs. Its
        promised end is ``until``, s.
        """
        ...

    def allow(self, job: int, seconds: float) -> None:
        """Let a guest run for at least ``seconds`` more: at its quota it needs longer than it requested."""
        ...

    def requeue(self, job: int, why: str) -> str:
        """Requeue a running job, held; return an error message, or an empty string."""
        ...

    def set_quotas(self, pairs: Sequence[Pair]) -> None:
        """Set the current pairs; all other jobs have their cores alone. Called often, mostly without a change."""
        ...

    def close(self) -> None:
        """Lift all quotas; no job is stopped."""
        ...
