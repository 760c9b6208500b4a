"""A site of one instance type and jobs of one instance each: plain loops that measure the cost of a plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.model.instances import InstanceType
from windlass.scale.view import Demands, ScaleView

PERIOD = 300.0
SMALL = InstanceType("small", cores=4.0, memory=16e9, price=1.0, launch=300.0, most=500)


@dataclass
class Played:
    """Hours of instances, and how long jobs waited on average, s."""

    hours: float
    wait: float


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def demands(since: list[float], walltime: list[float]) -> Demands:
    resources = np.tile([0.0, 4.0, 1e9], (len(since), 1))
    return Demands(resources.reshape(-1, 3), np.array(since), np.array(walltime))


def bursts(days: int, seed: int, rate: float = 8.0) -> list[tuple[float, float, float]]:
    """Jobs (submitted, runtime, walltime), most of them by day, some in batches on the hour."""
    rng = np.random.default_rng(seed)
    found = []
    for hour in range(24 * days):
        busy = 1.0 + np.sin(2 * np.pi * (hour % 24 - 8) / 24)
        for at in rng.uniform(0, 3600, rng.poisson(rate * busy)):
            found.append(3600 * hour + at)
        if hour % 24 == 9:
            found += [3600 * hour + float(x) for x in rng.uniform(0, 120, 20)]
    runs = rng.lognormal(8.0, 0.8, len(found))
    return [(at, run, run * 1.5) for at, run in zip(sorted(found), runs.tolist(), strict=True)]


def play(policy, jobs, idle: float, begin: float = 0.0) -> Played:
    """Decide in each period.

    An instance starts after its launch time. It is removed when it is above the total and was empty long enough.

    Time before ``begin`` is not counted.
    """
    end = jobs[-1][0]
    free: list[float] = []  # since when each empty instance is empty
    coming: list[float] = []
    running: list[tuple[float, float, float]] = []  # until, since, walltime
    queue: list[tuple[float, float, float]] = []
    history, hours, waits, place, now = [], 0.0, [], 0, 0.0
    while now <= end:
        while place < len(jobs) and jobs[place][0] <= now:
            queue.append(jobs[place])
            place += 1
        for each in [x for x in running if x[0] <= now]:
            running.remove(each)
            free.append(each[0])
        free += [at for at in coming if at <= now]
        coming = [at for at in coming if at > now]
        while queue and free:
            at, run, walltime = queue.pop(0)
            free.pop()
            running.append((now + run, now, walltime))
            if at >= begin:
                waits.append(now - at)
        if now % PERIOD == 0:
            history.append([float(len(running) + len(queue))])
            view = ScaleView(
                now,
                PERIOD,
                (SMALL,),
                ints(len(running) + len(free)),
                ints(len(coming)),
                ints(len(running)),
                demands([x[1] for x in running], [x[2] for x in running]),
                demands([x[0] for x in queue], [x[2] for x in queue]),
                np.array(history[-3000:]),
            )
            answer = policy.decide(view)
            answer.check(view)
            there = len(running) + len(free) + len(coming)
            coming += [now + SMALL.launch] * max(0, answer.counts[0] - there)
            over = max(0, there - answer.counts[0])
            gone = [at for at in sorted(free) if now - at >= idle][:over]
            for at in gone:
                free.remove(at)
        if now >= begin:
            hours += (len(running) + len(free) + len(coming)) * 60.0 / 3600.0
        now += 60.0
    return Played(hours, float(np.mean(waits)))
