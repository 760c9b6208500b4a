"""Analytics jobs over data at many sites: where each task runs, and from where it reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from windlass.compiled import Kernel
from windlass.dispatch import POLICIES as DISPATCH
from windlass.metrics.fleet import geo_metrics
from windlass.model.fleet import Changes, Fleet, FleetJobs
from windlass.order.fleet import POLICIES as ORDERS
from windlass.place import POLICIES
from windlass.registry import Registry
from windlass.results import Choice, Outcome
from windlass.sim.fleet.engine import FleetRun, kernels, simulate
from windlass.traces import read_swim
from windlass.workloads.fleet import draw_drops, draw_jobs
from windlass.workloads.swim import SwimModel, jobs_of_log
from windlass.worlds import LiveWorld, Setting
from windlass.worlds.fleet.live import LiveWorldOfFleet
from windlass.worlds.fleet.spec import ClusterSpec, DropsSpec, NotNegative, PoliciesSpec, WorkloadSpec


class GeoSetting(Setting):
    """One variant of a wide-area scenario."""

    plain_lists: ClassVar[frozenset[str]] = frozenset(
        {
            "cluster.sites",
            "cluster.pair",
            "cluster.usd_per_gb",
            "cluster.measured.regions",
            "cluster.measured.slots",
            "workload.jobs",
        }
    )

    path_fields: ClassVar[tuple[str, ...]] = (
        "workload.trace",
        "cluster.measured.throughput",
        "cluster.measured.prices",
    )

    world: Literal["geo-place"] = "geo-place"
    cluster: ClusterSpec
    workload: WorkloadSpec
    policies: PoliciesSpec = PoliciesSpec()
    drops: DropsSpec | None = None
    look_every: NotNegative = 0.25
    decide_every: NotNegative = 1.0


@dataclass(frozen=True, slots=True)
class GeoWorkload:
    """Sites, jobs over them, and what changes."""

    fleet: Fleet
    jobs: FleetJobs
    changes: Changes


class GeoPlace:
    """The world of analytics jobs over many sites.

    Examples
    --------
    >>> setting = GeoSetting.model_validate({"cluster": {"drawn": {"sites": 3}},
    ...     "workload": {"drawn": {"jobs": 3}}, "policies": {"place": "in-place"}})
    >>> world = GeoPlace()
    >>> world.run(setting, 1, world.workload(setting, 1), lambda share: None).metrics.jobs
    3
    """

    name = "geo-place"
    summary = "analytics jobs over data at many sites, with slots and wide-area links"
    setting: type[Setting] = GeoSetting
    decisions: tuple[Registry, ...] = (POLICIES, ORDERS, DISPATCH)

    def __init__(self) -> None:
        self.live: LiveWorld | None = LiveWorldOfFleet(self.run, _outcome)

    def choices(self, setting: GeoSetting) -> tuple[Choice, ...]:
        """Who decides what."""
        given = setting.policies
        first = given.place.choice(POLICIES) if given.order is None else given.order.choice(ORDERS)
        return (first,) if given.dispatch is None else (first, given.dispatch.choice(DISPATCH))

    def kernels(self, setting: GeoSetting) -> tuple[Kernel, ...]:
        """The world's functions and the policy's."""
        policy = setting.policies.make(np.random.default_rng(0))
        own = getattr(policy, "place", None)
        return kernels() if own is None else (*kernels(), own)

    def workload_key(self, setting: GeoSetting, seed: int) -> Hashable:
        """Equal where sites, jobs and changes are."""
        return setting.model_dump_json(include={"workload", "cluster", "drops"}), seed

    def workload(self, setting: GeoSetting, seed: int) -> GeoWorkload:
        """Draw or read sites and jobs."""
        spec = setting.workload
        fleet = setting.cluster.fleet(np.random.default_rng([seed, 0]))
        rng = np.random.default_rng([seed, 1])
        if spec.drawn is not None:
            jobs = draw_jobs(spec.drawn.model(), fleet, rng)
        elif spec.jobs is not None:
            ordered = sorted(spec.jobs, key=lambda job: job.submit)
            jobs = FleetJobs.of(
                [job.submit for job in ordered],
                [[stage.spec(fleet.names) for stage in job.stages] for job in ordered],
            )
        else:
            assert spec.trace is not None  # validated: one of the three is there
            log = read_swim(spec.trace).records.sort("submit", maintain_order=True)
            submit, read, moved = (log[name].to_numpy() for name in ("submit", "map_input", "shuffle"))
            jobs = jobs_of_log(submit, read, moved, SwimModel(**spec.swim.model_dump()), fleet, rng)
        changes = Changes.none()
        if setting.drops is not None:
            until = float(jobs.submit[-1]) + 20 * setting.drops.every
            changes = draw_drops(
                fleet,
                setting.drops.drop,
                setting.drops.sites,
                setting.drops.every,
                until,
                np.random.default_rng([seed, 2]),
            )
        return GeoWorkload(fleet, jobs, changes)

    def run(
        self, setting: GeoSetting, seed: int, workload: GeoWorkload, progress: Callable[[float], None]
    ) -> Outcome:
        """Run the jobs."""
        done = simulate(
            workload.fleet,
            workload.jobs,
            setting.policies.make(np.random.default_rng([seed, 3])),
            changes=workload.changes,
            look_every=setting.look_every,
            decide_every=setting.decide_every,
            progress=progress,
        )
        return _outcome(seed, workload, done)


def _outcome(seed: int, workload: GeoWorkload, done: FleetRun) -> Outcome:
    return Outcome(
        seed=seed,
        metrics=geo_metrics(done),
        jobs=_table(done),
        processors=int(done.fleet.slots.sum()),
        notes=workload.jobs.notes,
    )


def _table(done: FleetRun) -> pl.DataFrame:
    jobs = done.jobs
    first = jobs.first[np.searchsorted(jobs.job, np.arange(len(jobs)))]
    return pl.DataFrame(
        {
            "job": np.arange(1, len(jobs) + 1),
            "submit_s": jobs.submit,
            "start_s": np.minimum.reduceat(done.begun, first),
            "end_s": done.end,
            "tasks": np.bincount(jobs.job, jobs.tasks).astype(np.int64),
            "stages": np.bincount(jobs.job),
            "wan_bytes": done.sent,
        }
    )
