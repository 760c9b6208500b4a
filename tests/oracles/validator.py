"""Check that a finished schedule is possible, independently of policies and the simulator."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from windlass.model import JobTable
from windlass.model.pools import Pools
from windlass.sim import Replay


class Ran(NamedTuple):
    """One line of a finished schedule: a job held its processors on [start, end)."""

    job: int
    start: float
    end: float


def violations(
    jobs: JobTable,
    processors: int,
    schedule: Iterable[Ran],
    *,
    kill: bool = True,
    pools: Pools | None = None,
) -> list[str]:
    """Return the violations of a schedule, one sentence each; an empty list for a valid schedule.

    Every job starts exactly once, not before its submission, and holds its processors for its run time, or
    for its requested time if that is shorter and ``kill`` is set. At no instant are more processors held than
    there are; processors freed at an instant are available to starts at that instant. The same holds for each pool.

    >>> jobs = JobTable.of(submit=[0, 0], run=[5, 5], procs=[2, 2])
    >>> violations(jobs, 4, [Ran(1, 0.0, 5.0), Ran(2, 0.0, 5.0)])
    []
    >>> violations(jobs, 3, [Ran(1, 0.0, 5.0), Ran(2, 4.0, 9.0)])
    ['at 4 s, 4 of 3 processors are held']
    """
    ran = list(schedule)
    started = [line for line in ran if math.isfinite(line.start)]
    found = [*_starts(jobs, ran), *_times(jobs, started, kill)]
    resources = [(jobs.procs.tolist(), processors, "processors")]
    if pools is not None:
        resources += zip(pools.needs.tolist(), pools.amount.tolist(), pools.names, strict=True)
    for needs, amount, name in resources:
        found += _capacity(jobs, needs, amount, name, started)
        found += _instantaneous(jobs, needs, amount, name, started)
    return found


def violations_of(replay: Replay, *, kill: bool = True, pools: Pools | None = None) -> list[str]:
    """Return the violations of a result of the simulator."""
    lines = zip(replay.jobs.job.tolist(), replay.start.tolist(), replay.end.tolist(), strict=True)
    ran = [Ran(*line) for line in lines]
    return violations(replay.jobs, replay.processors, ran, kill=kill, pools=pools)


def _row_of(jobs: JobTable) -> dict[int, int]:
    return {job: row for row, job in enumerate(jobs.job.tolist())}


def _starts(jobs: JobTable, ran: list[Ran]) -> list[str]:
    times = {job: 0 for job in jobs.job.tolist()}
    found = []
    for line in ran:
        if line.job not in times:
            found.append(f"job {line.job} is in the schedule and not in the table")
        else:
            times[line.job] += math.isfinite(line.start)
    return found + [f"job {job} starts {count} times" for job, count in times.items() if count != 1]


def _times(jobs: JobTable, ran: list[Ran], kill: bool) -> list[str]:
    row_of = _row_of(jobs)
    found = []
    for job, start, end in ran:
        if job not in row_of:
            continue
        row = row_of[job]
        submit, run, request = float(jobs.submit[row]), float(jobs.run[row]), float(jobs.request[row])
        if start < submit:
            found.append(f"job {job} starts at {start:g} s, submitted at {submit:g} s")
        wanted = start + (min(run, request) if kill else run)
        if end != wanted:
            found.append(f"job {job} ends at {end:g} s, expected {wanted:g} s")
    return found


def _capacity(jobs: JobTable, needs: list[int], amount: int, name: str, ran: list[Ran]) -> list[str]:
    """Check all starts and ends in order of time; at equal times, ends first."""
    row_of = _row_of(jobs)
    changes = []
    for job, start, end in ran:
        if job in row_of and end > start:
            width = needs[row_of[job]]
            changes += [(start, 1, width), (end, 0, -width)]
    held, most, found = 0, {}, []
    for at, _, width in sorted(changes):
        held += width
        most[at] = held
    for at, width in most.items():
        if width > amount:
            found.append(f"at {at:g} s, {width} of {amount} {name} are held")
    return found


def _instantaneous(jobs: JobTable, needs: list[int], amount: int, name: str, ran: list[Ran]) -> list[str]:
    """A job of zero length must fit together with jobs that hold resources before and after its instant."""
    row_of = _row_of(jobs)
    found = []
    for job, start, end in ran:
        if job not in row_of or end != start:
            continue
        held = sum(needs[row_of[other.job]] for other in ran if other.start < start < other.end)
        width = needs[row_of[job]]
        if held + width > amount:
            found.append(f"job {job} of no length needs {width} {name} at {start:g} s, {held} are held")
    return found
