"""A plain site with first come, first served on which jobs share processors and run at varying speeds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(eq=False)
class Job:
    """The state of a job on the plain site."""

    row: int
    procs: int
    work: float
    request: float
    limit: float
    start: float = math.nan
    end: float = math.nan
    expected: float = math.nan
    rate: float = 1.0
    pace: float = 1.0
    since: float = 0.0
    left: float = 0.0
    allowance: float = 0.0
    host: Job | None = None
    guest: Job | None = None

    def begin(self, now: float, expected: float) -> None:
        self.start = self.since = now
        self.left, self.allowance, self.expected = self.work, self.request, expected
        self.rate = self.pace = 1.0

    def go_on(self, now: float) -> None:
        step, self.since = now - self.since, now
        self.left, self.allowance = max(0.0, self.left - step * self.rate), self.allowance - step * self.pace

    def ends(self) -> float:
        done = (
            self.since + self.left / self.rate if self.rate else (self.since if not self.left else math.inf)
        )
        stops = math.inf
        if self.limit < math.inf and self.pace:
            stops = self.since + max(0.0, self.allowance) / self.pace
        return min(done, stops)

    def width(self) -> int:
        return self.procs - (self.guest.procs if self.guest is not None else 0)


@dataclass
class Plain:
    """First come, first served, in rounds."""

    processors: int
    table: list[tuple[float, Job]]
    queue: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    last: float = -math.inf

    def free(self) -> int:
        return self.processors - sum(job.width() for job in self.running)

    def round(self, now: float) -> None:
        # No job waits that could have started at the last instant.
        assert now == self.last or not self.queue or self.queue[0].procs > self.free()
        assert all(job.ends() >= now for job in self.running)
        self.last = now
        for job in [job for job in self.running if job.ends() == now]:
            job.end = now
            self.stop(job, now)
        while self.table and self.table[0][0] <= now:
            self.queue.append(self.table.pop(0)[1])
        while self.queue and self.queue[0].procs <= self.free():
            job = self.queue.pop(0)
            job.begin(now, now + job.request)
            self.running.append(job)

    def stop(self, job: Job, now: float) -> None:
        self.running.remove(job)
        job.go_on(now)
        if job.guest is not None:
            guest, job.guest = job.guest, None
            guest.host = None
            guest.go_on(now)
            guest.rate = guest.pace = 1.0
            guest.expected = min(guest.expected, now + max(0.0, guest.allowance))
        if job.host is not None:
            job.host.guest, job.host = None, None

    def take_in(self, host: Job, guest: Job, promise: float, now: float) -> None:
        self.queue.remove(guest)
        guest.begin(now, promise)
        guest.rate = guest.pace = 0.0
        host.guest, guest.host = guest, host
        self.running.append(guest)

    def evict(self, job: Job, now: float) -> None:
        self.stop(job, now)
        job.start = math.nan
        self.lost.append(job.row)
        self.queue.append(job)
