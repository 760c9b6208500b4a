"""Check that a schedule is possible on given nodes with outages, independently of the simulator's ledger.

At one instant, in this order: jobs end; capacity changes, and jobs are killed; jobs start. Rows of the timetable
that name the same node at the same instant count as the last of them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from windlass.model.timetable import NodeTimetable
from windlass.sim import Replay


class Attempt(NamedTuple):
    """One run of a job, completed or killed; ``pieces``: cores by node."""

    row: int
    start: float
    end: float
    lost: bool
    pieces: dict[int, int]

    def __str__(self) -> str:
        return f"job of row {self.row} from {self.start:g} to {self.end:g} s"


class Change(NamedTuple):
    """The capacity of a node from an instant on."""

    node: int
    cores: int
    kill: bool


class Sweep:
    """Nodes over time; ``found``: violations, ``steps``: (time, node, cores held, capacity) after changes."""

    def __init__(self, cores: Sequence[int]) -> None:
        self.capacity = list(cores)
        self.held = [0] * len(cores)
        self.running: list[Attempt] = []
        self.found: list[str] = []
        self.steps: list[tuple[float, int, int, int]] = []

    def add(self, attempt: Attempt, sign: int) -> None:
        for node, cores in attempt.pieces.items():
            self.held[node] += sign * cores
        if sign > 0:
            self.running.append(attempt)
        else:
            self.running.remove(attempt)

    def over(self, node: int) -> bool:
        return self.held[node] > self.capacity[node]


def attempts_of(replay: Replay) -> list[Attempt]:
    """The attempts with their cores: first the killed attempts, in the order in which they were killed."""
    pieces: dict[tuple[int, float], dict[int, int]] = defaultdict(dict)
    for row, node, cores, start in replay.held.tolist():
        mine = pieces[int(row), start]
        mine[int(node)] = mine.get(int(node), 0) + int(cores)
    lost = zip(replay.lost.tolist(), replay.lost_start.tolist(), replay.lost_end.tolist(), strict=True)
    attempts = [Attempt(row, start, end, True, pieces[row, start]) for row, start, end in lost]
    ended = enumerate(zip(replay.start.tolist(), replay.end.tolist(), strict=True))
    return attempts + [
        Attempt(row, start, end, False, pieces[row, start]) for row, (start, end) in ended if end == end
    ]


def changes_of(timetable: NodeTimetable) -> dict[float, dict[int, Change]]:
    """Return the changes by instant and node."""
    found: dict[float, dict[int, Change]] = defaultdict(dict)
    columns = (timetable.time, timetable.node, timetable.cores, timetable.kill)
    for time, node, cores, kill in zip(*(column.tolist() for column in columns), strict=True):
        found[time][node] = Change(node, cores, kill)
    return found


def violations(
    replay: Replay, cores: Sequence[int], timetable: NodeTimetable, *, kill: bool = True
) -> list[str]:
    """Return the violations on nodes of the given cores, one sentence each; an empty list for a valid schedule.

    Parameters
    ----------
    replay
        With ``held`` recorded.
    cores
        Initial cores of each node.
    timetable
        Changes of the nodes over time.
    kill
        Whether jobs were stopped at their requests.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.model import JobTable
    >>> ran = Replay(JobTable.of([0], [5], [3]), 4, np.array([0.0]), np.array([5.0]), np.array([0]), ("",),
    ...     held=np.array([[0, 0, 2, 0.0], [0, 1, 1, 0.0]]))
    >>> violations(ran, [2, 2], NodeTimetable.none())
    []
    >>> violations(ran, [1, 3], NodeTimetable.none())
    ['at 0 s, 2 of 1 cores of node 0 are held']
    """
    attempts = attempts_of(replay)
    return [
        *_lines(replay, attempts),
        *_times(replay, attempts, kill),
        *swept(attempts, cores, timetable).found,
    ]


def idle_while_waiting(
    replay: Replay, cores: Sequence[int], timetable: NodeTimetable, *, shortest: bool = False
) -> list[str]:
    """Return the instants at which the head of the queue, or the job with the shortest request, waits although it fits.

    A killed job is at the end of the queue, before jobs that are submitted at that instant.
    """
    attempts, procs = attempts_of(replay), replay.jobs.procs.tolist()
    steps = defaultdict(list)
    for now, node, held, capacity in swept(attempts, cores, timetable).steps:
        steps[now].append((node, max(capacity - held, 0)))
    came = [(time, 1, row, row) for row, time in enumerate(replay.jobs.submit.tolist())]
    came += [(each.end, 0, place, each.row) for place, each in enumerate(attempts) if each.lost]
    left = {(each.row, each.start) for each in attempts}
    free, waiting, found = list(cores), list[tuple[float, int, int, int]](), []
    for now in sorted({*steps, *(time for time, *_ in came), *(time for _, time in left)}):
        waiting += sorted(each for each in came if each[0] == now)
        for row in (row for row, time in left if time == now):
            waiting.remove(next(each for each in waiting if each[3] == row))
        for node, idle in steps[now]:
            free[node] = idle
        first = (
            min(waiting, key=lambda each: replay.jobs.request[each[3]], default=None) if shortest else None
        )
        for each in waiting[:1] if first is None else [first]:
            if procs[each[3]] <= sum(free):
                found.append(
                    f"at {now:g} s, the job of row {each[3]} waits although {sum(free)} cores are idle"
                )
    return found


def swept(attempts: list[Attempt], cores: Sequence[int], timetable: NodeTimetable) -> Sweep:
    """Process all instants."""
    sweep, changes = Sweep(cores), changes_of(timetable)
    instants = {time for each in attempts for time in (each.start, each.end)} | set(changes)
    starting, ending = defaultdict(list), defaultdict(list)
    for attempt in attempts:
        starting[attempt.start].append(attempt)
        ending[attempt.end].append(attempt)
    for now in sorted(instants):
        before = list(zip(sweep.held, sweep.capacity, strict=True))
        for attempt in ending[now]:
            if not attempt.lost and attempt.start < now:
                sweep.add(attempt, -1)
        for change in changes[now].values():
            sweep.capacity[change.node] = change.cores
        emptied = {change.node for change in changes[now].values() if change.kill}
        _kill(sweep, [each for each in ending[now] if each.lost], emptied, now)
        _start(sweep, starting[now], now)
        for node, state in enumerate(zip(sweep.held, sweep.capacity, strict=True)):
            if state != before[node]:
                sweep.steps.append((now, node, *state))
    return sweep


def _kill(sweep: Sweep, victims: list[Attempt], emptied: set[int], now: float) -> None:
    """Each killed attempt, in turn, must be the last to start on a node that is still over its capacity."""
    for victim in victims:
        nodes = [node for node in victim.pieces if node in emptied and sweep.over(node)]
        if not nodes:
            sweep.found.append(f"{victim} was killed where nothing was to be given up")
        elif not any(_is_last(victim, node, sweep.running) for node in nodes):
            sweep.found.append(f"{victim} was killed although others came later")
        if victim in sweep.running:
            sweep.add(victim, -1)
        else:
            sweep.found.append(f"{victim} was killed and did not run")
    sweep.found += [
        f"at {now:g} s, node {node} was to be vacated, {sweep.held[node]} cores are held"
        for node in sorted(emptied)
        if sweep.over(node)
    ]


def _is_last(victim: Attempt, node: int, running: list[Attempt]) -> bool:
    return all(victim.start >= other.start for other in running if node in other.pieces)


def _start(sweep: Sweep, starting: list[Attempt], now: float) -> None:
    """A job that starts needs free capacity then; a job of zero length needs it for that instant only."""
    for attempt in starting:
        if attempt.end == now:
            _check(sweep, attempt, now, more=attempt.pieces)
    for attempt in starting:
        if attempt.end > now:
            sweep.add(attempt, 1)
    for attempt in starting:
        if attempt.end > now:
            _check(sweep, attempt, now, more={})


def _check(sweep: Sweep, attempt: Attempt, now: float, more: dict[int, int]) -> None:
    for node in sorted(attempt.pieces):
        held, cores = sweep.held[node] + more.get(node, 0), sweep.capacity[node]
        sentence = f"at {now:g} s, {held} of {cores} cores of node {node} are held"
        if held > cores and sentence not in sweep.found:
            sweep.found.append(sentence)


def _lines(replay: Replay, attempts: list[Attempt]) -> list[str]:
    """The pieces of every attempt sum to its processors, and every piece belongs to an attempt."""
    found = []
    procs = replay.jobs.procs.tolist()
    for attempt in attempts:
        if sum(attempt.pieces.values()) != procs[attempt.row]:
            found.append(f"{attempt} needs {procs[attempt.row]} cores, has {attempt.pieces}")
    known = {(attempt.row, attempt.start) for attempt in attempts}
    lines = [(int(row), start, int(node)) for row, node, _, start in replay.held.tolist()]
    found += [
        f"cores of row {row} at {start:g} s are nobody's"
        for row, start, _ in lines
        if (row, start) not in known
    ]
    if len(set(lines)) != len(lines):
        found.append("two lines of one attempt name the same node")
    if (replay.held[:, 2] < 1).any():
        found.append("a line of no cores")
    return found


def _times(replay: Replay, attempts: list[Attempt], kill: bool) -> list[str]:
    """Each job completes once, after its submission; killed attempts had started and not yet ended."""
    jobs, found = replay.jobs, []
    free_from = jobs.submit.tolist()
    ends = [0] * len(jobs)
    for attempt in sorted(attempts, key=lambda each: (each.start, each.end)):
        row, start, end, lost, _ = attempt
        run = float(min(jobs.run[row], jobs.request[row]) if kill else jobs.run[row])
        if not (math.isfinite(start) and math.isfinite(end)):
            found.append(f"{attempt} has no times")
        if start < free_from[row] or ends[row]:
            found.append(f"{attempt} starts before {free_from[row]:g} s, or once more")
        if lost and not start < end < start + run:
            found.append(f"{attempt} was killed at its start, or would have ended by {start + run:g} s")
        if not lost and end != start + run:
            found.append(f"{attempt} ends, expected {start + run:g} s")
        free_from[row] = end
        ends[row] += not lost
    return found + [f"job of row {row} ends {count} times" for row, count in enumerate(ends) if count != 1]
