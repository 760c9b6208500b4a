"""Regions of one simulated cluster: events per second, and time per instant.

Each region has batch jobs and short tasks on the same nodes. In the last row it also has staged jobs on slots, and jobs
on instances that are launched for them. The regions share no rows, so the time of an instant should not depend on
their number. An event is an arrival or an end of a job or a task; tasks of stages have ends only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.batch import plain_jobs
from benchmarks.colocated import simpy_instants
from benchmarks.measure import Row, compare_rates
from benchmarks.peers_cluster import PackedJob, StagedJob, plain_instances, plain_stages
from benchmarks.peers_colocated import PlainNodes, plain_together
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.model import JobTable
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.instances import InstanceType
from windlass.model.timetable import WorkerTimetable
from windlass.model.vectors import VectorJobs
from windlass.order.fleet.compiled import in_loop
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.order.site.policies.easy import Easy
from windlass.sim.coupled import Coupled
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.part import OrderedFleet
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.part import InstancesPart
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.setup import Setup

_REGIONS = (1, 3, 12)
_NODES, _CORES, _FLOOR = 24, 16, 0.05
_SECONDS, _JOBS = 7200.0, 20_000
_SLOTS = 400
_INSTANCES = InstanceFleet((InstanceType("small", cores=16, launch=0.0, most=22),), idle=0.0)
#: Regions, staged jobs and jobs for instances of the row with all loads.
_FOUR, _STAGED, _PACKED = 3, 2000, 8000


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    return [*_throughputs(repeats), *_instants(repeats), _four_loads(repeats)]


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The batch jobs of a region, and its tasks' arrivals (s) and work (s at speed 1)."""

    jobs: JobTable
    submit: NDArray[np.float64]
    work: NDArray[np.float64]

    @classmethod
    def drawn(cls, seed: int, jobs: int, tasks: int) -> Region:
        """Draw 2.8 jobs a second of up to 8 cores, and tasks of 30 ms."""
        rng = np.random.default_rng(seed)
        run = (rng.exponential(30.0, jobs) + 1.0).round(3)
        submit = np.sort(rng.random(jobs) * _SECONDS).round(3)
        return cls(
            JobTable.of(submit, run, rng.integers(1, 9, jobs), 2.0 * run),
            np.sort(rng.random(tasks) * _SECONDS),
            rng.exponential(0.03, tasks),
        )


@dataclass(frozen=True, slots=True, eq=False)
class FurtherLoad:
    """The staged jobs of a region, and its jobs for instances."""

    staged: FleetCase
    packed: VectorJobs

    @classmethod
    def drawn(cls, seed: int, staged: int, packed: int) -> FurtherLoad:
        """Draw jobs of three stages of up to 60 tasks, and jobs that need more than all instances at times."""
        rng = np.random.default_rng(seed)
        submit = np.sort(rng.random(staged) * _SECONDS).round(3)
        sizes = rng.integers(1, 60, (staged, 3)).tolist()
        jobs = [
            [
                StageSpec(20.0, here=(first,)),
                StageSpec(10.0, tasks=second, parents=(0,)),
                StageSpec(10.0, tasks=third, parents=(1,)),
            ]
            for first, second, third in sizes
        ]
        factor = rng.exponential(1.0, sum(map(sum, sizes))) + 0.01
        case = FleetCase(Fleet.of(slots=[_SLOTS]), FleetJobs.of(submit.tolist(), jobs, factor))
        run = (rng.exponential(60.0, packed) + 1.0).round(3)
        vectors = VectorJobs.of(
            np.sort(rng.random(packed) * _SECONDS).round(3), run, cores=rng.integers(1, 9, packed)
        )
        return cls(case, vectors)

    @property
    def events(self) -> int:
        """Arrivals and ends."""
        jobs = self.staged.jobs
        return len(jobs) + len(jobs.duration) + 2 * len(self.packed)

    def plain(self) -> tuple[list[StagedJob], list[PackedJob]]:
        """Return both loads as lists."""
        jobs = self.staged.jobs
        stages = np.split(jobs.duration, jobs.first[1:-1])
        tasks = [[each.tolist() for each in stages[3 * row : 3 * row + 3]] for row in range(len(jobs))]
        cores = self.packed.resources[:, 1].astype(int).tolist()
        packed = zip(self.packed.submit.tolist(), self.packed.run.tolist(), cores, strict=True)
        return list(zip(jobs.submit.tolist(), tasks, strict=True)), list(packed)


