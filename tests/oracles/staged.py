"""A validator of staged jobs on rows of cores that other parts use too, from logs alone.

Every task runs to its end exactly once, after the stages that its stage reads; attempts that were lost end when their
row is vacated. At one instant: work ends; capacity changes; attempts are lost; work starts. Attempts of length 0 are
not counted, as several of them can use one core in turn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tests.oracles.cluster import Snapshot
from tests.oracles.ledger import attempts_of, changes_of
from tests.place.validator import expected_bytes
from windlass.model.timetable import NodeTimetable
from windlass.sim import Replay
from windlass.sim.fleet import FleetRun


class Hold(NamedTuple):
    """Cores of a row that one piece of work holds from ``start`` to ``end``; ``what`` names it."""

    row: int
    cores: int
    start: float
    end: float
    lost: bool
    what: str


def holds_of_fleet(run: FleetRun) -> list[Hold]:
    """Return the core of each attempt of each task, the lost ones first."""
    lost = [
        Hold(int(row), 1, start, end, True, f"task {int(task)}")
        for task, _, row, start, end in run.lost.tolist()
    ]
    columns = zip(run.row.tolist(), run.begun.tolist(), run.computed.tolist(), strict=True)
    return lost + [
        Hold(row, 1, start, end, False, f"task {task}") for task, (row, start, end) in enumerate(columns)
    ]


def holds_of_jobs(replay: Replay, first: int) -> list[Hold]:
    """Return the cores of each attempt of each rigid job; ``first`` is the first row of its site."""
    return [
        Hold(first + node, cores, each.start, each.end, each.lost, f"job of row {each.row}")
        for each in attempts_of(replay)
        for node, cores in each.pieces.items()
    ]


def precedence(run: FleetRun) -> list[str]:
    """Return what is wrong with the times of tasks, and with the order of stages."""
    jobs, found = run.jobs, list[str]()
    stage_of = [stage for stage, tasks in enumerate(jobs.tasks.tolist()) for _ in range(tasks)]
    attempts: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for task, _, _, start, end in run.lost.tolist():
        attempts[int(task)].append((start, end))
    ended = [0.0] * len(jobs.tasks)
    for task, stage in enumerate(stage_of):
        begun, read, computed = (float(each[task]) for each in (run.begun, run.read, run.computed))
        if not begun <= read or computed != read + float(jobs.duration[task]):
            found.append(f"task {task} began at {begun:g}, had read at {read:g} and ended at {computed:g} s")
        attempts[task].append((begun, computed))
        for (_, end), (start, _) in zip(attempts[task], attempts[task][1:], strict=False):
            if not end <= start:
                found.append(f"task {task} began again at {start:g} s before it was lost at {end:g} s")
        if attempts[task][0][0] < float(jobs.submit[jobs.job[stage]]):
            found.append(f"task {task} began before its job was submitted")
        ended[stage] = max(ended[stage], computed)
    for parent in range(len(ended)):
        for child in jobs.children[jobs.child_at[parent] : jobs.child_at[parent + 1]].tolist():
            early = min(
                start for task, stage in enumerate(stage_of) if stage == child for start, _ in attempts[task]
            )
            if early < ended[parent]:
                found.append(
                    f"stage {child} began at {early:g} s, its parent {parent} ended at {ended[parent]:g} s"
                )
    for job in range(len(jobs)):
        last = max(end for stage, end in enumerate(ended) if jobs.job[stage] == job)
        if last != float(run.end[job]):
            found.append(f"job {job} ended at {run.end[job]:g} s, its last stage at {last:g} s")
    return found


def carried(run: FleetRun, *, moves: bool = False) -> list[str]:
    """Return the pairs of sites that carried other bytes than their logged reads, or fewer than the tasks needed.

    With moves of input ahead of tasks, the latter is not known.
    """
    if not run.fleet.linked:
        return []
    n, found = len(run.fleet), list[str]()
    logged = np.zeros((n, n))
    for _, _, amount, source, site, _ in run.flows.tolist():
        logged[int(source), int(site)] += amount
    needed = np.zeros((n, n)) if moves else expected_bytes(run)
    for source in range(n):
        for site in range(n):
            sent = run.carried[source, site]
            if abs(sent - logged[source, site]) > 1e-6 * (1.0 + sent):
                found.append(
                    f"{source} sent {sent:g} bytes to {site}, its reads carried {logged[source, site]:g}"
                )
            if not len(run.lost) and not moves and abs(sent - needed[source, site]) > 1e-6 * (1.0 + sent):
                found.append(f"{source} sent {sent:g} bytes to {site}, tasks needed {needed[source, site]:g}")
            if sent < needed[source, site] - 1e-6 * (1.0 + sent):
                found.append(f"{source} sent {sent:g} bytes to {site}, fewer than {needed[source, site]:g}")
    if abs(run.sent.sum() - run.carried.sum()) > 1e-6 * (1.0 + run.sent.sum()):
        found.append(f"jobs sent {run.sent.sum():g} bytes, pairs carried {run.carried.sum():g}")
    return found


def places(run: FleetRun, rows: Sequence[range]) -> list[str]:
    """Return the attempts whose core is at another site than the task; ``rows`` are those of each site."""
    attempts = [(task, site, row) for task, site, row, _, _ in run.lost.astype(np.int64).tolist()]
    attempts += list(zip(range(len(run.row)), run.site.tolist(), run.row.tolist(), strict=True))
    return [
        f"task {task} of site {site} held a core of row {row}"
        for task, site, row in attempts
        if row not in rows[site]
    ]


def arrived(run: FleetRun) -> list[str]:
    """Return the tasks that computed before the bytes that they read from other sites had come.

    Not for runs with lost tasks, whose reads end early.
    """
    ends: dict[tuple[int, int, float], list[tuple[int, float]]] = defaultdict(list)
    for start, end, _, source, site, stage in run.flows.tolist():
        ends[int(stage), int(site), start].append((int(source), end))
    found = []
    for task, stage in enumerate(run.jobs.stage.tolist() if not len(run.lost) else ()):
        site, source = int(run.site[task]), int(run.source[task])
        reads = ends.get((stage, site, float(run.begun[task])), [])
        mine = [end for of, end in reads if source < 0 or of == source]
        remote = source not in (-1, site) and float(run.jobs.task_bytes[stage]) > 0.0
        if run.fleet.linked and remote and not mine:
            found.append(f"task {task} reads nothing from site {source}")
        if float(run.read[task]) < max(mine, default=-np.inf):
            found.append(
                f"task {task} had read at {run.read[task]:g} s, its bytes came until {max(mine):g} s"
            )
    return found


def held(run: FleetRun, part: int | None, snapshots: Iterable[Snapshot]) -> list[str]:
    """Return when the part holds other cores of a row than one for each task that runs there."""
    steps = sorted(
        step for hold in holds_of_fleet(run) for step in ((hold.start, hold.row, 1), (hold.end, hold.row, -1))
    )
    at, wanted, found = 0, defaultdict[int, int](int), list[str]()
    for state in {each.time: each for each in snapshots}.values():
        while at < len(steps) and steps[at][0] <= state.time:
            wanted[steps[at][1]] += steps[at][2]
            at += 1
        for row, parts in enumerate(state.held):
            if parts[part] != wanted[row]:
                found.append(
                    f"at {state.time:g} s, part {part} holds {parts[part]} cores of row {row}, not {wanted[row]}"
                )
    return found


class Rows:
    """Cores of rows over time; ``found``: violations."""

    def __init__(self, cores: Sequence[int]) -> None:
        self.capacity, self.held, self.found = list(cores), [0] * len(cores), list[str]()

    def over(self, row: int) -> bool:
        return self.held[row] > self.capacity[row]

    def idle(self, rows: Iterable[int]) -> int:
        return sum(max(self.capacity[row] - self.held[row], 0) for row in rows)


def capacity(
    holds: Sequence[Hold],
    cores: Sequence[int],
    timetable: NodeTimetable,
    *,
    run: FleetRun | None = None,
    sites: Sequence[range] = (),
) -> list[str]:
    """Return when more cores of a row are held than it has, and which attempts were lost in vain.

    Parameters
    ----------
    holds
        The cores held by all parts.
    cores
        Cores of each row.
    timetable
        Changes of rows, numbered as in the ledger.
    run, sites
        Tasks that each run at the site of their input, and the rows of each site: report when one waits although a core
        there is idle.

    Examples
    --------
    >>> hold = [Hold(0, 1, 0.0, 2.0, False, "task 0"), Hold(0, 1, 1.0, 3.0, False, "task 1")]
    >>> capacity(hold, [2], NodeTimetable.none()), capacity(hold, [1], NodeTimetable.none())
    ([], ['at 1 s, 2 of 1 cores of row 0 are held'])
    """
    rows, changes = Rows(cores), changes_of(timetable)
    counted = [each for each in holds if each.start < each.end]
    starting, ending = defaultdict(list), defaultdict(list)
    for each in counted:
        starting[each.start].append(each)
        ending[each.end].append(each)
    waiting = _waiting(run, sites) if run is not None else {}
    for now in sorted({*starting, *ending, *changes, *(time for time, _ in waiting)}):
        for each in ending[now]:
            if not each.lost:
                rows.held[each.row] -= each.cores
        emptied = set()
        for change in changes.get(now, {}).values():
            rows.capacity[change.node] = change.cores
            if change.kill:
                emptied.add(change.node)
        lost = [each for each in ending[now] if each.lost]
        given: dict[tuple[str, float], list[Hold]] = defaultdict(list)
        for each in lost:
            given[each.what, each.start].append(each)
        # Work on several rows is lost if one of them is vacated.
        for pieces in given.values():
            if not any(each.row in emptied and rows.over(each.row) for each in pieces):
                rows.found.append(
                    f"at {now:g} s, {pieces[0].what} was lost although its row was not to be vacated"
                )
            for each in pieces:
                rows.held[each.row] -= each.cores
        rows.found += [f"at {now:g} s, row {row} is not vacated" for row in sorted(emptied) if rows.over(row)]
        for each in starting[now]:
            rows.held[each.row] += each.cores
        for row in sorted({each.row for each in starting[now]}):
            if rows.over(row):
                rows.found.append(
                    f"at {now:g} s, {rows.held[row]} of {rows.capacity[row]} cores of row {row} are held"
                )
        for site, mine in enumerate(sites):
            count = sum(each for (time, place), each in waiting.items() if place == site and time <= now)
            if count > 0 and rows.idle(mine) > 0:
                rows.found.append(f"at {now:g} s, {count} tasks wait at site {site} although cores are idle")
    return rows.found


def _waiting(run: FleetRun, sites: Sequence[range]) -> dict[tuple[float, int], int]:
    """Return by time and site how many more tasks wait from then on; each waits at the site of its input."""
    found: dict[tuple[float, int], int] = defaultdict(int)
    stage_of = run.jobs.stage
    for task, home in enumerate(run.jobs.home.tolist()):
        found[float(run.jobs.submit[run.jobs.job[stage_of[task]]]), home] += 1
        found[float(run.begun[task]), home] -= 1
    for _, site, _, start, end in run.lost.tolist():
        found[start, int(site)] -= 1
        found[end, int(site)] += 1
    return found
