"""A plain Python event loop that runs any rule for choosing jobs.

At each instant, ends and submissions are processed first; then, if a job waits,
the rule is called once. A job of zero length ends at the instant of its start, which is visited again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from windlass.model import JobTable


class Job(NamedTuple):
    """A row of a job table as plain numbers."""

    row: int
    number: int
    submit: float
    run: float
    procs: int
    request: float


class Held(NamedTuple):
    """A running job: when it is expected to end, and how many processors that frees."""

    expected_end: float
    procs: int
    row: int


@dataclass(frozen=True, slots=True)
class Moment:
    """The view of a rule; ``ended`` is True if a job ended since the last call of the rule."""

    now: float
    processors: int
    free: int
    waiting: tuple[Job, ...]
    running: tuple[Held, ...]
    refused: int
    ended: bool


Rule = Callable[[Moment], list[Job]]


def rows(jobs: JobTable) -> list[Job]:
    """The table as a list.

    >>> rows(JobTable.of(submit=[1], run=[2], procs=[3]))
    [Job(row=0, number=1, submit=1.0, run=2.0, procs=3, request=2.0)]
    """
    columns = (jobs.job, jobs.submit, jobs.run, jobs.procs, jobs.request)
    return [Job(row, *values) for row, values in enumerate(zip(*(c.tolist() for c in columns), strict=True))]


def simulate(jobs: JobTable, processors: int, rule: Rule, *, kill: bool = True) -> list[float]:
    """Start times by row.

    >>> simulate(JobTable.of(submit=[0, 0], run=[5, 5], procs=[1, 1]), 1, lambda moment:
    ...     [job for job in moment.waiting if job.procs <= moment.free][:1])
    [0.0, 5.0]
    """
    coming = rows(jobs)[::-1]
    starts = [float("nan")] * len(coming)
    waiting: list[Job] = []
    running: list[Held] = []
    ends: list[tuple[float, int, Held]] = []
    free, refused, pushed, ended = processors, 0, 0, True
    while coming or ends:
        now = min([job.submit for job in coming[-1:]] + [end for end, _, _ in ends[:1]])
        while ends and ends[0][0] == now:
            held = heapq.heappop(ends)[2]
            running.remove(held)
            free += held.procs
            refused, ended = 0, True
        while coming and coming[-1].submit == now:
            waiting.append(coming.pop())
        if not waiting:
            continue
        seen = Moment(now, processors, free, tuple(waiting), tuple(running), refused, ended)
        for job in rule(seen):
            assert job.procs <= free, f"job {job.number} does not fit at {now}"
            waiting.remove(job)
            starts[job.row] = now
            free -= job.procs
            held = Held(now + job.request, job.procs, job.row)
            running.append(held)
            heapq.heappush(ends, (now + (min(job.run, job.request) if kill else job.run), pushed, held))
            pushed += 1
        refused, ended = len(waiting), False
    assert not waiting, f"{len(waiting)} jobs wait for ever"
    return starts
