"""Check that nodes got short tasks only as their answers allow, from the logs of tasks and answers.

A node accepts a task if it has fewer tasks than its limit, which is 0 if it rejects all. A task goes to a node that
accepts, or to any node if none accepts. It is then refused if the cluster refuses such tasks.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AnswerLog:
    """Answers of nodes: the limit of each at each time (s), from then on.

    ``late``: whether a task has no node until it starts. ``refuses``: whether a task that no node accepts is refused.
    """

    times: tuple[float, ...]
    limits: tuple[tuple[int, ...], ...]
    late: bool
    refuses: bool

    def at(self, time: float) -> list[tuple[int, ...]]:
        """Return the limits at a time: at the instant of an answer, those before it and those after it."""
        place = bisect_right(self.times, time) - 1
        places = [place, place - 1] if place >= 0 and self.times[place] == time else [place]
        return [self.limits[each] for each in places if each >= 0]


#: By time: the nodes that have cores, or None if that changes at this instant.
Present = Callable[[float], list[int] | None]


def violations(log: AnswerLog, done: Any, present: Present) -> list[str]:
    """Return the tasks that a node should not have got, or that should not have been refused, one sentence each."""
    check = _late if log.late else _early
    return list(check(log, done, present))


def _late(log: AnswerLog, done: Any, present: Present) -> Iterator[str]:
    """A task is taken by a node that does not reject, unless all do; it is refused on arrival if all do."""
    columns = zip(
        done.submit.tolist(), done.start.tolist(), done.response.tolist(), done.worker.tolist(), strict=True
    )
    for task, (submit, start, response, worker) in enumerate(columns):
        refused = math.isnan(response)
        there, limits = present(submit if refused else start), log.at(submit if refused else start)
        if there is None or not limits:
            continue
        full = [not any(each[node] > 0 for node in there) for each in limits]
        if refused and not (log.refuses and any(full)):
            yield f"task {task} was refused at {submit:g} s, although a node accepts"
        elif not refused and not any(
            each[worker] > 0 or none for each, none in zip(limits, full, strict=True)
        ):
            yield f"task {task} starts at {start:g} s on node {worker}, which rejects"


def _early(log: AnswerLog, done: Any, present: Present) -> Iterator[str]:
    """A task goes on arrival to a node that accepts, unless none does; then it is refused, or goes to any node.

    Not for runs in which tasks lost their node and were sent again, at unknown times.
    """
    if done.moved > 0:
        return
    on: list[tuple[int, float]] = []
    columns = zip(done.submit.tolist(), done.response.tolist(), done.worker.tolist(), strict=True)
    for task, (submit, response, worker) in enumerate(columns):
        refused, there = math.isnan(response), present(submit)
        allowed = []
        for limits in log.at(submit) if there is not None else ():
            for least in (submit, math.nextafter(submit, -math.inf)):
                # Tasks that end at this instant may or may not be there.
                length = _lengths(on, least, len(limits))
                accepting = {node for node in there or () if length[node] < limits[node]}
                if refused:
                    allowed.append(log.refuses and not accepting)
                else:
                    allowed.append(worker in accepting or (not accepting and not log.refuses))
        if allowed and not any(allowed):
            if refused:
                yield f"task {task} was refused at {submit:g} s, although a node accepts"
            else:
                yield f"task {task} came at {submit:g} s to node {worker}, which rejects"
        if not refused:
            on.append((worker, submit + response))


def _lengths(on: Sequence[tuple[int, float]], after: float, nodes: int) -> list[int]:
    """Return the tasks of each node that end after a time."""
    found = [0] * nodes
    for node, end in on:
        found[node] += end > after
    return found
