"""Ordering policies over several resources in plain Python: amounts are tuples, processors first.

The expected free amounts are computed again at every instant at which they may change. Of running jobs that are
expected to end at one instant, EASY counts the narrowest first, then the earliest started, until the head
fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from windlass.model import JobTable
from windlass.model.pools import Pools

Amount = tuple[int, ...]


class Job(NamedTuple):
    """A row of a job table with its requests."""

    row: int
    submit: float
    held: float
    request: float
    needs: Amount


class Held(NamedTuple):
    """The amounts that a running job holds, and its expected end."""

    expected_end: float
    needs: Amount


class Moment(NamedTuple):
    """The view of a rule: waiting jobs in queue order, and running jobs in order of start."""

    now: float
    whole: Amount
    free: Amount
    waiting: list[Job]
    running: list[Held]
    ended: bool


Rule = Callable[[Moment], list[Job]]


def plus(one: Amount, two: Amount, times: int = 1) -> Amount:
    """Return the first plus a multiple of the second."""
    return tuple(a + times * b for a, b in zip(one, two, strict=True))


def within(one: Amount, two: Amount) -> bool:
    """Return True if no resource of the first exceeds that of the second."""
    return all(a <= b for a, b in zip(one, two, strict=True))


def jobs_of(jobs: JobTable, pools: Pools, kill: bool) -> list[Job]:
    """The table as a list."""
    return [
        Job(
            row,
            float(jobs.submit[row]),
            float(min(jobs.run[row], jobs.request[row]) if kill else jobs.run[row]),
            float(jobs.request[row]),
            (int(jobs.procs[row]), *pools.needs[:, row].tolist()),
        )
        for row in range(len(jobs))
    ]


def simulate(jobs: JobTable, processors: int, pools: Pools, rule: Rule, *, kill: bool = True) -> list[float]:
    """Start times by row: at each instant, process ends and submissions, then call the rule."""
    whole = (processors, *pools.amount.tolist())
    coming, starts = jobs_of(jobs, pools, kill), [math.nan] * len(jobs)
    waiting: list[Job] = []
    running: list[tuple[float, Held]] = []
    ended = True
    while coming or running:
        now = min([job.submit for job in coming] + [end for end, _ in running])
        ended = ended or any(end == now for end, _ in running)
        running = [each for each in running if each[0] != now]
        waiting += [job for job in coming if job.submit == now]
        coming = [job for job in coming if job.submit != now]
        if not waiting:
            continue
        held = [each for _, each in running]
        free = whole
        for each in held:
            free = plus(free, each.needs, -1)
        for job in rule(Moment(now, whole, free, list(waiting), held, ended)):
            waiting.remove(job)
            starts[job.row] = now
            running.append((now + job.held, Held(now + job.request, job.needs)))
            free = plus(free, job.needs, -1)
            assert min(free) >= 0, f"job {job.row} does not fit at {now}"
        ended = False
    assert not waiting
    return starts


def _heads(queue: list[Job], free: Amount) -> tuple[list[Job], Amount]:
    """Remove the fitting jobs at the front of the queue, and return them."""
    chosen: list[Job] = []
    while queue and within(queue[0].needs, free):
        chosen.append(queue.pop(0))
        free = plus(free, chosen[-1].needs, -1)
    return chosen, free


def fcfs(moment: Moment) -> list[Job]:
    """First come, first served."""
    return _heads(moment.waiting, moment.free)[0]


def sjf(moment: Moment) -> list[Job]:
    """Shortest request first; a job that does not fit blocks the rest."""
    return _heads(sorted(moment.waiting, key=lambda job: job.request), moment.free)[0]


def easy(moment: Moment) -> list[Job]:
    """EASY backfilling: the head's reservation is the first time at which its whole request is free."""
    queue = moment.waiting
    chosen, free = _heads(queue, moment.free)
    if not queue:
        return chosen
    holders = moment.running + [Held(moment.now + job.request, job.needs) for job in chosen]
    shadow, spare = -math.inf, free
    for held in sorted(holders, key=lambda each: (each.expected_end, each.needs[0])):
        shadow, spare = held.expected_end, plus(spare, held.needs)
        if within(queue[0].needs, spare):
            break
    spare = plus(spare, queue[0].needs, -1)
    assert min(spare) >= 0
    for job in queue[1:]:
        over_by_then = moment.now + job.request <= shadow
        if within(job.needs, free) and (over_by_then or within(job.needs, spare)):
            free = plus(free, job.needs, -1)
            spare = spare if over_by_then else plus(spare, job.needs, -1)
            chosen.append(job)
    return chosen


def conservative(*, kill: bool = True) -> Rule:
    """Conservative backfilling; reservations are kept from one moment to the next."""
    reserved: dict[Job, float] = {}

    def rule(moment: Moment) -> list[Job]:
        if moment.ended or not kill:
            while _compress(moment, reserved):
                pass
        for job in moment.waiting:
            if job not in reserved:
                reserved[job] = _earliest(moment, reserved, job)
        chosen = [job for job in moment.waiting if reserved[job] == moment.now]
        for job in chosen:
            del reserved[job]
        return chosen

    return rule


def _compress(moment: Moment, reserved: dict[Job, float]) -> bool:
    before = dict(reserved)
    for job in sorted(reserved, key=lambda job: (reserved[job], job.row)):
        others = {other: start for other, start in reserved.items() if other != job}
        reserved[job] = _earliest(moment, others, job)
    return before != reserved


def _earliest(moment: Moment, reserved: dict[Job, float], job: Job) -> float:
    """Try now and every instant at which resources become free."""
    soon = math.nextafter(moment.now, math.inf)
    taken = [(-math.inf, max(held.expected_end, soon), held.needs) for held in moment.running]
    taken += [
        (start, _end(start, other), other.needs) for other, start in reserved.items() if start >= moment.now
    ]
    for start in sorted({moment.now, *(end for _, end, _ in taken if end > moment.now)}):
        until = _end(start, job)
        instants = [start, *(begin for begin, _, _ in taken if start < begin < until)]
        if all(_fits_at(at, job, taken, moment.whole) for at in instants):
            return start
    raise AssertionError(f"job {job.row} never fits")


def _fits_at(at: float, job: Job, taken: list[tuple[float, float, Amount]], whole: Amount) -> bool:
    held = job.needs
    for begin, end, needs in taken:
        if begin <= at < end:
            held = plus(held, needs)
    return within(held, whole)


def _end(start: float, job: Job) -> float:
    return max(start + job.request, math.nextafter(start, math.inf))


def starts_of(name: str, jobs: JobTable, processors: int, pools: Pools, *, kill: bool = True) -> list[float]:
    """Start times by row under the policy of that name."""
    rules: dict[str, Rule] = {"fcfs": fcfs, "sjf": sjf, "easy": easy, "conservative": conservative(kill=kill)}
    return simulate(jobs, processors, pools, rules[name], kill=kill)
