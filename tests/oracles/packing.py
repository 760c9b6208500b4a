"""Placement of jobs on instances in plain Python: all instances are checked for each waiting job at each instant."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from windlass.sim.instances.result import Scaled


@dataclass
class _Instance:
    line: int
    kind: int
    row: int
    free: np.ndarray
    jobs: list[int] = field(default_factory=list)


def replayed(done: Scaled) -> tuple[list[float], list[list[int]]]:
    """Return the starts and the launches of each job, given the lifetimes of instances without interruptions."""
    jobs, launches = done.jobs, done.launches
    capacity = [kind.vector() for kind in done.fleet.types]
    rows = _rows(done)
    start, on = [math.nan] * len(jobs), [[] for _ in range(len(jobs))]
    up: list[_Instance] = []
    queue: list[int] = []
    ends: dict[int, float] = {}
    comes = jobs.submit.tolist()
    ready, gone = launches.ready.tolist(), launches.gone.tolist()
    left = set(range(len(jobs)))
    while left:
        times = [comes[job] for job in left if job not in queue and job not in ends]
        times += [*ends.values(), *ready]
        now = min(at for at in times if not math.isnan(at))
        for job in [job for job, at in ends.items() if at == now]:
            for instance in up:
                if job in instance.jobs:
                    instance.jobs.remove(job)
                    instance.free = instance.free + _part(done, job, len(on[job]), capacity[instance.kind])
            del ends[job]
            left.discard(job)
        # An instance that is removed at an instant still counts at that instant.
        up = [each for each in up if not gone[each.line] < now]
        for line, at in enumerate(ready):
            if at == now:
                kind = int(launches.kind[line])
                up.append(_Instance(line, kind, rows[line], capacity[kind].copy()))
                ready[line] = math.nan
        queue += [job for job in sorted(left) if comes[job] == now and job not in queue and job not in ends]
        for job in list(queue):
            chosen = _chosen(done, job, sorted(up, key=lambda each: (each.kind, each.row)), capacity)
            if chosen:
                queue.remove(job)
                start[job], ends[job], on[job] = now, now + float(jobs.run[job]), [x.line for x in chosen]
                for each in chosen:
                    each.jobs.append(job)
                    each.free = each.free - _part(done, job, len(chosen), capacity[each.kind])
    return start, on


def _part(done: Scaled, job: int, pieces: int, capacity: np.ndarray) -> np.ndarray:
    return capacity if pieces > 1 else done.jobs.resources[job]


def _chosen(done: Scaled, job: int, up: list[_Instance], capacity: list[np.ndarray]) -> list[_Instance]:
    request = done.jobs.resources[job]
    fits = [bool((request <= has).all()) for has in capacity]
    if not any(fits):
        return _whole(request, up, capacity)
    plain = [fit and has[0] == 0 for fit, has in zip(fits, capacity, strict=True)]
    if request[0] == 0 and any(plain):
        fits = plain
    able = [each for each in up if fits[each.kind] and (request <= each.free).all()]
    if done.fleet.best_fit:
        able.sort(key=lambda each: (*each.free.tolist(), each.kind, each.row))
    return able[:1]


def _whole(request: np.ndarray, up: list[_Instance], capacity: list[np.ndarray]) -> list[_Instance]:
    besides = {
        kind: sum(1 for a, h in zip(request, has, strict=True) if h > 0 and a == 0)
        for kind, has in enumerate(capacity)
        if all(h > 0 for a, h in zip(request, has, strict=True) if a > 0)
    }
    kind = max(kind for kind, count in besides.items() if count == min(besides.values()))
    needed = max(math.ceil(a / h - 1e-9) for a, h in zip(request, capacity[kind], strict=True) if a > 0)
    empty = [each for each in up if each.kind == kind and not each.jobs]
    return empty[:needed] if len(empty) >= needed else []


def _rows(done: Scaled) -> list[int]:
    """The slot of each instance among those of its type: the first free slot at its launch."""
    launches, found, until = done.launches, [], {}
    for kind, at, gone in zip(
        launches.kind.tolist(), launches.launched.tolist(), launches.gone.tolist(), strict=True
    ):
        taken = until.setdefault(kind, {})
        row = next(row for row in range(len(taken) + 1) if taken.get(row, -math.inf) <= at)
        taken[row] = math.inf if math.isnan(gone) else gone
        found.append(row)
    return found
