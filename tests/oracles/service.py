"""Check in exact numbers that each task received its work, one at a time, first come, first served.

Speeds follow from the cores held on the nodes (:mod:`tests.oracles.ledger`), and not from the simulator.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from tests.oracles.ledger import attempts_of, swept
from windlass.model.timetable import NodeTimetable
from windlass.sim import Replay
from windlass.sim.workers.result import Dispatched

#: Tolerance for one change of speed, relative to the clock: eight units in the last place of a float64.
ROUNDING = Fraction(8, 2**52)


class Node(NamedTuple):
    """A worker's node: from each time on, its share of the worker's speed (None: no cores, it is down).

    ``done``: the integral of the share up to each time.
    """

    times: list[Fraction]
    shares: list[Fraction | None]
    done: list[Fraction]

    def until(self, time: Fraction) -> Fraction:
        """Return the integral up to a time."""
        step = bisect_right(self.times, time) - 1
        return self.done[step] + (time - self.times[step]) * (self.shares[step] or 0)

    def changes(self, start: Fraction, end: Fraction) -> int:
        """Count the changes of the share within an interval or at its ends."""
        return bisect_right(self.times, end) - bisect_right(self.times, start) + 1

    def down(self, start: Fraction, end: Fraction) -> bool:
        """Return True if the node has no cores for a part of an interval."""
        first, last = bisect_right(self.times, start) - 1, bisect_right(self.times, end) - 1
        return any(
            self.shares[step] is None and (step < last or self.times[step] < end)
            for step in range(first, last + 1)
        )


def nodes_of(replay: Replay, cores: Sequence[int], timetable: NodeTimetable, floor: float) -> list[Node]:
    """Return the node of each worker, from the cores held by jobs."""
    least = Fraction(floor)
    begin = Fraction(-1)
    nodes = [Node([begin], [Fraction(1) if own else None], [Fraction(0)]) for own in cores]
    for time, node, held, capacity in swept(attempts_of(replay), cores, timetable).steps:
        times, shares, done = nodes[node]
        at = Fraction(time)
        done.append(done[-1] + (at - times[-1]) * (shares[-1] or 0))
        times.append(at)
        shares.append(max(least, Fraction(max(capacity - held, 0), cores[node])) if capacity else None)
    return nodes


def unserved(
    ran: Dispatched, work: Sequence[float], speeds: Sequence[float], nodes: Sequence[Node]
) -> list[str]:
    """Return the violations in the service of tasks, one sentence each."""
    found, queues = [], [[] for _ in speeds]
    columns = (ran.submit, ran.start, ran.end, ran.worker)
    for task, (submit, start, end, worker) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        if not submit <= start <= end:
            found.append(f"task {task} arrives at {submit}, starts at {start} and ends at {end} s")
            continue
        queues[worker].append((start, end, submit, task))
        node, base = nodes[worker], Fraction(speeds[worker])
        # Ends are computed from the stored responses, which rounds once more.
        first, last = Fraction(start), Fraction(end)
        done = base * (node.until(last) - node.until(first))
        slack = Fraction(work[task]) / 10**12 + ROUNDING * (1 + last) * base * (1 + node.changes(first, last))
        if abs(done - Fraction(work[task])) > slack:
            found.append(f"task {task} of {work[task]} got {float(done)} from {start} to {end} s at {worker}")
        if node.down(first, last - ROUNDING * (1 + last)):
            found.append(f"task {task} ran from {start} to {end} s at {worker}, which was down")
    moves = {float(time) for node in nodes for time in _moves(node)}
    for queue in queues:
        found += _in_turn(sorted(queue), moves)
    return found


def _moves(node: Node) -> list[Fraction]:
    """Times at which a worker goes down or recovers, so that tasks may be dispatched again."""
    return [
        node.times[step]
        for step in range(1, len(node.times))
        if (node.shares[step] is None) != (node.shares[step - 1] is None)
    ]


def _in_turn(queue: list[tuple[float, float, float, int]], moves: set[float]) -> list[str]:
    """Tasks run one at a time, without delay and in order of arrival, except for tasks that may have moved."""
    found = []
    for (_, end, submit, task), (later, _, arrived, other) in pairwise(queue):
        free = max(end, arrived)
        if later < end - float(ROUNDING) * (1 + end):
            found.append(f"tasks {task} and {other} are served at once")
        if arrived < submit and not any(submit <= move <= later for move in moves):
            found.append(f"task {other} arrives before {task} and is served after it")
        if later > free + float(ROUNDING) * (1 + free) and later not in moves:
            found.append(f"task {other} could have started at {free} s, and did at {later} s")
    return found
