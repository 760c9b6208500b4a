"""State of a running job that may share its cores."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.usage import Interval, Reading


@dataclass(slots=True)
class RunningJob:
    """A running job and its measurements.

    ``memory`` is its memory in bytes. ``spent`` is the walltime used until ``since``; after that, ``pace``
    seconds of walltime pass in a second. ``alone`` is its task rate without a guest, and ``alone_stage`` the
    stage of that rate. ``mixed`` is True if it shared its cores during a part of the time since ``last``.
    ``disturbed`` is True if it was suspended during a part of that time, so that the interval does not show
    its speed.
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
    disturbed: bool = False

    def elapsed(self, now: float) -> float:
        """Return the used walltime, s."""
        return self.spent + (now - self.since) * self.pace

    def set_pace(self, pace: float, now: float) -> None:
        """Set the walltime that passes in a second of the clock from now on, s."""
        self.spent, self.since, self.pace = self.elapsed(now), now, pace


def used_memory(entry: RunningJob) -> float:
    """Return the peak memory of a job, percent of its memory."""
    return min(100.0, 100.0 * entry.last.memory / entry.memory) if entry.memory > 0.0 else 0.0


def fresh(
    job: Candidate, at: float, memory: float, spent: float = 0.0, reading: Reading | None = None
) -> RunningJob:
    """Return a job that starts now; its counters start at 0, or at a given reading."""
    last = Reading(at, 0.0, 0.0, waited=0.0) if reading is None else reading
    return RunningJob(job, memory, at, spent=spent, last=last)


def shown(entry: RunningJob, now: float, guest: Guest | None, ends: float = math.nan) -> Allocation:
    """Return the allocation of a job as a co-scheduler sees it at ``now`` (s), with its guest at that time.

    ``ends`` is the time by which its cores are expected to be free, s.
    """
    job, last, done = entry.job, entry.last, entry.now
    alike = last.stage == entry.alone_stage
    return Allocation(
        job.job,
        job.job_class,
        job.cores,
        entry.memory,
        walltime=job.request,
        elapsed=max(0.0, entry.elapsed(now)),
        cpu=entry.cpu,
        memory_used=used_memory(entry),
        parallel=last.parallel,
        tasks_done=last.done,
        tasks_left=last.left,
        rate=math.nan if done is None else done.rate,
        rate_alone=entry.alone if alike else math.nan,
        waited=math.nan if done is None else done.waited,
        guest=guest,
        ends=ends,
    )


def same(before: Guest | None, after: Guest) -> bool:
    """Return whether a pair continues at the same quota, and so at the same pace."""
    return before is not None and (before.job.job, before.quota) == (after.job.job, after.quota)
