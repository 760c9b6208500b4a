"""Analytics jobs over data at many sites: where each task runs, and from where it reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from windlass.compiled import Kernel
from windlass.dispatch import POLICIES as DISPATCH
from windlass.dispatch import DispatchPolicy
from windlass.engines.live.run import data_bytes, run_live
from windlass.engines.serve.asked import try_out
from windlass.engines.targets import Executors
from windlass.metrics.fleet import geo_metrics
from windlass.model import InputError
from windlass.model.fleet import Changes, Fleet, FleetJobs
from windlass.order.fleet import POLICIES as ORDERS
from windlass.place import POLICIES
from windlass.registry import Registry
from windlass.results import Choice, Outcome
from windlass.sim.fleet.engine import FleetRun, kernels, simulate
from windlass.traces import read_swim
from windlass.workloads.fleet import draw_drops, draw_jobs
from windlass.workloads.swim import SwimModel, jobs_of_log
from windlass.worlds import Setting
from windlass.worlds.fleet.spec import ClusterSpec, DropsSpec, NotNegative, PoliciesSpec, WorkloadSpec
from windlass.worlds.policy import PolicySpec


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

    def describe_live(
        self, setting: GeoSetting, workload: GeoWorkload, executors: Executors
    ) -> tuple[str, ...]:
        """What :meth:`run_live` would do, a line each."""
        self._check_live(setting, workload)
        jobs = workload.jobs
        slot_s = float((np.repeat(jobs.task_s, jobs.tasks) * jobs.factor * jobs.size).sum())
        return (
            *executors.describe(workload.fleet, data_bytes(jobs)),
            f"run {len(jobs)} jobs of {int(jobs.first[-1])} tasks over {float(jobs.submit[-1]):g} s of submissions:"
            f" {slot_s:g} s of slots, {data_bytes(jobs) / 1e6:g} MB read and written",
        )

    def run_live(
        self,
        setting: GeoSetting,
        seed: int,
        workload: GeoWorkload,
        executors: Executors,
        progress: Callable[[float], None],
    ) -> Outcome:
        """Run the jobs for real, once they have run in the simulator."""
        self._check_live(setting, workload)
        self._rehearse(setting, seed, workload)
        listed = sorted(setting.workload.jobs or (), key=lambda job: job.submit)
        done = run_live(
            workload.fleet,
            workload.jobs,
            setting.policies.make(np.random.default_rng([seed, 3])),
            executors,
            steps=[stage.step(workload.fleet.names) for job in listed for stage in job.stages],
            dispatch=_among(setting.policies.dispatch, seed),
            decide_every=setting.decide_every,
            progress=progress,
        )
        written = tuple(
            (f"{listed[job].name}-{job + 1}/part-{task + 1:05}", content)
            for job, _, task, content in done.results
        )
        return dataclasses.replace(_outcome(seed, workload, done), written=written)

    def _rehearse(self, setting: GeoSetting, seed: int, workload: GeoWorkload) -> None:
        """Compile what decides, and meet its errors, before anything is started or any job waits for it."""
        self.run(setting, seed, workload, lambda _: None)
        among = _among(setting.policies.dispatch, seed)
        if among is not None:
            try_out(among(2))

    def _check_live(self, setting: GeoSetting, workload: GeoWorkload) -> None:
        fleet, has_input = workload.fleet, (workload.jobs.here > 0).any(axis=0)
        for site in np.flatnonzero(has_input & (fleet.slots == 0)).tolist():
            raise InputError(
                f"cluster: site {fleet.names[site]} has input and no slots; a live engine needs a worker there"
            )
        if setting.drops is not None:
            raise InputError("drops: a live engine does not take slots away; leave it out with --engine")


def _among(dispatch: PolicySpec | None, seed: int) -> Callable[[int], DispatchPolicy] | None:
    if dispatch is None:
        return None

    def among(workers: int) -> DispatchPolicy:
        rng = np.random.default_rng([seed, 4])
        made: DispatchPolicy = DISPATCH.make(dispatch.name, rng, workers=workers, **dispatch.parameters)
        return made

    return among


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
