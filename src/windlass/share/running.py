"""What is known of a job that runs and may share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.meter import Interval, Reading


@dataclass(slots=True)
class Running:
    """A job that runs, with so many bytes.

    ``spent`` is what it has used of its walltime until ``since``; from then on it uses ``pace`` in a second. ``alone``
    is the rate of tasks that it had by itself, and in which stage. ``mixed``: it shared for a part of the time since
    ``last``, and has been by itself for the rest.
    """

    job: Candidate
    memory: float
    since: float
    pace: float = 1.0
    spent: float = 0.0
    last: Reading = field(kw_only=True)
    cpu: float = math.nan
    now: Interval | None = None
    alone: float = math.nan
    alone_stage: int | None = None
    guest: Guest | None = None
    host: int | None = None
    until: float = math.inf
    before: Allocation | None = None
    mixed: bool = False

    def elapsed(self, now: float) -> float:
        """What it has used of its walltime, s."""
        return self.spent + (now - self.since) * self.pace

    def set_pace(self, pace: float, now: float) -> None:
        """So many seconds of its walltime pass in a second from now on."""
        self.spent, self.since, self.pace = self.elapsed(now), now, pace


def used_memory(entry: Running) -> float:
    """Percent of its memory that a job has used at most."""
    return min(100.0, 100.0 * entry.last.memory / entry.memory) if entry.memory > 0.0 else 0.0


def fresh(job: Candidate, at: float, memory: float) -> Running:
    """A job that starts now: its counters count from here."""
    return Running(job, memory, at, last=Reading(at, 0.0, 0.0, waited=0.0))
