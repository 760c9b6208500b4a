"""Rigid parallel jobs on one site: a log or a model of one, replayed under an ordering policy."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, model_validator

from windlass.compiled import Kernel
from windlass.metrics.site import batch_metrics
from windlass.order.site import POLICIES
from windlass.registry import Registry
from windlass.results import Choice, Outcome
from windlass.sim.site.replay import Replay, kernels, replay
from windlass.traces import Workload, read_trace, to_workload
from windlass.workloads import lublin
from windlass.worlds import Setting
from windlass.worlds.policy import Policy

_FROZEN = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
_DEFAULT_PROCESSORS = 128


class ClusterSpec(BaseModel):
    """The site; without ``processors``, those that the log names (128 for generated jobs)."""

    model_config = _FROZEN

    processors: Annotated[int, Field(ge=1)] | None = None


class LublinSpec(BaseModel):
    """Jobs drawn from the Lublin–Feitelson model; see :func:`windlass.workloads.lublin`."""

    model_config = _FROZEN

    jobs: Annotated[int, Field(ge=1, le=100_000_000)] = 5000
    load: Annotated[float, Field(gt=0)] | None = None
    kinds: bool = False
    overestimate: Annotated[float, Field(ge=1)] = 5.0


class WorkloadSpec(BaseModel):
    """Either a log (``trace``, and how to read it) or a model (``lublin``)."""

    model_config = _FROZEN

    trace: Path | None = None
    format: str | None = None
    where: str | None = None
    skip_bad_lines: bool = False
    lublin: LublinSpec | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.trace is None) == (self.lublin is None):
            raise ValueError("expected either 'trace' or 'lublin'")
        if self.lublin is not None and (self.format or self.where or self.skip_bad_lines):
            raise ValueError("format, where and skip_bad_lines are for a trace, not for 'lublin'")
        return self


class PoliciesSpec(BaseModel):
    """A policy per decision."""

    model_config = _FROZEN

    order: Policy


class BatchSetting(Setting):
    """One variant of a batch scenario."""

    options: ClassVar[Mapping[str, str]] = {
        "--procs": "cluster.processors",
        "--where": "workload.where",
        "--skip-bad-lines": "workload.skip_bad_lines",
        "--no-kill": "kill_at_walltime",
    }

    world: Literal["batch"] = "batch"
    cluster: ClusterSpec = ClusterSpec()
    workload: WorkloadSpec
    policies: PoliciesSpec
    kill_at_walltime: bool = True


class Batch:
    """The world of rigid parallel jobs on one site.

    Examples
    --------
    >>> setting = BatchSetting.model_validate({"workload": {"lublin": {"jobs": 50}}, "policies": {"order": "easy"}})
    >>> world = Batch()
    >>> outcome = world.run(setting, 1, world.workload(setting, 1), lambda share: None)
    >>> outcome.metrics.jobs
    50
    """

    name = "batch"
    summary = "rigid parallel jobs on one site"
    setting: type[Setting] = BatchSetting
    decisions: tuple[Registry, ...] = (POLICIES,)

    def choices(self, setting: BatchSetting) -> tuple[Choice, ...]:
        """The ordering policy."""
        return (setting.policies.order.choice(POLICIES),)

    def kernels(self, setting: BatchSetting) -> tuple[Kernel, ...]:
        """The policy's function and the loop."""
        return kernels(setting.policies.order.make(POLICIES, np.random.default_rng(0)))

    def workload_key(self, setting: BatchSetting, seed: int) -> Hashable:
        """A log is the same for every seed."""
        return setting.workload, setting.cluster, None if setting.workload.trace else seed

    def workload(self, setting: BatchSetting, seed: int) -> Workload:
        """Read the log or draw the jobs."""
        spec = setting.workload
        if spec.trace is not None:
            trace = read_trace(spec.trace, spec.format, spec.skip_bad_lines)
            return to_workload(trace, setting.cluster.processors, spec.where)
        assert spec.lublin is not None  # validated: one of the two is there
        model = spec.lublin
        processors = setting.cluster.processors or _DEFAULT_PROCESSORS
        rng = np.random.default_rng([seed, 0])
        jobs = lublin(
            model.jobs, processors, rng, kinds=model.kinds, load=model.load, overestimate=model.overestimate
        )
        return Workload(jobs, processors)

    def run(
        self, setting: BatchSetting, seed: int, workload: Workload, progress: Callable[[float], None]
    ) -> Outcome:
        """Replay the jobs."""
        policy = setting.policies.order.make(POLICIES, np.random.default_rng([seed, 1]))
        jobs = workload.jobs
        done = replay(
            jobs,
            workload.processors,
            policy,
            kill=setting.kill_at_walltime,
            progress=lambda submitted: progress(submitted / len(jobs)),
        )
        return Outcome(
            seed=seed,
            metrics=batch_metrics(jobs.submit, done.start, done.end, jobs.procs, workload.processors),
            jobs=_table(done),
            processors=workload.processors,
            notes=(*workload.notes, *_walltime_notes(workload, setting.kill_at_walltime)),
        )


def _table(done: Replay) -> pl.DataFrame:
    jobs = done.jobs
    return pl.DataFrame(
        {
            "job": jobs.job,
            "submit_s": jobs.submit,
            "start_s": done.start,
            "end_s": done.end,
            "procs": jobs.procs,
            "request_s": jobs.request,
            "why": pl.Series(done.why).replace_strict(dict(enumerate(done.reasons)), return_dtype=pl.String),
        }
    )


def _walltime_notes(workload: Workload, kill: bool) -> tuple[str, ...]:
    over = int((workload.jobs.run > workload.jobs.request).sum())
    if not over:
        return ()
    one, many = (
        ("is stopped at its", "are stopped at their") if kill else ("runs on past its", "run on past their")
    )
    return (f"{over:,} {f'job {one}' if over == 1 else f'jobs {many}'} requested time",)
