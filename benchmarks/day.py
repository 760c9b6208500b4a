"""All seven decisions in one simulated cluster of three regions for a day: ``python -m benchmarks.day``.

Each region has nodes and instances, on which batch jobs share processors, short tasks are admitted and dispatched, and
components of streaming queries run. Staged jobs run over all regions. The first variant has all seven decisions; five
others leave out ``share``, ``admit``, ``scale``, ``plan`` or ``place``. Without one of the last three, the vector jobs,
queries or staged jobs are left out too, so that less arrives. A small run first triggers compilation, which the table
excludes. Its time is printed separately.

A second table has two hours of the same regions under compiled policies, without sharing, admission and queries.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from windlass.admit.policies.utilisation import Utilisation
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.experiment.workloads.outages import draw_outages
from windlass.experiment.workloads.queries import drawn_queries
from windlass.experiment.workloads.stages import JobModel, draw_jobs
from windlass.experiment.workloads.streams import stream
from windlass.experiment.workloads.use import UseLaw, draw_use
from windlass.model import JobTable
from windlass.model.fleet import Fleet, FleetCase
from windlass.model.instances import InstanceType
from windlass.model.queries import Cluster, Hierarchy
from windlass.model.timetable import WorkerTimetable
from windlass.model.use import JobUse
from windlass.model.vectors import VectorJobs
from windlass.order.fleet.compiled import in_loop
from windlass.order.fleet.policies.swag import Swag
from windlass.order.site.policies.easy import Easy
from windlass.place import POLICIES as PLACE
from windlass.plan import POLICIES as PLAN
from windlass.plan import QueryOptions, configurations
from windlass.scale import POLICIES as SCALE
from windlass.share import POLICIES as SHARE
from windlass.share.interference import Interference
from windlass.sim.coupled import Coupled
from windlass.sim.demand import ScaledLoad
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.part import OrderedFleet, PlacedFleet
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.part import InstancesPart
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.setup import Stays, Terms
from windlass.sim.shares.neighbours import NeighbourSpeeds
from windlass.sim.shares.part import SharesPart
from windlass.sim.site.part import SitePart
from windlass.sim.site.rated import RatedSite
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.metrics import Metrics, read_model
from windlass.sim.telemetry.part import TelemetryPart
from windlass.sim.telemetry.site_policy import AdmitSitePolicy
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.setup import Setup

_Part = TypeVar("_Part", bound=Part)
_REGIONS = ("iowa", "belgium", "sydney")
_NODES, _CORES = 24, 16
_INSTANCES, _INSTANCE_CORES = 16, 8
_SMALL = InstanceType("small", cores=_INSTANCE_CORES, price=0.4, launch=120.0, most=_INSTANCES)
_CAMERAS = 6
#: Decisions that a variant leaves out.
VARIANTS: tuple[tuple[str, ...], ...] = ((), ("share",), ("admit",), ("scale",), ("plan",), ("place",))


@dataclass(frozen=True, slots=True)
class Day:
    """The size of a run.

    Parameters
    ----------
    seconds
        Time in which jobs, tasks and queries arrive, s.
    tasks
        Short tasks of all regions.
    per_hour
        Arrivals per hour: batch jobs in each region, vector jobs in each region, staged jobs, queries.
    seed
        The random seed.
    """

    seconds: float
    tasks: int
    per_hour: tuple[float, float, float, float] = (30.0, 42.0, 20.0, 60.0)
    seed: int = 1

    def count(self, load: int) -> int:
        """Return the number of jobs of a load."""
        return max(int(self.per_hour[load] * self.seconds / 3600.0), 2)


@dataclass(frozen=True, slots=True)
class Built:
    """A cluster that has not run, its policies by address, and the number of arrivals, or of events."""

    engine: Coupled
    ledger: Ledger
    policies: Mapping[str, Any]
    arrivals: int


class Counted:
    """A policy, and how often it decided."""

    def __init__(self, policy: Any, counts: dict[str, int], decision: str) -> None:
        self._policy, self._counts, self._decision = policy, counts, decision
        self.name = policy.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)

    def decide(self, view: Any) -> Any:
        """Count a decision, and make it."""
        self._counts[self._decision] = self._counts.get(self._decision, 0) + 1
        return self._policy.decide(view)


def build(day: Day, without: tuple[str, ...], counts: dict[str, int]) -> Built:
    """Put the cluster together, without some decisions."""
    regions = len(_REGIONS)
    rows = [[_CORES] * _NODES + [_INSTANCE_CORES] * _INSTANCES for _ in _REGIONS]
    ledger = Ledger([*rows, *([2] for _ in range(regions * _CAMERAS)), [64]], parts=5 * regions + 3)
    parts: list[Part] = []
    names: list[str] = []
    policies: dict[str, Any] = {}
    arrivals = 0

    def add(part: _Part, name: str, size: int = 0) -> _Part:
        nonlocal arrivals
        parts.append(part)
        names.append(name)
        arrivals += size
        return part

    for site, region in enumerate(_REGIONS):
        rng = stream(day.seed, f"outages@{region}")
        times = draw_outages(_NODES, _CORES, 5e5, 7200.0, 0.5, day.seconds, rng)
        add(Outages(times, ledger, site=site), f"@{region}")
    if "plan" not in without:
        add(_queries(day, ledger), "", day.count(3))
        policies["plan"] = Counted(PLAN.make("cascade", stream(day.seed, "plan")), counts, "plan")
    sites: list[ScaledLoad] = []
    for site, region in enumerate(_REGIONS):
        jobs = _batch(day, region)
        if "share" in without:
            sites.append(add(SitePart(jobs, Easy(), ledger, site=site), f"@{region}", len(jobs)))
            continue
        rated, use = RatedSite(jobs, Easy(), ledger, site=site), _use(day, region, jobs)
        sites.append(add(rated, f"@{region}", len(jobs)))
        policy = SHARE.make("pairs", stream(day.seed, f"share@{region}"), budget=0.05)
        speeds, noise = (
            NeighbourSpeeds(Interference(0.019, 0.161, 0.278), use),
            stream(day.seed, f"noise@{region}"),
        )
        add(
            SharesPart(rated, jobs, use, policy, speeds, ledger, noise, memory_per_core=4e9, at_site=site),
            f"@{region}",
        )
        policies[f"share@{region}"] = Counted(policy, counts, "share")
    if "place" not in without:
        case = _staged(day)
        cores = FleetCores(ledger, tuple(range(regions)))
        add(PlacedFleet(case, look_every=0.25, decide_every=1.0, cores=cores), "", int(case.jobs.tasks.sum()))
        policies["place"] = Counted(PLACE.make("tetrium", stream(day.seed, "place")), counts, "place")
    workers: list[ScaledLoad] = []
    for site, region in enumerate(_REGIONS):
        tasks = _tasks(day, ledger, site, region, admits="admit" not in without)
        if "admit" not in without:
            metrics = Metrics(read_model(), len(rows[site]), stream(day.seed, f"metrics@{region}"))
            policy = AdmitSitePolicy([Utilisation(0.9, nodes=len(rows[site]))])
            telemetry = TelemetryPart(tasks, metrics, ledger, reads=policy.reads, site=site, policy=policy)
            add(telemetry, f"@{region}")
            policies[f"admit@{region}"] = Counted(policy, counts, "admit")
        workers.append(add(tasks, f"@{region}", day.tasks // regions))
    for site, region in enumerate(_REGIONS):
        scales = "scale" not in without
        part = InstancesPart(
            _vectors(day, region) if scales else VectorJobs.of([], []),
            InstanceFleet((_SMALL,), idle=300.0),
            ledger,
            stream(day.seed, f"launches@{region}"),
            begin=0.0,
            look=30.0,
            site=site,
            after=_NODES,
            loads=(sites[site], workers[site]) if scales else (),
        )
        add(part, f"@{region}", day.count(1) if scales else 0)
        policies[f"scale@{region}"] = Counted(
            SCALE.make("thrifty", stream(day.seed, "scale")), counts, "scale"
        )
    return Built(Coupled(parts, ledger, names), ledger, policies, arrivals)


def build_compiled(day: Day) -> Built:
    """Put together batch jobs, staged jobs, short tasks and instances, under policies that the loops call."""
    rows = [[_CORES] * _NODES + [_INSTANCE_CORES] * _INSTANCES for _ in _REGIONS]
    ledger = Ledger(rows, parts=3 * len(_REGIONS) + 1)
    parts: list[Part] = []
    policies: dict[str, Any] = {}
    # A job has an arrival, a start and an end; a task in a queue has an arrival and an end.
    events = 0
    for site, region in enumerate(_REGIONS):
        jobs = _batch(day, region)
        parts.append(SitePart(jobs, Easy(), ledger, site=site))
        events += 3 * len(jobs)
    case = _staged(day)
    cores = FleetCores(ledger, tuple(range(len(_REGIONS))))
    parts.append(OrderedFleet(case, in_loop(Swag()), look_every=0.25, cores=cores))
    events += 3 * int(case.jobs.tasks.sum()) + 2 * (day.tasks // len(_REGIONS)) * len(_REGIONS)
    for site, region in enumerate(_REGIONS):
        parts.append(_tasks(day, ledger, site, region, admits=False, dispatch="ppot"))
    for site, region in enumerate(_REGIONS):
        vectors, rng = _vectors(day, region), stream(day.seed, f"launches@{region}")
        fleet = InstanceFleet((_SMALL,), idle=300.0)
        parts.append(
            InstancesPart(vectors, fleet, ledger, rng, begin=0.0, site=site, after=_NODES, others=True)
        )
        policies[f"scale@{region}"] = SCALE.make("thrifty", stream(day.seed, "scale"))
        events += 3 * len(vectors)
    names = [f"@{region}" for region in _REGIONS]
    return Built(Coupled(parts, ledger, [*names, "", *names, *names]), ledger, policies, events)


def _batch(day: Day, region: str) -> JobTable:
    rng, count = stream(day.seed, f"batch@{region}"), day.count(0)
    run = (rng.exponential(1500.0, count) + 1.0).round()
    cores = np.minimum(2 ** rng.integers(0, 7, count), 64)
    return JobTable.of(np.sort(rng.random(count) * day.seconds).round(), run, cores, 2.0 * run)


def _use(day: Day, region: str, jobs: JobTable) -> JobUse:
    rng = stream(day.seed, f"use@{region}")
    return draw_use(jobs, rng.integers(0, 20, len(jobs)), UseLaw(), rng)


def _vectors(day: Day, region: str) -> VectorJobs:
    rng, count = stream(day.seed, f"vectors@{region}"), day.count(1)
    return VectorJobs.of(
        submit=np.sort(rng.random(count) * day.seconds).round(),
        run=(rng.exponential(600.0, count) + 1.0).round(),
        cores=rng.integers(1, 9, count),
    )


def _staged(day: Day) -> FleetCase:
    cores = _CORES * _NODES + _INSTANCE_CORES * _INSTANCES
    links = [1.25e9] * len(_REGIONS)
    fleet = Fleet.of(slots=[cores] * len(_REGIONS), up=links, down=links)
    jobs = draw_jobs(JobModel(jobs=day.count(2), load=0.7), fleet, stream(day.seed, "staged"))
    jobs = replace(jobs, submit=jobs.submit * (day.seconds / max(float(jobs.submit[-1]), 1.0)))
    return FleetCase(fleet, jobs)


def _tasks(
    day: Day, ledger: Ledger, site: int, region: str, *, admits: bool, dispatch: str = "pull"
) -> WorkersPart:
    rng, count = stream(day.seed, f"tasks@{region}"), day.tasks // len(_REGIONS)
    speeds = np.array([float(_CORES)] * _NODES + [float(_INSTANCE_CORES)] * _INSTANCES)
    policy = make_policy(dispatch, speeds, stream(day.seed, f"dispatch@{region}"))
    # A twentieth of the nodes' speed.
    work = rng.exponential(0.05 * day.seconds * _CORES * _NODES / count, count)
    setup = Setup(
        speeds, WorkerTimetable.none(), schedulers=1, probe_delay=0.0, sizes_known=True, lane=8, samples=0,
        record=True, tasks_per_job=1,
    )  # fmt: skip
    return WorkersPart(
        setup, gate(policy) if admits else policy, np.sort(rng.random(count) * day.seconds), work,
        stream(day.seed, f"workers@{region}"), ledger=ledger, site=site, floor=0.05,
    )  # fmt: skip


def _queries(day: Day, ledger: Ledger) -> QueriesPart:
    cores = float(_CORES * _NODES + _INSTANCE_CORES * _INSTANCES)
    clusters, at = [], []
    for site, region in enumerate(_REGIONS):
        for camera in range(_CAMERAS):
            clusters.append(Cluster(f"{region}-{camera}", 2.0, up=75e3, parent=region))
            at.append(len(_REGIONS) + site * _CAMERAS + camera)
    for site, region in enumerate(_REGIONS):
        clusters.append(Cluster(region, cores, up=625e3, parent="cloud"))
        at.append(site)
    tiers = Hierarchy((*clusters, Cluster("cloud", 64.0)))
    at.append(len(_REGIONS) * (1 + _CAMERAS))
    rng, count = stream(day.seed, "queries"), day.count(3)
    cameras = [cluster.name for cluster in clusters if cluster.parent != "cloud"]
    kinds = ("tracker", "classifier", "counter", "plates")
    queries = drawn_queries(stream(day.seed, "profiles"), cameras, count, kinds)
    arrive = np.sort(rng.random(count) * day.seconds)
    leave = np.minimum(arrive + rng.exponential(1800.0, count), day.seconds)
    options = [QueryOptions.of(row, configurations(query, tiers)) for row, query in enumerate(queries)]
    return QueriesPart(
        tiers, options, Stays(arrive, leave), ledger, terms=Terms(patience=60.0), units=1, at=at
    )


def main() -> None:
    """Run the variants and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.day", description=__doc__)
    parser.add_argument("--hours", type=float, default=24.0, help="simulated time (default 24)")
    parser.add_argument("--tasks", type=int, default=1_000_000, help="short tasks in a day (default 1 M)")
    parser.add_argument("--only-all", action="store_true", help="the variant with all decisions only")
    options = parser.parse_args()
    begin = time.process_time()
    small = build(Day(900.0, 3000), (), {})
    drive(small.engine, small.policies)
    console = Console()
    console.print(f"a small cluster first: {time.process_time() - begin:.1f} s")
    table = Table(
        "without", "CPU, s", "to build, s", "arrivals", "arrivals/s", "calls of policies outside of the loops"
    )
    for without in VARIANTS[: 1 if options.only_all else None]:
        counts: dict[str, int] = {}
        begin = time.process_time()
        built = build(Day(options.hours * 3600.0, int(options.tasks * options.hours / 24.0)), without, counts)
        ready = time.process_time()
        drive(built.engine, built.policies)
        took = time.process_time() - ready
        made = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
        table.add_row(
            ", ".join(without) or "none", f"{took:.1f}", f"{ready - begin:.1f}", f"{built.arrivals:,}",
            f"{built.arrivals / took:,.0f}", made,
        )  # fmt: skip
    console.print(table)
    built = build_compiled(Day(900.0, 3000))
    drive(built.engine, built.policies)
    table = Table("regions under compiled policies", "CPU, s", "events", "million events/s")
    for repeat in range(3):
        built = build_compiled(Day(7200.0, options.tasks, seed=repeat + 1))
        begin = time.process_time()
        drive(built.engine, built.policies)
        took = time.process_time() - begin
        table.add_row(
            f"seed {repeat + 1}", f"{took:.2f}", f"{built.arrivals:,}", f"{built.arrivals / took / 1e6:.1f}"
        )
    console.print(table)


if __name__ == "__main__":
    main()
