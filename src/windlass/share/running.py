"""What is known of a job that runs and may share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.usage import Interval, Reading


@dataclass(slots=True)
class RunningJob:
    """A job that runs, with so many bytes.

    ``spent`` is what it has used of its walltime until ``since``; from then on it uses ``pace`` in a second. ``alone``
    is the rate of tasks that it had by itself, and in which stage. ``mixed``: it shared for a part of the time since
    ``last``, and has been by itself for the rest. ``disturbed``: somebody had it stand still for a part of that time,
    so that what was measured over it says nothing of how fast it is.
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
        """What it has used of its walltime, s."""
        return self.spent + (now - self.since) * self.pace

    def set_pace(self, pace: float, now: float) -> None:
        """So many seconds of its walltime pass in a second from now on."""
        self.spent, self.since, self.pace = self.elapsed(now), now, pace


def used_memory(entry: RunningJob) -> float:
    """Percent of its memory that a job has used at most."""
    return min(100.0, 100.0 * entry.last.memory / entry.memory) if entry.memory > 0.0 else 0.0


def fresh(
    job: Candidate, at: float, memory: float, spent: float = 0.0, reading: Reading | None = None
) -> RunningJob:
    """A job that starts now: its counters count from here, or from what was read of it."""
    last = Reading(at, 0.0, 0.0, waited=0.0) if reading is None else reading
    return RunningJob(job, memory, at, spent=spent, last=last)


def shown(entry: RunningJob, now: float, guest: Guest | None) -> Allocation:
    """What a co-scheduler may see of a job at an instant, s, with its guest as that is then."""
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
    )


def same(before: Guest | None, after: Guest) -> bool:
    """Whether a pair goes on at its quota, and so at the pace that it was told."""
    return before is not None and (before.job.job, before.quota) == (after.job.job, after.quota)
