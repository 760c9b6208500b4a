"""Rigid parallel jobs on one site: a log or a model of one, replayed under an ordering policy."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
import polars as pl

from windlass.compiled import Kernel
from windlass.metrics.site import batch_metrics
from windlass.order.site import POLICIES
from windlass.registry import Registry
from windlass.results import Choice, Outcome
from windlass.sim.site.part import kernels
from windlass.sim.site.replay import replay
from windlass.sim.site.result import Replay
from windlass.traces import Workload, read_trace, to_workload
from windlass.workloads import lublin
from windlass.worlds import LiveWorld, Setting
from windlass.worlds.batch.spec import BatchSetting

_DEFAULT_PROCESSORS = 128


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
    live: LiveWorld | None = None

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
