"""Jobs over many sites: random ones, or a log, under a policy that orders the jobs of all sites."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, model_validator

from windlass.compiled import Kernel
from windlass.metrics.alone import ALONE
from windlass.metrics.orders import geo_order_metrics, service_seconds
from windlass.model.orders import GeoWorkload
from windlass.order.fleet import POLICIES
from windlass.registry import Registry
from windlass.results import Choice, Outcome
from windlass.sim.orders.replay import GeoReplay, kernels, replay_geo
from windlass.workloads.grid import Reading, read_geo_log
from windlass.workloads.sizes import LONGEST_TASK_S, MEAN_TASK_S, draw_workload
from windlass.worlds import LiveWorld, Setting
from windlass.worlds.policy import Policy

_FROZEN = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class GeoClusterSpec(BaseModel):
    """``sites`` sites of ``slots`` slots each, or ``slots_by_site``; a grid log brings its own sites."""

    model_config = _FROZEN

    sites: Annotated[int, Field(ge=1, le=10_000)] = 30
    slots: Annotated[int, Field(ge=1)] = 300
    slots_by_site: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] | None = None


class GeoWorkloadSpec(BaseModel):
    """Random jobs by a law of sizes, or a log (``trace``): SWIM (``.tsv``) or SWF with sites (``.swf.gz``).

    ``block_bytes`` is for SWIM, ``bag_gap_s`` for SWF, ``where`` and ``skip_bad_lines`` for both.
    """

    model_config = _FROZEN

    law: Literal["facebook", "google", "exponential"] = "facebook"
    jobs: Annotated[int, Field(ge=1, le=10_000_000)] = 2000
    trace: Path | None = None
    where: str | None = None
    skip_bad_lines: bool = False
    utilisation: Annotated[float, Field(gt=0)] = 0.78
    skew: Annotated[float, Field(ge=0)] | Literal["uniform", "one-site"] = 2.0
    longest_s: Annotated[float, Field(gt=MEAN_TASK_S)] = LONGEST_TASK_S
    block_bytes: Annotated[float, Field(gt=0)] = 128 * 2**20
    bag_gap_s: Annotated[float, Field(ge=0)] = 120.0

    @model_validator(mode="after")
    def _for_a_log(self) -> Self:
        if self.trace is None and (self.where or self.skip_bad_lines):
            raise ValueError("where and skip_bad_lines are for a trace, not for drawn jobs")
        return self


class EstimatesSpec(BaseModel):
    """How well task times are known, and whether policies are told numbers of tasks or expected seconds."""

    model_config = _FROZEN

    accuracy: Annotated[float, Field(ge=0, le=1)] = 1.0
    sizes: Literal["tasks", "seconds"] = "tasks"


class GeoPoliciesSpec(BaseModel):
    """A policy per decision."""

    model_config = _FROZEN

    order: Policy


class GeoOrderSetting(Setting):
    """One variant of a scenario over many sites."""

    plain_lists: ClassVar[frozenset[str]] = frozenset({"cluster.slots_by_site"})
    options: ClassVar[Mapping[str, str]] = {
        "--where": "workload.where",
        "--skip-bad-lines": "workload.skip_bad_lines",
    }

    world: Literal["geo-order"]
    cluster: GeoClusterSpec = GeoClusterSpec()
    workload: GeoWorkloadSpec = GeoWorkloadSpec()
    estimates: EstimatesSpec = EstimatesSpec()
    policies: GeoPoliciesSpec


class GeoOrder:
    """The world of jobs whose tasks are fixed to sites.

    Examples
    --------
    >>> setting = GeoOrderSetting.model_validate(
    ...     {"world": "geo-order", "workload": {"jobs": 20}, "policies": {"order": "swag"}})
    >>> world = GeoOrder()
    >>> world.run(setting, 1, world.workload(setting, 1), lambda share: None).metrics.jobs
    20
    """

    name = "geo-order"
    summary = "jobs over many sites, each task fixed to one"
    setting: type[Setting] = GeoOrderSetting
    decisions: tuple[Registry, ...] = (POLICIES,)
    live: LiveWorld | None = None

    def choices(self, setting: GeoOrderSetting) -> tuple[Choice, ...]:
        """The ordering policy."""
        return (setting.policies.order.choice(POLICIES),)

    def kernels(self, setting: GeoOrderSetting) -> tuple[Kernel, ...]:
        """The policy's functions and the loop."""
        return (*kernels(setting.policies.order.make(POLICIES, np.random.default_rng(0))), ALONE)

    def workload_key(self, setting: GeoOrderSetting, seed: int) -> Hashable:
        """What is drawn differs by seed; a log has something to draw too."""
        return setting.workload, setting.cluster, setting.estimates.accuracy, seed

    def workload(self, setting: GeoOrderSetting, seed: int) -> GeoWorkload:
        """Read the log or draw the jobs."""
        spec, cluster = setting.workload, setting.cluster
        rng = np.random.default_rng([seed, 0])
        slots = np.array(cluster.slots_by_site or (cluster.slots,) * cluster.sites, dtype=np.int64)
        if spec.trace is not None:
            reading = Reading(
                spec.where,
                spec.skip_bad_lines,
                spec.utilisation,
                spec.skew,
                spec.longest_s,
                setting.estimates.accuracy,
                spec.block_bytes,
                spec.bag_gap_s,
            )
            return read_geo_log(spec.trace, reading, slots, rng)
        return draw_workload(
            rng,
            law=spec.law,
            jobs=spec.jobs,
            slots=slots,
            utilisation=spec.utilisation,
            skew=spec.skew,
            longest=spec.longest_s,
            accuracy=setting.estimates.accuracy,
        )

    def run(
        self, setting: GeoOrderSetting, seed: int, workload: GeoWorkload, progress: Callable[[float], None]
    ) -> Outcome:
        """Run the jobs."""
        policy = setting.policies.order.make(POLICIES, np.random.default_rng([seed, 1]))
        done = replay_geo(
            workload,
            policy,
            by_seconds=setting.estimates.sizes == "seconds",
            progress=lambda jobs: progress(jobs / workload.jobs),
        )
        return Outcome(
            seed=seed,
            metrics=geo_order_metrics(done),
            jobs=_table(done),
            processors=int(workload.slots.sum()),
            notes=workload.notes,
        )


def _table(done: GeoReplay) -> pl.DataFrame:
    work = done.workload
    return pl.DataFrame(
        {
            "job": np.arange(1, work.jobs + 1),
            "submit_s": work.submit,
            "start_s": done.start,
            "end_s": done.end,
            "tasks": work.job_tasks,
            "sites": np.diff(work.first),
            "service_s": service_seconds(done),
        }
    )
