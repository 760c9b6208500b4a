"""Regions of one simulated cluster, each with batch jobs and short tasks: events per second, and time per instant.

The regions share no rows, so the time of an instant should not depend on their number. An event is an arrival or an end
of a job or a task.
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
from benchmarks.peers_colocated import PlainNodes, plain_together
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.model import JobTable
from windlass.model.timetable import WorkerTimetable
from windlass.order.site.policies.easy import Easy
from windlass.sim.coupled import Coupled
from windlass.sim.nodes import Ledger
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.setup import Setup

_REGIONS = (1, 3, 12)
_NODES, _CORES, _FLOOR = 24, 16, 0.05
_SECONDS, _JOBS = 7200.0, 20_000


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    return [*_throughputs(repeats), *_instants(repeats)]


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The load of a region: its jobs, and its tasks' arrivals (s) and work (s at speed 1)."""

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


def _run(regions: Sequence[Region]) -> tuple[Any, ...]:
    """Run regions in one cluster, all batch jobs before all tasks; return the results."""
    ledger = Ledger([[_CORES] * _NODES for _ in regions], parts=len(regions))
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
