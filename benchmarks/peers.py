"""Straightforward versions of the policies in plain Python, with heapq, and under SimPy."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import simpy

#: Submission, run time, processors, request.
PlainJob = tuple[float, float, int, float]


@dataclass
class PlainSite:
    """A queue, running jobs by expected end, and idle processors."""

    jobs: list[PlainJob]
    free: int
    queue: list[int] = field(default_factory=list)
    expected: list[tuple[float, int, int]] = field(default_factory=list)
    started: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = [-1.0] * len(self.jobs)

    def begin(self, job: int, now: float) -> None:
        """Give a job its processors."""
        _, _, procs, request = self.jobs[job]
        self.started[job] = now
        self.free -= procs
        insort(self.expected, (now + request, procs, job))

    def finish(self, job: int) -> None:
        """Free the processors of a job."""
        _, _, procs, request = self.jobs[job]
        self.free += procs
        del self.expected[bisect_left(self.expected, (self.started[job] + request, procs, job))]


Decide = Callable[[PlainSite, float], list[int]]


def fcfs(site: PlainSite, now: float) -> list[int]:
    """Start jobs first come, first served."""
    count = 0
    while count < len(site.queue) and site.jobs[site.queue[count]][2] <= site.free:
        site.begin(site.queue[count], now)
        count += 1
    started, site.queue[:count] = site.queue[:count], []
    return started


def easy(site: PlainSite, now: float) -> list[int]:
    """Start jobs by EASY backfilling."""
    started = fcfs(site, now)
    if not site.queue or not site.free:
        return started
    needed, idle = site.jobs[site.queue[0]][2], site.free
    shadow = now
    for end, procs, _ in site.expected:
        idle += procs
        shadow = end
        if idle >= needed:
            break
    extra = idle - needed
    left = [site.queue[0]]
    for job in site.queue[1:]:
        _, _, procs, request = site.jobs[job]
        ends_before = now + request <= shadow
        if procs <= site.free and (ends_before or procs <= extra):
            if not ends_before:
                extra -= procs
            site.begin(job, now)
            started.append(job)
        else:
            left.append(job)
    site.queue = left
    return started


def replay_plain(jobs: list[PlainJob], processors: int, decide: Decide) -> list[float]:
    """Replay with a loop over submissions and a heap of ends; return the start of each job, s."""
    site = PlainSite(jobs, processors)
    ends: list[tuple[float, int, int]] = []
    coming = 0
    sequence = 0
    while coming < len(jobs) or ends:
        now = min(
            jobs[coming][0] if coming < len(jobs) else float("inf"), ends[0][0] if ends else float("inf")
        )
        while ends and ends[0][0] == now:
            site.finish(heapq.heappop(ends)[2])
        while coming < len(jobs) and jobs[coming][0] == now:
            site.queue.append(coming)
            coming += 1
        for job in decide(site, now):
            heapq.heappush(ends, (now + jobs[job][1], sequence, job))
            sequence += 1
    return site.started


def replay_simpy(jobs: list[PlainJob], processors: int, decide: Decide) -> list[float]:
    """Replay under SimPy, with a process that submits, one per running job, and a decision after each instant."""
    environment = simpy.Environment()
    site = PlainSite(jobs, processors)
    requested_at = [-1.0]

    def submit() -> Iterator[simpy.Event]:
        for job, (at, *_) in enumerate(jobs):
            if at > environment.now:
                yield environment.timeout(at - environment.now)
            site.queue.append(job)
            request_decision()

    def hold(job: int) -> Iterator[simpy.Event]:
        yield environment.timeout(jobs[job][1])
        site.finish(job)
        request_decision()

    def request_decision() -> None:
        # Once per instant, after all its events: a timeout of zero goes to the end of the instant.
        if requested_at[0] != environment.now:
            requested_at[0] = environment.now
            environment.process(decide_once())

    def decide_once() -> Iterator[simpy.Event]:
        yield environment.timeout(0)
        requested_at[0] = -1.0
        for job in decide(site, environment.now):
            environment.process(hold(job))

    environment.process(submit())
    environment.run()
    return site.started
