"""Check the log of one coupled cluster, row by row, in plain Python and independently of the simulator.

The log is the results of all parts, and snapshots of the ledger taken at each change. A snapshot at an instant is the
state until the next one. At one instant, ends of work come first, then changes of capacity, then starts; the last
snapshot of an instant is the state after all of them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from tests.oracles.answers import AnswerLog
from windlass.model import JobTable
from windlass.model.timetable import NodeTimetable

#: Tolerance for the rounding of sums of times (s) and of cores.
CLOSE = 1e-6


class Snapshot(NamedTuple):
    """The ledger at an instant: by row, its capacity and its idle cores, and by part the cores held."""

    time: float
    capacity: tuple[int, ...]
    idle: tuple[int, ...]
    held: tuple[tuple[int, ...], ...]

    def over(self, row: int) -> int:
        """Return the cores of a row that are held beyond its capacity."""
        return max(0, sum(self.held[row]) - self.capacity[row])

    def of(self, part: int, rows: range) -> int:
        """Return the cores that a part holds of some rows."""
        return sum(self.held[row][part] for row in rows)


@dataclass(frozen=True)
class BatchLog:
    """Jobs of one part: the result, and for sharing jobs their pairs, stages and speeds of pairs.

    ``bound``: processors that jobs can count on at any time, if their promises are to be checked. ``memory_per_core``:
    memory that a host has for each of its processors, bytes.
    """

    part: int
    jobs: JobTable
    replay: Any
    shared: Any = None
    use: Any = None
    physics: Callable[..., Any] | None = None
    bound: int | None = None
    memory_per_core: float = 0.0


@dataclass(frozen=True)
class TaskLog:
    """Short tasks on a worker on each row of the first site; ``part``: its number if it keeps cores."""

    done: Any
    submit: list[float]
    work: list[float]
    speeds: list[float]
    floor: float
    keep: float = 0.0
    part: int | None = None
    answers: AnswerLog | None = None


@dataclass(frozen=True)
class StagedLog:
    """Staged jobs: the number of their part, the result, and the rows of each site of the fleet."""

    part: int
    run: Any
    rows: tuple[range, ...]


@dataclass(frozen=True)
class InstanceLog:
    """Instances on the rows of the first site from ``after`` on, their jobs, and the time from poll to poll (s).

    ``ends``: ends of the staged jobs and of the queries that the instances serve, s.
    """

    part: int
    done: Any
    after: int
    idle: float
    look: float
    ends: tuple[float, ...] = ()


@dataclass(frozen=True)
class StreamLog:
    """Queries: the site of each cluster, and the cores that are kept there."""

    part: int
    done: Any
    at: tuple[int, ...]
    keep: tuple[int, ...]


@dataclass(frozen=True)
class ClusterLog:
    """The input and the results of a run.

    ``sites``: rows of each site. ``whole``: cores of each row. ``limits``: by site and part. ``neighbours``: numbers of
    parts that may hold cores at the end. ``left``: names of parts whose work has not ended.
    """

    sites: tuple[range, ...]
    whole: tuple[int, ...]
    snapshots: tuple[Snapshot, ...]
    outages: NodeTimetable = field(default_factory=NodeTimetable.none)
    limits: Mapping[tuple[int, int], int] = field(default_factory=dict)
    batch: tuple[BatchLog, ...] = ()
    tasks: TaskLog | None = None
    instances: InstanceLog | None = None
    streams: StreamLog | None = None
    staged: StagedLog | None = None
    neighbours: tuple[int, ...] = ()
    left: tuple[str, ...] = ()

    def last_of_instants(self) -> list[Snapshot]:
        """Return the last snapshot of each instant, in order of time."""
        return list({each.time: each for each in self.snapshots}.values())


class Course:
    """The state of the ledger at any time."""

    def __init__(self, log: ClusterLog) -> None:
        self.states = log.last_of_instants()
        self.times = [each.time for each in self.states]

    def at(self, time: float) -> Snapshot:
        """Return the state from an instant on."""
        return self.states[max(0, bisect_right(self.times, time) - 1)]

    def between(self, begin: float, end: float) -> Iterator[tuple[float, float, Snapshot]]:
        """Return the intervals of constant state from one time to another."""
        first = max(0, bisect_right(self.times, begin) - 1)
        for place in range(first, len(self.times)):
            since = max(begin, self.times[place])
            until = min(end, self.times[place + 1]) if place + 1 < len(self.times) else end
            if since < until:
                yield since, until, self.states[place]
            if until >= end:
                return


def row_violations(log: ClusterLog) -> list[str]:
    """Return the violations that the rows of the ledger show, one sentence each."""
    if any(first.time > second.time for first, second in pairwise(log.snapshots)):
        return ["snapshots are not in the order of time"]
    return [
        *_sums(log),
        *_capacity(log),
        *_owed(log),
        *_vacated(log),
        *_limits(log),
        *_kept_for_streams(log),
        *_kept_for_tasks(log),
        *_at_the_end(log),
    ]


def _sums(log: ClusterLog) -> list[str]:
    """Idle cores are the capacity less the held cores; nothing held is negative."""
    found = []
    for now, capacity, idle, held in log.snapshots:
        for row, parts in enumerate(held):
            if min(parts, default=0) < 0 or not 0 <= capacity[row] <= log.whole[row]:
                found.append(f"at {now:g} s, row {row} of {capacity[row]} cores is held by {parts}")
            if idle[row] != capacity[row] - sum(parts):
                found.append(
                    f"at {now:g} s, {idle[row]} cores of row {row} are idle, not {capacity[row]} - {parts}"
                )
    return found


def _capacity(log: ClusterLog) -> list[str]:
    """Nodes have the cores of the timetable, or all; instances are up as their launches report."""
    found = []
    until = log.sites[0].stop if log.instances is None else log.sites[0].start + log.instances.after
    static = [row for row in range(len(log.whole)) if not until <= row < log.sites[0].stop]
    for each in log.snapshots:
        for row in static:
            change = _last_change(log, row, each.time)
            expected = log.whole[row] if change is None else int(log.outages.cores[change])
            if each.capacity[row] != expected:
                found.append(
                    f"at {each.time:g} s, row {row} has {each.capacity[row]} cores, expected {expected}"
                )
    if log.instances is not None:
        rows = range(until, log.sites[0].stop)
        launches = log.instances.done.launches
        for each in log.last_of_instants():
            up = int(((launches.ready <= each.time) & ~(launches.gone <= each.time)).sum())
            there = sum(each.capacity[row] > 0 for row in rows)
            if up != there or any(each.capacity[row] not in (0, log.whole[row]) for row in rows):
                found.append(f"at {each.time:g} s, {there} instances have cores, {up} are up")
    return found


def _last_change(log: ClusterLog, row: int, now: float) -> int | None:
    """Return the last entry of the timetable for a row until an instant."""
    if row not in log.sites[0]:
        return None
    node = row - log.sites[0].start
    found = [
        at
        for at, time in enumerate(log.outages.time.tolist())
        if time <= now and log.outages.node[at] == node
    ]
    return found[-1] if found else None


def _owed(log: ClusterLog) -> list[str]:
    """While more cores are held than a row has, no part takes another one there."""
    return [
        f"at {second.time:g} s, part {part} takes cores of row {row}, which has {second.over(row)} too few"
        for first, second in pairwise(log.snapshots)
        for row in range(len(log.whole))
        if second.over(row) > 0
        for part, cores in enumerate(second.held[row])
        if cores > first.held[row][part]
    ]


def _vacated(log: ClusterLog) -> list[str]:
    """After a drop with kill, no more cores are held than there are."""
    found = []
    for each in log.last_of_instants():
        for row in log.sites[0]:
            change = _last_change(log, row, each.time)
            if change is not None and log.outages.kill[change] and each.over(row) > 0:
                found.append(
                    f"at {each.time:g} s, row {row} was to be vacated, {each.over(row)} too many are held"
                )
    return found


def _limits(log: ClusterLog) -> list[str]:
    return [
        f"at {each.time:g} s, part {part} holds {each.of(part, log.sites[site])} cores of site {site}, at most {most}"
        for each in log.snapshots
        for (site, part), most in log.limits.items()
        if each.of(part, log.sites[site]) > most
    ]


def _kept_for_streams(log: ClusterLog) -> list[str]:
    """Queries hold their kept cores until the last one leaves, unless all cores have been held since before."""
    streams = log.streams
    if streams is None:
        return []
    until = float(streams.done.stays.leave.max(initial=0.0))
    return [
        line
        for site, keep in zip(streams.at, streams.keep, strict=True)
        for line in _kept(log, log.sites[site], streams.part, lambda _, keep=keep: keep, until)
    ]


def _kept_for_tasks(log: ClusterLog) -> list[str]:
    """Tasks hold the kept cores of each node that has them."""
    tasks = log.tasks
    if tasks is None or tasks.part is None:
        return []
    found = []
    for row in log.sites[0]:
        keep = math.ceil(tasks.keep * log.whole[row])
        rows, most = range(row, row + 1), lambda each, row=row, keep=keep: min(keep, each.capacity[row])
        found += _kept(log, rows, tasks.part, most, math.inf)
    return found


def _kept(
    log: ClusterLog, rows: range, part: int, keep: Callable[[Snapshot], int], until: float
) -> list[str]:
    keepers = {log.tasks.part if log.tasks else None, log.streams.part if log.streams else None}
    found = []
    for each in log.last_of_instants():
        idle = sum(max(0, each.idle[row]) for row in rows)
        if each.time < until and each.of(part, rows) < keep(each) and idle > 0:
            found.append(
                f"at {each.time:g} s, {idle} cores of rows {rows} are idle, part {part} lacks kept ones"
            )
    for first, second in pairwise(log.snapshots):
        if second.time >= until or second.of(part, rows) >= keep(second):
            continue
        for row in rows:
            for other, cores in enumerate(second.held[row]):
                if other not in keepers and cores > first.held[row][other]:
                    found.append(
                        f"at {second.time:g} s, part {other} takes cores of row {row} that part {part} keeps"
                    )
    return found


def _at_the_end(log: ClusterLog) -> list[str]:
    """All work has ended, and nothing is held but by neighbours, and the cores kept for tasks."""
    found, kept = (
        [f"{name} has not ended" for name in log.left],
        {*log.neighbours, log.tasks and log.tasks.part},
    )
    for row, parts in enumerate(log.snapshots[-1].held):
        for part, cores in enumerate(parts):
            if cores and part not in kept:
                found.append(f"at the end, part {part} holds {cores} cores of row {row}")
    return found
