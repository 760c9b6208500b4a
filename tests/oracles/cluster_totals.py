"""Totals of a run of the world ``cluster``: cores, work, bytes and money are conserved, to a billionth."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from tests.oracles import cluster_loads, shares, staged
from tests.oracles.cluster import ClusterLog, Course, TaskLog
from tests.oracles.cluster_world import WorldLog, site_log
from tests.place.validator import rate_course

#: Relative tolerance of sums.
CLOSE = 1e-9


def violations(log: WorldLog) -> list[str]:
    """Return the totals that are not conserved, one sentence each."""
    return [*_cores(log), *_work(log), *_bytes(log), *_money(log)]


def _differs(value: float, expected: float) -> bool:
    return not abs(value - expected) <= CLOSE * (1.0 + abs(expected))


def _cores(log: WorldLog) -> Iterator[str]:
    """What a part holds over time is what its work needs: each core that is taken is returned."""
    held = held_seconds(log)
    for name, part, expected in _needed(log):
        if _differs(held[part], expected):
            yield f"{name}: cores are held for {held[part]!r} s, its work needs {expected!r}"


def held_seconds(log: WorldLog) -> list[float]:
    """Return for each part the core-seconds that it holds, from the snapshots."""
    states = list({each.time: each for each in log.snapshots}.values())
    found = [0.0] * len(states[0].held[0])
    for first, second in pairwise(states):
        for parts in first.held:
            for part, cores in enumerate(parts):
                if cores:
                    found[part] += cores * (second.time - first.time)
    return found


def _needed(log: WorldLog) -> Iterator[tuple[str, int, float]]:
    """Return for each part of jobs its name, its number, and the core-seconds of all attempts."""
    for name in log.sites:
        for batch in site_log(log, log.sites.index(name)).batch:
            attempts = cluster_loads.attempts_of(batch)
            if batch.shared is not None:
                read = shares.read(batch.jobs, batch.use, batch.replay, batch.shared, batch.physics)  # type: ignore[arg-type]
                attempts = read.attempts
            procs = batch.jobs.procs.tolist()
            # A guest holds no cores of its own until its host ends.
            needed = sum(
                procs[each.row] * (each.end - each.holds_from)
                for each in attempts
                if math.isfinite(each.holds_from)
            )
            yield f"jobs of {name}", batch.part, needed
        for each, number in log.of("scaled", name):
            if number is not None:
                yield f"vector jobs of {name}", number, _vector_seconds(each.result)
    for each, number in log.of("staged", ""):
        if number is not None:
            yield each.load, number, sum(hold.end - hold.start for hold in staged.holds_of_fleet(each.result))


def _vector_seconds(done: Any) -> float:
    """Return the core-seconds of jobs on instances; the cores of all jobs on one are rounded up together."""
    steps: dict[int, list[tuple[float, float]]] = defaultdict(list)
    attempts = done.attempts
    for job, launch, began, ended in zip(
        attempts.job.tolist(),
        attempts.launch.tolist(),
        attempts.began.tolist(),
        attempts.ended.tolist(),
        strict=True,
    ):
        cores = min(
            float(done.jobs.resources[job, 1]), done.fleet.types[int(done.launches.kind[launch])].cores
        )
        steps[launch] += [(began, cores), (ended, -cores)]
    found = 0.0
    for mine in steps.values():
        used = 0.0
        for first, second in pairwise(sorted(mine)):
            used += first[1]
            found += math.ceil(used - 1e-6) * (second[0] - first[0])
    return found


def _work(log: WorldLog) -> Iterator[str]:
    """Jobs and tasks received the work that they have, no more and no less."""
    for place, name in enumerate(log.sites):
        at = site_log(log, place)
        for batch in at.batch:
            if batch.shared is None:
                done, jobs = batch.replay, batch.jobs
                given = float(((done.end - done.start) * jobs.procs).sum())
                expected = float((np.minimum(jobs.run, jobs.request) * jobs.procs).sum())
                if _differs(given, expected):
                    yield f"jobs of {name}: {given!r} core-seconds ran to an end, expected {expected!r}"
        if at.tasks is not None:
            given = _served(at, at.tasks)
            if _differs(given, math.fsum(at.tasks.work)):
                yield f"tasks of {name}: {given!r} of the work was done, expected {math.fsum(at.tasks.work)!r}"
        for each, _ in log.of("scaled", name):
            done, cores = each.result, each.result.jobs.resources[:, 1]
            given = float(((done.end - done.start) * cores).sum())
            expected = float((done.jobs.run * cores).sum())
            if _differs(given, expected):
                yield f"vector jobs of {name}: {given!r} core-seconds ran to an end, expected {expected!r}"
    for each, _ in log.of("staged", ""):
        run = each.result
        given, expected = float((run.computed - run.read).sum()), float(run.jobs.duration.sum())
        if _differs(given, expected):
            yield f"{each.load}: tasks computed for {given!r} s, expected {expected!r}"


def _served(log: ClusterLog, tasks: TaskLog) -> float:
    """Return the work that tasks received: the speed of their worker, over time."""
    course, done = Course(log), tasks.done
    return math.fsum(
        (until - since) * cluster_loads.speed(tasks, log, worker, state)
        for start, end, worker in zip(
            done.start.tolist(), done.end.tolist(), done.worker.tolist(), strict=True
        )
        for since, until, state in course.between(start, end)
    )


def _bytes(log: WorldLog) -> Iterator[str]:
    """The reads of each pair of sites, its total and the totals of jobs are the same; no link is over its capacity."""
    for each, _ in log.of("staged", ""):
        run, n = each.result, len(each.result.fleet)
        logged = [[0.0] * n for _ in range(n)]
        for _, _, amount, source, site, _ in run.flows.tolist():
            logged[int(source)][int(site)] += amount
        for source in range(n):
            for site in range(n):
                if _differs(float(run.carried[source, site]), logged[source][site]):
                    yield (
                        f"{each.load}: {source} sent {float(run.carried[source, site])!r} bytes to {site}, its reads "
                        f"{logged[source][site]!r}"
                    )
        if _differs(float(run.sent.sum()), float(run.carried.sum())):
            yield f"{each.load}: jobs sent {float(run.sent.sum())!r} bytes, pairs {float(run.carried.sum())!r}"
        times, rates = rate_course(run)
        for time, rate in zip(times.tolist(), rates, strict=True):
            over = (rate.sum(axis=1) > run.fleet.up * (1 + CLOSE)) | (
                rate.sum(axis=0) > run.fleet.down * (1 + CLOSE)
            )
            if over.any():
                yield f"{each.load}: at {time:g} s, a link of site {int(np.argmax(over))} is over its capacity"


def _money(log: WorldLog) -> Iterator[str]:
    """Instances are paid from their launch to their end, and have cores from their readiness to their end."""
    total = 0.0
    for name in log.sites:
        for each, _ in log.of("scaled", name):
            done, up = each.result, 0.0
            for kind, launched, ready, gone in zip(
                done.launches.kind.tolist(),
                done.launches.launched.tolist(),
                done.launches.ready.tolist(),
                done.launches.gone.tolist(),
                strict=True,
            ):
                until = done.finish if math.isnan(gone) else gone
                total += done.fleet.types[kind].price * (until - launched) / 3600.0
                if not math.isnan(ready):
                    up += max(0.0, min(until, done.finish) - ready)
            seen = _up_seconds(log, name, done.finish)
            if _differs(seen, up):
                yield f"instances of {name} have cores for {seen!r} s, by their launches and ends {up!r} s"
    cost = log.outcome.metrics.cost_usd  # type: ignore[attr-defined]
    if any(log.done.scaled) and _differs(cost, total):
        yield f"the cost is {cost!r} USD, by launches and ends {total!r} USD"


def _up_seconds(log: WorldLog, name: str, finish: float) -> float:
    """Return the time for which the rows of a site's instances have cores, from the snapshots."""
    rows = log.rows[log.sites.index(name)][log.setting.sites[name].count :]
    states = list({each.time: each for each in log.snapshots}.values())
    found = 0.0
    for at, state in enumerate(states):
        until = min(states[at + 1].time if at + 1 < len(states) else finish, finish)
        found += max(0.0, until - state.time) * sum(state.capacity[row] > 0 for row in rows)
    return found