def _run(regions: Sequence[Region], further: Sequence[FurtherLoad] = ()) -> tuple[Any, ...]:
    """Run regions in one cluster, all batch jobs before all tasks; return the results."""
    rows = [[_CORES] * _NODES for _ in regions]
    rows += [[_SLOTS] for _ in further] + [_INSTANCES.rows() for _ in further]
    ledger = Ledger(rows, parts=max(len(regions), 3 * len(further)))
    speeds = np.ones(_NODES)
    parts: list[Part] = [
        SitePart(region.jobs, Easy(), ledger, site=site) for site, region in enumerate(regions)
    ]
    setup = Setup(
        speeds, WorkerTimetable.none(), schedulers=1, probe_delay=0.0, sizes_known=True, lane=8, samples=0,
        record=False, tasks_per_job=1,
    )  # fmt: skip
    for site, region in enumerate(regions):
        policy, rng = make_policy("ppot", speeds, np.random.default_rng(3)), np.random.default_rng(4)
        parts.append(
            WorkersPart(
                setup, policy, region.submit, region.work, rng, ledger=ledger, site=site, floor=_FLOOR
            )
        )
    for site, load in enumerate(further, len(regions)):
        cores = FleetCores(ledger, (site,))
        parts.append(OrderedFleet(load.staged, in_loop(Fcfs()), cores=cores))
    for site, load in enumerate(further, len(regions) + len(further)):
        rng = np.random.default_rng(5)
        parts.append(InstancesPart(load.packed, _INSTANCES, ledger, rng, site=site, at_once=True))
    done: tuple[Any, ...] = drive(Coupled(parts, ledger), {})
    return done


def _throughputs(repeats: int) -> list[Row]:
    """Compare with plain Python, which runs one region of a tenth of the load."""
    small = Region.drawn(0, _JOBS // 10, 100_000)
    jobs, submit, work = plain_jobs(small.jobs), small.submit.tolist(), small.work.tolist()

    def peer() -> list[float]:
        return plain_together(jobs, submit, work, PlainNodes.idle_nodes(_NODES, _CORES, 1.0, _FLOOR), seed=1)

    if peer() != _run([small])[0].start.tolist():
        raise AssertionError("the peer's schedule of jobs is another one")
    found = []
    for count in _REGIONS:
        regions = [Region.drawn(seed, _JOBS, 1_000_000 // count) for seed in range(count)]
        events = 2 * sum(len(region.jobs) + len(region.submit) for region in regions)
        row = compare_rates(
            f"EASY and ppot, 1 M tasks in regions of {_NODES} nodes and {_JOBS:,} jobs, regions: {count}",
            lambda regions=regions: _run(regions),  # type: ignore[misc]
            peer,
            "plain Python loop with heapq, one region",
            amount=events,
            unit="events/s",
            repeats=repeats,
        )
        found.append(row.with_peer_of_part(events / (2 * (len(small.jobs) + len(small.submit)))))
    return found


def _four_loads(repeats: int) -> Row:
    """Compare three regions with four loads each with plain Python, which runs one region of a tenth of the load.

    The peer runs a loop for each pair of loads that share nothing, and so has nothing to coordinate.
    """
    small, part = Region.drawn(0, _JOBS // 10, 100_000), FurtherLoad.drawn(0, _STAGED // 10, _PACKED // 10)
    jobs, submit, work = plain_jobs(small.jobs), small.submit.tolist(), small.work.tolist()
    staged, packed = part.plain()
    kind = _INSTANCES.types[0]

    def peer() -> tuple[list[float], list[float], list[float]]:
        nodes = PlainNodes.idle_nodes(_NODES, _CORES, 1.0, _FLOOR)
        return (
            plain_together(jobs, submit, work, nodes, seed=1),
            plain_stages(staged, _SLOTS),
            plain_instances(packed, int(kind.cores), kind.most),
        )

    batch, _, stages, instances = _run([small], [part])
    if peer() != (batch.start.tolist(), stages.end.tolist(), instances.start.tolist()):
        raise AssertionError("the peer's schedule is another one")
    regions = [Region.drawn(seed, _JOBS, 1_000_000 // _FOUR) for seed in range(_FOUR)]
    further = [FurtherLoad.drawn(seed, _STAGED, _PACKED) for seed in range(_FOUR)]
    events = 2 * sum(len(region.jobs) + len(region.submit) for region in regions)
    events += sum(load.events for load in further)
    row = compare_rates(
        f"the same with {_STAGED:,} staged jobs and {_PACKED:,} jobs on instances in each region, regions: {_FOUR}",
        lambda: _run(regions, further),
        peer,
        "plain Python loops with heapq, one region",
        amount=events,
        unit="events/s",
        repeats=repeats,
    )
    return row.with_peer_of_part(events / (2 * (len(small.jobs) + len(small.submit)) + part.events))


def _instants(repeats: int) -> list[Row]:
    """Compare the time of an instant, with hardly any tasks, with that of SimPy, whose processes only wake."""
    found = []
    for count in _REGIONS:
        regions = [Region.drawn(seed, _JOBS, 10) for seed in range(count)]
        instants = sum(
            len(np.unique(np.concatenate([region.jobs.submit, done.end])))
            for region, done in zip(regions, _run(regions), strict=False)
        )
        row = compare_rates(
            f"an instant of jobs and tasks, regions: {count}",
            lambda regions=regions: _run(regions),  # type: ignore[misc]
            lambda instants=instants: simpy_instants(instants),  # type: ignore[misc]
            "SimPy, three processes that only wake at each",
            amount=instants / 1e6,
            unit="1/µs",
            repeats=repeats,
        )
        found.append(row.as_time("µs"))
    return found
