"""Delay scheduling simulated task by task and slot by slot: the oracle for policy and simulator together.

Map stages without bytes alone, so that links play no part; no line of the package's is used.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field


@dataclass
class Job:
    """A job of one stage: when it comes, tasks by site, how long each takes, s."""

    submit: float
    here: list[int]
    task_s: float
    held: int = 0
    since: float = 0.0
    far: bool = False
    begun: list[tuple[float, int]] = field(default_factory=list)

    def due(self, wait: float, restarts: bool) -> float:
        """From when on its tasks may leave."""
        if self.far:
            return -math.inf
        return (self.since if restarts else self.submit) + wait


def in_proportion(weights: list[int], count: int) -> list[int]:
    """Split a count by weight, largest remainders first, ties by position."""
    exact = [weight * count / max(sum(weights), 1) for weight in weights]
    found = [math.floor(value + 1e-6) for value in exact]
    order = sorted(range(len(weights)), key=lambda at: (found[at] - exact[at], at))
    for at in order[: count - sum(found)]:
        found[at] += 1
    return found


def decide(now: float, free: list[int], waiting: list[Job], wait: float, restarts: bool) -> None:
    """Start tasks: at their input first, then those that have waited, always of the job that holds fewest."""
    local = set()
    for x in range(len(free)):
        while free[x] > 0 and any(job.here[x] for job in waiting):
            job = min((job for job in waiting if job.here[x]), key=lambda job: job.held)
            job.here[x] -= 1
            job.held += 1
            free[x] -= 1
            job.begun.append((now, x))
            local.add(id(job))
    for job in waiting:
        if id(job) in local:
            job.since, job.far = now, False
        elif restarts and now >= job.due(wait, restarts):
            job.far = True
    late = [job for job in waiting if job.far or now >= job.due(wait, restarts)]
    quota = [0] * len(late)
    for _ in range(min(sum(free), sum(sum(job.here) for job in late))):
        open_ones = [at for at, job in enumerate(late) if quota[at] < sum(job.here)]
        at = min(open_ones, key=lambda at: late[at].held + quota[at])
        quota[at] += 1
    for job, count in zip(late, quota, strict=True):
        to, source = in_proportion(free, count), in_proportion(job.here, count)
        for x, tasks in enumerate(to):
            free[x] -= tasks
            job.begun += [(now, x)] * tasks
        job.here = [own - tasks for own, tasks in zip(job.here, source, strict=True)]
        job.held += count
        if count:
            job.since = now


def run(slots: list[int], jobs: list[Job], wait: float, restarts: bool = True) -> list[float]:
    """When each job ends; what it began when and where is left in ``begun``."""
    free, ends, now = list(slots), [], -1.0
    coming = sorted(jobs, key=lambda job: job.submit)
    done = [0.0] * len(jobs)
    while True:
        waiting = [job for job in coming if job.submit <= now and sum(job.here)]
        dues = [job.due(wait, restarts) for job in waiting]
        times = [job.submit for job in coming if job.submit > now] + [due for due in dues if due > now]
        times += [ends[0][0]] if ends else []
        if not times:
            return done
        now = min(times)
        while ends and ends[0][0] <= now:
            _, x, number = heapq.heappop(ends)
            free[x] += 1
            jobs[number].held -= 1
            done[number] = now
        for job in coming:
            if job.submit == now:
                job.since = now
        before = [len(job.begun) for job in jobs]
        decide(now, free, [job for job in coming if job.submit <= now and sum(job.here)], wait, restarts)
        for number, job in enumerate(jobs):
            for _, x in job.begun[before[number] :]:
                heapq.heappush(ends, (now + job.task_s, x, number))
