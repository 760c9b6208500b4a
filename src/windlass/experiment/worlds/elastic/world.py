"""Jobs that request resource vectors, on cloud instances."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from windlass.experiment.worlds import Setting, World
from windlass.experiment.worlds.composition import JOBS, SITE, Composition, composed
from windlass.experiment.worlds.contents import Contents, content_of
from windlass.experiment.worlds.elastic.jobs import vector_jobs
from windlass.experiment.worlds.elastic.need import need_series
from windlass.experiment.worlds.elastic.simulation import ElasticCase, run_elastic, scale_policy
from windlass.experiment.worlds.elastic.spec import ElasticSetting
from windlass.experiment.worlds.elastic.spot import instance_fleet
from windlass.io.traces.demands import DemandLog
from windlass.jit import Kernel
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.elastic import ElasticMetrics, delayed, elastic_metrics
from windlass.scale import POLICIES as SCALE
from windlass.sim.instances.part import kernels as part_kernels
from windlass.sim.instances.result import Scaled


class Elastic(World):
    """The world of jobs on cloud instances.

    Examples
    --------
    >>> setting = ElasticSetting.model_validate({
    ...     "cluster": {"types": [{"name": "small", "cores": 4, "price": 0.2, "most": 50}]},
    ...     "workload": {"drawn": {"days": 2}}, "policies": {"scale": "reactive"}})
    >>> world = Elastic()
    >>> found = world.run(setting, 1, world.workload(setting, 1), lambda share: None).metrics
    >>> found.jobs > 1000, found.lost
    (True, 0)
    """

    name = "elastic"
    summary = "jobs that request GPUs, cores and memory, on instances that take minutes to start"
    setting: type[Setting] = ElasticSetting
    decisions: tuple[Registry, ...] = (SCALE,)
    metrics: type[ElasticMetrics] = ElasticMetrics

    def composition(
        self, tree: Mapping[str, Any], settings: Sequence[ElasticSetting], seed: int
    ) -> Composition:
        """Return one site of instances with jobs for them, all of which run."""
        if any(
            kind.cores < 1 or kind.cores != int(kind.cores)
            for each in settings
            for kind in each.cluster.types
        ):
            return Composition(None, "instances without whole cores")
        return composed(
            tree,
            {SITE: {"instances": tree["cluster"]}},
            {JOBS: {"vectors": tree["workload"]}},
            {f"{JOBS}@{SITE}": 0, f"scale.{JOBS}@{SITE}": 1, f"launches@{SITE}": 2},
            **{name: tree[name] for name in ("period", "look")},
        )

    def choices(self, setting: ElasticSetting) -> tuple[Choice, ...]:
        """Return the scaling policy."""
        return (setting.policies.scale.choice(SCALE),)

    def kernels(self, setting: ElasticSetting) -> tuple[Kernel, ...]:
        """Return the part's loop; the policy is made to validate its parameters."""
        setting.policies.scale.make(SCALE, np.random.default_rng(0))
        return part_kernels()

    def workload_key(self, setting: ElasticSetting, seed: int) -> Hashable:
        """Return a key without the seed for a log, which is the same for every seed."""
        return setting.workload, None if setting.workload.trace else seed

    def workload(self, setting: ElasticSetting, seed: int) -> DemandLog:
        """Read or generate the jobs."""
        return vector_jobs(setting.workload, seed)

    def contents(self, workload: DemandLog) -> Contents:
        """Return the number of jobs and their arrivals."""
        return Contents((content_of("job", workload.jobs.submit),), workload.notes)

    def run(
        self, setting: ElasticSetting, seed: int, workload: DemandLog, progress: Callable[[float], None]
    ) -> Outcome:
        """Simulate the jobs."""
        fleet = instance_fleet(setting.cluster, workload.jobs)
        look = setting.look if setting.look < setting.period else None
        case = ElasticCase(workload.jobs, fleet, setting.period, setting.workload.earlier, look)
        chosen = setting.policies.scale
        policy = scale_policy(chosen.name, chosen.parameters, case, np.random.default_rng([seed, 1]))
        done = run_elastic(case, policy, np.random.default_rng([seed, 2]), progress)
        return Outcome(
            seed=seed,
            metrics=elastic_metrics(done),
            jobs=_table(done, workload.ids),
            processors=int(sum(kind.most * np.ceil(kind.cores) for kind in fleet.types)),
            notes=(*workload.notes, *_notes(done)),
            calendar=workload.calendar,
            series=tuple(need_series(done)),
        )


def _table(done: Scaled, ids: pl.Series | None) -> pl.DataFrame:
    """Return a row per job."""
    jobs, names = done.jobs, [kind.name for kind in done.fleet.types]
    on = np.zeros(len(jobs), np.int64)
    # The last row of a job is its completed attempt.
    on[done.attempts.job] = done.launches.kind[done.attempts.launch]
    gpus, cores, memory = jobs.resources.T
    table = pl.DataFrame(
        {
            "job": jobs.job,
            "submit_s": jobs.submit,
            "start_s": done.start,
            "end_s": done.end,
            "gpus": gpus,
            "cores": cores,
            "memory": memory,
            "instance_type": np.array(names)[on],
            "waited_for_launch": delayed(done) & (done.start > jobs.submit),
        }
    )
    return table if ids is None else table.insert_column(1, ids.alias("job_id"))


def _notes(done: Scaled) -> tuple[str, ...]:
    gangs = int((done.shares > 1.0 + 1e-9).sum())
    if not gangs:
        return ()
    return (f"{gangs:,} jobs are larger than any instance: each runs on several whole instances at once",)
