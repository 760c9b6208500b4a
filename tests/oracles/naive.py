"""The ordering policies in plain Python, from their definitions.

Conventions where the definitions leave room, as the docstrings of the policies state them:

- EASY: running jobs are counted by (expected end, processors), up to the first that makes room for the head.
- Conservative: when a job ended, each reservation in its order is removed, made as early as possible
  and added again; this is repeated at every decision if jobs may exceed their requests and invalidate reservations. A
  reservation of zero length still occupies its instant. Running jobs past their expected end are expected to end
  just after now.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

from tests.oracles.engine import Held, Job, Moment, Rule, rows, simulate
from windlass.model import JobTable


def fcfs(jobs: JobTable, processors: int, *, kill: bool = True) -> list[float]:
    """First come, first served. Needs no event loop: each job starts once the jobs ahead leave enough processors.

    >>> fcfs(JobTable.of(submit=[0, 0, 1], run=[10, 10, 10], procs=[2, 2, 1]), 3)
    [0.0, 10.0, 10.0]
    """
    ends: list[tuple[float, int]] = []
    free, now, starts = processors, -math.inf, []
    for job in rows(jobs):
        now = max(now, job.submit)
        while ends and (ends[0][0] <= now or free < job.procs):
            end, procs = heapq.heappop(ends)
            now, free = max(now, end), free + procs
        free -= job.procs
        starts.append(now)
        heapq.heappush(ends, (now + (min(job.run, job.request) if kill else job.run), job.procs))
    return starts


def sjf(jobs: JobTable, processors: int, *, kill: bool = True) -> list[float]:
    """Shortest request first, ties by submission; a job that does not fit blocks the rest.

    >>> sjf(JobTable.of(submit=[0, 0, 0], run=[9, 6, 3], procs=[1, 1, 1]), 1)
    [9.0, 3.0, 0.0]
    """

    def rule(moment: Moment) -> list[Job]:
        free, chosen = moment.free, []
        for job in sorted(moment.waiting, key=lambda job: (job.request, job.row)):
            if job.procs > free:
                break
            free -= job.procs
            chosen.append(job)
        return chosen

    return simulate(jobs, processors, rule, kill=kill)


def easy(jobs: JobTable, processors: int, *, kill: bool = True) -> list[float]:
    """EASY backfilling.

    >>> easy(JobTable.of(submit=[0, 1, 2, 3], run=[9, 9, 7, 7], procs=[2, 4, 2, 2]), 4)
    [0.0, 9.0, 2.0, 18.0]
    """
    return simulate(jobs, processors, _easy, kill=kill)


def _easy(moment: Moment) -> list[Job]:
    free, queue, chosen = moment.free, list(moment.waiting), []
    while queue and queue[0].procs <= free:
        chosen.append(queue.pop(0))
        free -= chosen[-1].procs
    if not queue:
        return chosen
    holders = [(held.expected_end, held.procs) for held in moment.running]
    holders += [(moment.now + job.request, job.procs) for job in chosen]
    shadow, spare = _head_can_start(queue[0].procs, free, holders)
    for job in queue[1:]:
        over_by_then = moment.now + job.request <= shadow
        if job.procs <= free and (over_by_then or job.procs <= spare):
            free -= job.procs
            spare -= 0 if over_by_then else job.procs
            chosen.append(job)
    return chosen


def _head_can_start(procs: int, free: int, holders: list[tuple[float, int]]) -> tuple[float, int]:
    for end, freed in sorted(holders):
        free += freed
        if free >= procs:
            return end, free - procs
    raise AssertionError("the head is wider than the site")


class Interval(NamedTuple):
    """Processors that are in use or reserved on [start, end)."""

    start: float
    end: float
    procs: int


class Promises(NamedTuple):
    """The result of conservative backfilling: start times, and the reservations made at submission, by row."""

    starts: list[float]
    first: list[float]


def conservative(jobs: JobTable, processors: int, *, kill: bool = True) -> Promises:
    """Conservative backfilling.

    >>> conservative(JobTable.of(submit=[0, 1, 2], run=[2, 9, 9], procs=[2, 4, 2], request=[9, 9, 9]), 4)
    Promises(starts=[0.0, 2.0, 11.0], first=[0.0, 9.0, 11.0])
    """
    reserved: dict[Job, float] = {}
    first = [math.nan] * len(jobs)

    def rule(moment: Moment) -> list[Job]:
        if moment.ended or not kill:
            while _compress(moment, reserved):
                pass
        for job in moment.waiting:
            if job not in reserved:
                reserved[job] = first[job.row] = _earliest(moment, reserved, job)
        chosen = [job for job in moment.waiting if reserved[job] == moment.now]
        for job in chosen:
            del reserved[job]
        return chosen

    return Promises(simulate(jobs, processors, rule, kill=kill), first)


def _compress(moment: Moment, reserved: dict[Job, float]) -> bool:
    before = dict(reserved)
    for job in sorted(reserved, key=lambda job: (reserved[job], job.row)):
        others = {other: start for other, start in reserved.items() if other != job}
        reserved[job] = _earliest(moment, others, job)
    return before != reserved


def _earliest(moment: Moment, reserved: dict[Job, float], job: Job) -> float:
    """Try now and every instant at which processors become free, one by one."""
    taken = [_running(moment.now, held) for held in moment.running]
    taken += [
        Interval(start, _end(start, other), other.procs)
        for other, start in reserved.items()
        if start >= moment.now
    ]
    for start in sorted({moment.now, *(each.end for each in taken if each.end > moment.now)}):
        if _fits(start, job, taken, moment.processors):
            return start
    raise AssertionError(f"job {job.number} never fits")


def _running(now: float, held: Held) -> Interval:
    return Interval(-math.inf, max(held.expected_end, math.nextafter(now, math.inf)), held.procs)


def _end(start: float, job: Job) -> float:
    return max(start + job.request, math.nextafter(start, math.inf))


def _fits(start: float, job: Job, taken: list[Interval], processors: int) -> bool:
    until = _end(start, job)
    instants = [start, *(each.start for each in taken if start < each.start < until)]
    return all(
        job.procs + sum(each.procs for each in taken if each.start <= at < each.end) <= processors
        for at in instants
    )


#: Start times by row, for each policy by its name.
ORACLES = {
    "fcfs": fcfs,
    "sjf": sjf,
    "easy": easy,
    "conservative": lambda jobs, processors, *, kill=True: conservative(jobs, processors, kill=kill).starts,
}

__all__ = ["ORACLES", "Promises", "Rule", "conservative", "easy", "fcfs", "sjf"]
