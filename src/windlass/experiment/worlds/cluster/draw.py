"""The loads of a cluster, drawn once for all policies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from windlass.experiment.worlds.cluster.layout import fleet_of, tiers_of
from windlass.experiment.worlds.cluster.loads.cut import Span
from windlass.experiment.worlds.cluster.loads.queries import draw_queries
from windlass.experiment.worlds.cluster.loads.rigid import RigidJobs, draw_rigid
from windlass.experiment.worlds.cluster.loads.staged import draw_staged
from windlass.experiment.worlds.cluster.loads.tasks import ShortTasks, draw_short_tasks
from windlass.experiment.worlds.cluster.loads.vectors import draw_vectors
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.video.streams import QuerySchedule
from windlass.io.traces.demands import DemandLog
from windlass.model import InputError
from windlass.model.calendar import Calendar
from windlass.model.fleet import FleetCase
from windlass.sim.telemetry.neighbours import CoreChanges

_Drawn = TypeVar("_Drawn")


@dataclass(frozen=True, slots=True, eq=False)
class Arrivals(Generic[_Drawn]):
    """What arrives of one load at one site; of a load over several sites, ``site`` is empty."""

    load: str
    site: str
    drawn: _Drawn

    @property
    def name(self) -> str:
        """The load with its site, as in addresses and names of random streams."""
        return f"{self.load}@{self.site}" if self.site else self.load


@dataclass(slots=True, eq=False)
class ClusterArrivals:
    """What arrives of all loads, by kind."""

    rigid: list[Arrivals[RigidJobs]] = field(default_factory=list)
    tasks: list[Arrivals[ShortTasks]] = field(default_factory=list)
    staged: list[Arrivals[FleetCase]] = field(default_factory=list)
    vectors: list[Arrivals[DemandLog]] = field(default_factory=list)
    queries: list[Arrivals[QuerySchedule]] = field(default_factory=list)
    neighbours: list[Arrivals[CoreChanges]] = field(default_factory=list)
    #: Loads with their sites of which nothing arrives.
    missing: list[str] = field(default_factory=list)
    #: Begin and end of the simulated time, s, which remain where some of the loads are left out.
    span: tuple[float, float] = (0.0, 0.0)

    def arriving(self, seconds: float) -> tuple[float, float]:
        """Return the begin and the end of the simulated time, s: given, or from the first to the last arrival."""
        if math.isfinite(seconds):
            return 0.0, seconds
        jobs = [each.drawn.jobs.jobs.submit for each in self.rigid]
        jobs += [each.drawn.jobs.submit for each in self.staged]
        jobs += [each.drawn.jobs.submit for each in self.vectors]
        jobs += [each.drawn.submit for each in self.tasks]
        begin = min(float(submit[0]) for submit in jobs)
        last = [float(submit[-1]) for submit in jobs[: len(jobs) - len(self.tasks)]]
        return begin, max(begin + 1.0, *last, *(each.drawn.last for each in self.tasks))

    @property
    def calendar(self) -> Calendar | None:
        """The calendar of the logs; None if there is none, or if logs have different ones."""
        found = {each.drawn.jobs.calendar for each in self.rigid} | {
            each.drawn.calendar for each in self.vectors
        }
        found.discard(None)
        return found.pop() if len(found) == 1 else None

    def notes(self) -> Iterator[str]:
        """Return what logs say about jobs that were left out or changed."""
        for rigid in self.rigid:
            for note in rigid.drawn.jobs.notes:
                yield note if note.startswith(rigid.name) else f"{rigid.name}: {note}"
        for vectors in self.vectors:
            yield from (f"{vectors.name}: {note}" for note in vectors.drawn.notes)
        yield from (f"{name}: nothing arrives within the simulated time" for name in self.missing)


def draw_arrivals(setting: ClusterSetting, seed: int) -> ClusterArrivals:
    """Draw all loads of a cluster; no policy changes them.

    Parameters
    ----------
    setting
        The scenario's variant.
    seed
        The random seed.

    Raises
    ------
    InputError
        A file cannot be read, or nothing arrives of a load.
    """
    found, cloud = ClusterArrivals(), setting.tier
    seconds = setting.seconds
    span, streams = Span(seconds, setting.begin), setting.random(seed)
    for name, load in setting.loads.items():
        some = setting.sites_of(load)
        if load.staged is not None:
            fleet = fleet_of(setting.sites, setting.links, some)
            found.staged.append(Arrivals(name, "", draw_staged(load.staged, fleet, seconds, streams, name)))
        if load.queries is not None:
            tiers = tiers_of(setting.sites, cloud, some)
            queries = draw_queries(load.queries, tiers.hierarchy, seconds, streams, name)
            found.queries.append(Arrivals(name, "", queries))
        for site in some:
            at, spec = f"{name}@{site}", setting.sites[site]
            if load.rigid is not None:
                memory = spec.memory_per_core
                jobs = draw_rigid(load.rigid, spec.for_jobs, memory, span, streams, at)
                _keep(found.rigid, name, site, jobs, found.missing)
            if load.tasks is not None:
                tasks = draw_short_tasks(load.tasks, setting.mean_rate(site), seconds, streams, at)
                found.tasks.append(Arrivals(name, site, tasks))
            if load.vectors is not None:
                vectors = draw_vectors(load.vectors, span, streams, at)
                _keep(found.vectors, name, site, vectors, found.missing)
        if all(f"{name}@{site}" in found.missing for site in some):
            raise InputError(
                f"loads.{name}: nothing arrives from begin, {setting.begin:g} s, for {seconds:g} s; raise seconds or "
                "the number of jobs, or change begin"
            )
    found.span = found.arriving(seconds)
    for name, load in setting.loads.items():
        if load.neighbours is not None:
            for site in setting.sites_of(load):
                rng = streams.stream(f"{name}@{site}")
                drawn = load.neighbours.changes(setting.sites[site].groups, found.span[1], rng)
                found.neighbours.append(Arrivals(name, site, drawn))
    return found


def _keep(
    kept: list[Arrivals[_Drawn]], load: str, site: str, drawn: _Drawn | None, missing: list[str]
) -> None:
    """Add what arrives of a load at a site, or note that nothing does."""
    if drawn is None:
        missing.append(f"{load}@{site}")
    else:
        kept.append(Arrivals(load, site, drawn))
