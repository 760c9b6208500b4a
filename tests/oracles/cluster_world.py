"""The log of one run of the world ``cluster``, and its check site by site with the validators of coupled clusters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.oracles import answers, cluster_loads, staged
from tests.oracles.answers import AnswerLog
from tests.oracles.cluster import BatchLog, ClusterLog, InstanceLog, Snapshot, StreamLog, TaskLog
from windlass.experiment.worlds.cluster.draw import ClusterArrivals
from windlass.experiment.worlds.cluster.results import ClusterRun
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.model.timetable import NodeTimetable
from windlass.results import Outcome

#: Dispatch policies under which a task has no node until it starts.
_LATE = ("pull",)
#: More tasks than a node has.
_MANY = 1 << 30


@dataclass(frozen=True)
class WorldLog:
    """What a run of a variant recorded.

    ``rows``: rows of each site of the ledger: the sites, each camera, the cloud. ``numbers``: for the parts of a kind,
    in the order of their results, the number in the ledger, or None for a part that holds no cores. ``outages``: by
    site. ``physics``: by load and site, the speeds of jobs that share. ``queries``: what the part of queries was made
    with, such as its ``options``, and ``at``, the site in the ledger of each cluster.
    """

    setting: ClusterSetting
    arrivals: ClusterArrivals
    done: ClusterRun
    outcome: Outcome
    rows: tuple[range, ...]
    whole: tuple[int, ...]
    snapshots: tuple[Snapshot, ...]
    numbers: Mapping[str, tuple[int | None, ...]]
    outages: Mapping[str, NodeTimetable]
    physics: Mapping[tuple[str, str], Any]
    queries: Mapping[str, Any]

    @property
    def sites(self) -> list[str]:
        """Names of the sites."""
        return list(self.setting.sites)

    def end(self) -> float:
        """Return the time of the last snapshot, s."""
        return self.snapshots[-1].time

    def of(self, kind: str, site: str) -> Iterator[tuple[Any, int | None]]:
        """Return the results of a kind at a site, each with its part's number in the ledger."""
        for each, number in zip(getattr(self.done, kind), self.numbers.get(kind, ()), strict=True):
            if each.site == site:
                yield each, number


def violations(log: WorldLog) -> list[str]:
    """Return the violations of a run at all sites, one sentence each; those of totals are in other modules."""
    found = []
    for place in range(len(log.rows)):
        name = log.sites[place] if place < len(log.sites) else f"ledger site {place}"
        found += [f"{name}: {line}" for line in cluster_loads.violations(site_log(log, place))]
    return found + _staged(log) + _answers(log) + _missing(log)


def site_log(log: WorldLog, place: int) -> ClusterLog:
    """Return the log of one site of the ledger, as that of a cluster of one site."""
    rows = log.rows[place]
    name = log.sites[place] if place < len(log.sites) else ""
    cut = slice(rows.start, rows.stop)
    snapshots = [
        Snapshot(each.time, each.capacity[cut], each.idle[cut], each.held[cut]) for each in log.snapshots
    ]
    found = ClusterLog(
        (range(len(rows)),),
        log.whole[cut],
        tuple(snapshots),
        log.outages.get(name, NodeTimetable.none()),
        streams=_streams(log, place),
    )
    if not name:
        return found
    spec = log.setting.sites[name]
    batch = [_batch(log, each, number) for each, number in log.of("rigid", name)]
    found = replace(found, batch=tuple(batch))
    if any(each.site == name for each in log.done.tasks):
        found = replace(found, tasks=_tasks(log, name))
    for each, number in log.of("scaled", name):
        look = log.setting.look if log.setting.look < log.setting.period else 0.0
        ends = _ends_of_served(log, name)
        made = InstanceLog(number or 0, each.result, spec.count, each.result.fleet.idle, look, ends)
        found = replace(found, instances=made)
    return found


def _ends_of_served(log: WorldLog, name: str) -> tuple[float, ...]:
    """Return the ends of staged jobs and of queries that may run on the instances of a site, s."""
    setting, found = log.setting, list[float]()
    for each in log.done.staged:
        found += each.result.end.tolist() if name in setting.sites_of(setting.loads[each.load]) else []
    for each in log.done.queries:
        there = name in setting.sites_of(setting.loads[each.load])
        found += each.result.stays.leave.tolist() if there else []
    return tuple(found)


def _batch(log: WorldLog, each: Any, number: int | None) -> BatchLog:
    assert number is not None  # Batch jobs hold cores.
    jobs = each.result.jobs
    shared = next(
        (one.result for one in log.done.shared if (one.load, one.site) == (each.load, each.site)), None
    )
    use = next(one.drawn.use for one in log.arrivals.rigid if (one.load, one.site) == (each.load, each.site))
    physics, bound = log.physics.get((each.load, each.site)), _bound(log, each.site)
    memory = log.setting.sites[each.site].memory_per_core
    return BatchLog(number, jobs, each.result, shared, use if shared else None, physics, bound, memory)


