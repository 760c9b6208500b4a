"""Check on a finished run, without any policy, that heads of the queue started by their promised times.

The first job in the queue is promised the instant at which enough processors are free if each holder keeps them
for as long as they may: a job for its walltime, and a guest until its promise, which is the walltime of its host and
then what its quota leaves of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.oracles.shares import Attempt, Pair, Run, spent

#: Tolerance for rounding (s).
_TOLERANCE = 1e-5


class Promise(NamedTuple):
    """A job that became head of the queue: when, its promised start, and its actual start."""

    job: int
    since: float
    by: float
    start: float


def broken(run: Run, processors: int) -> list[str]:
    """Return the broken promises, one sentence each."""
    return [
        f"job {each.job} is head at {each.since} s, can start by {each.by} s, and does at {each.start} s"
        for each in promises(run, processors)
        if each.start > each.by + _TOLERANCE
    ]


def promises(run: Run, processors: int) -> list[Promise]:
    """Return a promise for each time that a job became head of the queue."""
    queue = _queue(run)
    instants = sorted({time for attempt, since, _ in queue for time in (since, attempt.start, attempt.end)})
    found, known = [], set()
    for now in instants:
        waiting = [entry for entry in queue if entry[1] <= now < entry[0].start]
        if not waiting:
            continue
        head, since, number = min(waiting, key=lambda entry: entry[1:])
        if id(head) in known:
            continue
        known.add(id(head))
        # If the previous head was just admitted as a guest, this job became the head after guests were admitted.
        passed = any(
            attempt.home is not None and attempt.start == now and (before, place) < (since, number)
            for attempt, before, place in queue
        )
        by = _reservation(
            run, head, now, processors, counts=lambda pair, p=passed, t=now: p or pair.start < t
        )
        found.append(Promise(int(run.jobs.job[head.row]), now, by, head.start))
    return found


def _queue(run: Run) -> list[tuple[Attempt, float, tuple[int, int]]]:
    """Each attempt with the time at which it was queued, and a number that orders attempts of one instant."""
    found = []
    for row in range(len(run.jobs)):
        own_attempts = sorted((each for each in run.attempts if each.row == row), key=lambda each: each.start)
        since, number = float(run.jobs.submit[row]), (0, row)
        for attempt in own_attempts:
            found.append((attempt, since, number))
            # Lost attempts are listed in the order in which they were lost.
            since, number = attempt.end, (1, run.attempts.index(attempt))
    return found


def _reservation(run: Run, head: Attempt, now: float, processors: int, counts) -> float:  # type: ignore[no-untyped-def]
    holders = []
    for attempt in run.attempts:
        if not attempt.start <= now < attempt.end:
            continue
        width = int(run.jobs.procs[attempt.row])
        if attempt.home is not None and not counts(attempt.home):
            continue
        for pair in attempt.pairs:
            if pair.host is attempt and pair.start <= now < pair.end and counts(pair):
                width -= int(run.jobs.procs[pair.guest.row])
        holders.append((expected_end(run, attempt, now), width))
    free = processors - sum(width for _, width in holders)
    at = now
    for end, width in sorted(holders):
        if free >= run.jobs.procs[head.row]:
            break
        at, free = max(now, end), free + width
    return at


def expected_end(run: Run, attempt: Attempt, now: float) -> float:
    """Return the expected end of a running job, as known at an instant."""
    request, home = float(run.jobs.request[attempt.row]), attempt.home
    if home is None:
        return attempt.start + request
    promise = promised(run, home)
    if home.end > now or home.end == attempt.end:
        return promise
    return min(promise, home.end + max(0.0, request - spent(attempt, home.end)))


def promised(run: Run, pair: Pair) -> float:
    """Return the end that was promised for a guest when it was admitted."""
    end, quota = expected_end(run, pair.host, pair.start), pair.lines[0].quota / 100.0
    return end + max(0.0, float(run.jobs.request[pair.guest.row]) - quota * (end - pair.start))