def _bound(log: WorldLog, name: str) -> int | None:
    """Return the cores on which jobs of a site can count at any time; None if other loads may hold cores there."""
    spec, setting = log.setting.sites[name], log.setting
    others = {load.kind for load in setting.loads.values() if name in setting.sites_of(load)}
    rigid = sum(load.kind == "rigid" and name in setting.sites_of(load) for load in setting.loads.values())
    order = setting.chosen().of("order", name)
    promised = order is not None and order.name in ("fcfs", "easy")
    if others - {"rigid", "tasks"} or rigid > 1 or not promised or spec.outages or spec.instances:
        return None
    return spec.left


def _tasks(log: WorldLog, name: str) -> TaskLog:
    """Return the short tasks that ran at a site: its own, and those that other sites spilled to it."""
    submit, work, start, end, worker = [list[float]() for _ in range(5)]
    part = None
    for given, each, number in zip(log.arrivals.tasks, log.done.tasks, log.numbers["tasks"], strict=True):
        done = each.result
        others = [one.site for one in log.arrivals.tasks if one.load == given.load and one.site != each.site]
        for task in range(len(done.submit)):
            target = int(done.site[task]) if len(done.site) else -1
            ran = each.site if target < 0 else others[target]
            if ran != name or math.isnan(done.response[task]):
                continue
            submit.append(float(done.submit[task]))
            work.append(float(given.drawn.work[task]))
            start.append(float(done.start[task]))
            end.append(float(done.submit[task]) + float(done.response[task]))
            worker.append(int(done.worker[task]))
        if each.site == name:
            part = number
    served = SimpleNamespace(start=np.array(start), end=np.array(end), worker=np.array(worker, np.int64))
    spec = log.setting.sites[name]
    floor = log.setting.floor
    if log.setting.bound_of in ("dispatch", "admit"):
        # Whatever other loads hold, tasks have the whole node.
        floor = 1.0
    return TaskLog(served, submit, work, spec.speeds().tolist(), floor, spec.keeps.tasks, part)


def _streams(log: WorldLog, place: int) -> StreamLog | None:
    """Return the queries with their cores at one site of the ledger."""
    for each, number in log.of("queries", ""):
        assert number is not None  # Queries hold cores.
        at = log.queries["at"]
        if place in at:
            column = at.index(place)
            course = replace(each.result.course, held=each.result.course.held[:, [column]])
            done = replace(each.result, course=course)
            return StreamLog(number, done, (0,), (log.queries["keep"][column],))
    return None


def _staged(log: WorldLog) -> list[str]:
    """Tasks of staged jobs run in the order of stages, at the sites of their cores, which they hold in the ledger."""
    found = []
    for each, number in log.of("staged", ""):
        run, load = each.result, log.setting.loads[each.load]
        rows = [log.rows[log.sites.index(name)] for name in log.setting.sites_of(load)]
        lines = [
            *staged.precedence(run),
            *staged.places(run, rows),
            *staged.carried(run),
            *staged.arrived(run),
        ]
        found += [f"{each.load}: {line}" for line in (*lines, *staged.held(run, number, log.snapshots))]
    return found


def _answers(log: WorldLog) -> list[str]:
    """Nodes with admission get tasks only as their answers of the last step allow."""
    found, chosen = [], log.setting.chosen()
    for each in log.done.observed:
        times = tuple((step + 1) * each.result.every for step in range(len(each.result.rejects)))
        limits = tuple(tuple(0 if one else _MANY for one in step) for step in each.result.rejects.tolist())
        dispatch = chosen.of("dispatch", each.site)
        late = dispatch is not None and dispatch.name in _LATE
        given = AnswerLog(times, limits, late, log.setting.telemetry.full != "force")
        done = next(one.result for one in log.done.tasks if (one.load, one.site) == (each.load, each.site))
        # A task that runs at another site was refused at home.
        away = done.site >= 0 if len(done.site) else np.zeros(len(done.submit), np.bool_)
        own = replace(done, response=np.where(away, np.nan, done.response))
        there = cluster_loads.presence(site_log(log, log.sites.index(each.site)))
        found += [f"{each.load} at {each.site}: {line}" for line in answers.violations(given, own, there)]
    return found


def _missing(log: WorldLog) -> list[str]:
    """All that arrives is in the result, and has ended or was refused."""
    found = []
    for kind, count in (
        ("rigid", lambda drawn: len(drawn.jobs.jobs)),
        ("staged", lambda drawn: len(drawn.jobs)),
    ):
        for given, each in zip(getattr(log.arrivals, kind), getattr(log.done, kind), strict=True):
            ended = int(np.isfinite(each.result.end).sum())
            if ended != count(given.drawn):
                found.append(f"{given.name}: {ended} of {count(given.drawn)} jobs have ended")
    for given, each in zip(log.arrivals.tasks, log.done.tasks, strict=True):
        ended = int(np.isfinite(each.result.response).sum())
        if ended + each.result.refusals != len(given.drawn.work):
            found.append(
                f"{given.name}: of {len(given.drawn.work)} tasks, {ended} have ended and {each.result.refusals} "
                "were refused"
            )
    return found
