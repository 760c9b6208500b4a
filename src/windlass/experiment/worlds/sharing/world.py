"""Rigid jobs on one site, some of which share allocations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from windlass.experiment.worlds import Setting, World
from windlass.experiment.worlds.batch.jobs import jobs_of, jobs_table, walltime_notes
from windlass.experiment.worlds.cluster.loads.rigid import RigidJobs
from windlass.experiment.worlds.composition import JOBS, SITE, Composition, composed, without
from windlass.experiment.worlds.contents import Contents, content_of
from windlass.experiment.worlds.sharing.simulation import SharingCase, SharingRun, run_sharing, share_policy
from windlass.experiment.worlds.sharing.spec import SharingSetting
from windlass.jit import Kernel
from windlass.model.use import JobUse
from windlass.order.site import POLICIES as ORDER
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.sharing import SharingMetrics, sharing_metrics
from windlass.share import POLICIES as SHARE
from windlass.sim.shares.part import SharesPart
from windlass.sim.site.part import kernels as site_kernels
from windlass.sim.site.rated import KERNELS as RATED_KERNELS


class SharingWorld(World):
    """The world of rigid jobs that may share allocations.

    Examples
    --------
    >>> setting = SharingSetting.model_validate({"workload": {"lublin": {"jobs": 60, "load": 0.9}},
    ...     "policies": {"order": "easy", "share": "pairs"}})
    >>> world = SharingWorld()
    >>> found = world.run(setting, 1, world.workload(setting, 1), lambda share: None).metrics
    >>> found.jobs, found.evicted
    (60, 0)
    """

    name = "sharing"
    summary = "rigid jobs on one site, some of which share allocations at a CPU quota"
    setting: type[Setting] = SharingSetting
    decisions: tuple[Registry, ...] = (ORDER, SHARE)
    metrics: type[SharingMetrics] = SharingMetrics

    def composition(
        self, tree: Mapping[str, Any], settings: Sequence[SharingSetting], seed: int
    ) -> Composition:
        """Return one site of processors with rigid jobs, all of which run, under a policy of ``share``."""
        cluster = dict(tree["cluster"])
        if not cluster.get("processors"):
            cluster["processors"] = self.workload(settings[0], seed).jobs.processors
        # The smallest of several sites sets the widest job of all.
        widest = {} if settings[0].workload.widest is None else {"widest": settings[0].workload.widest}
        numbers = {"order": 1, "share": 2, "noise": 3, "use": 4}
        return composed(
            tree,
            {SITE: cluster},
            {JOBS: {"rigid": without(tree["workload"], "ran") | widest}},
            {f"{JOBS}@{SITE}": 0, f"pairs.{JOBS}": 0, f"factors.{JOBS}": 5}
            | {f"{name}.{JOBS}@{SITE}": number for name, number in numbers.items()},
            **{name: tree[name] for name in ("kill_at_walltime", "checkpoint", "noise")},
        )

    def choices(self, setting: SharingSetting) -> tuple[Choice, ...]:
        """Return both policies."""
        return setting.policies.order.choice(ORDER), setting.policies.share.choice(SHARE)

    def kernels(self, setting: SharingSetting) -> tuple[Kernel, ...]:
        """Return the ordering policy's function and the site's loop; the other policy is made to validate it."""
        setting.policies.share.make(SHARE, np.random.default_rng(0))
        order = setting.policies.order.make(ORDER, np.random.default_rng(0))
        return (*site_kernels(order, rated=True), *RATED_KERNELS, *SharesPart.kernels)

    def workload_key(self, setting: SharingSetting, seed: int) -> Hashable:
        """Return a key with the seed, as resource use is random even for the jobs of a log."""
        return setting.workload, setting.cluster, seed

    def workload(self, setting: SharingSetting, seed: int) -> RigidJobs:
        """Read or generate the jobs."""
        spec = setting.workload
        jobs, law = (
            jobs_of(spec, setting.cluster.processors, seed),
            spec.use.law(setting.cluster.memory_per_core),
        )
        return RigidJobs(jobs, law, spec.use.classes, np.random.default_rng([seed, 4]))

    def contents(self, workload: RigidJobs) -> Contents:
        """Return the number of jobs and their arrivals."""
        return Contents((content_of("job", workload.jobs.jobs.submit),), workload.jobs.notes)

    def run(
        self, setting: SharingSetting, seed: int, workload: RigidJobs, progress: Callable[[float], None]
    ) -> Outcome:
        """Simulate the jobs."""
        case, done = simulated(setting, seed, workload, progress)
        return Outcome(
            seed=seed,
            metrics=sharing_metrics(done.jobs, done.shared, case.use, done.left, kill=case.kill),
            jobs=_table(done, case.use, workload.jobs.ids),
            processors=case.processors,
            notes=(*workload.jobs.notes, *walltime_notes(workload.jobs, case.kill)),
            calendar=workload.jobs.calendar,
        )


def simulated(
    setting: SharingSetting, seed: int, workload: RigidJobs, progress: Callable[[float], None] | None = None
) -> tuple[SharingCase, SharingRun]:
    """Return the input and the result of one run, with the record of sharing that an outcome lacks.

    Parameters
    ----------
    setting, seed
        The variant of the scenario, and its random seed.
    workload
        The jobs and their resource use, from :meth:`SharingWorld.workload`.
    progress
        Receives the share of submitted jobs.

    Examples
    --------
    >>> setting = SharingSetting.model_validate({"workload": {"lublin": {"jobs": 60, "load": 0.9}},
    ...     "policies": {"order": "easy", "share": "pairs"}})
    >>> case, done = simulated(setting, 1, SharingWorld().workload(setting, 1))
    >>> len(case.jobs), done.shared.evicted
    (60, 0)
    """
    case = _case(setting, seed, workload)
    order = setting.policies.order.make(ORDER, np.random.default_rng([seed, 1]))
    chosen = setting.policies.share
    share = share_policy(chosen.name, chosen.parameters, case, np.random.default_rng([seed, 2]))
    return case, run_sharing(case, order, share, np.random.default_rng([seed, 3]), progress)


def _case(setting: SharingSetting, seed: int, workload: RigidJobs) -> SharingCase:
    physics = setting.workload.interference.physics(workload.use, np.random.default_rng([seed, 5]), seed)
    return SharingCase(
        workload.jobs.jobs,
        workload.jobs.processors,
        workload.use,
        physics,
        setting.cluster.memory_per_core,
        setting.checkpoint,
        setting.noise,
        setting.kill_at_walltime,
    )


def _table(done: SharingRun, use: JobUse, ids: pl.Series | None) -> pl.DataFrame:
    """Return a row per job; for jobs that started as guests, with the host and the first quota."""
    shared, jobs = done.shared, done.jobs.jobs
    host, quota = np.full(len(jobs), -1), np.full(len(jobs), -1)
    # Reversed, so that the first row of a pair is written last and kept.
    host[shared.guest[::-1]], quota[shared.guest[::-1]] = jobs.job[shared.host[::-1]], shared.quota[::-1]
    guests = pl.Series(host >= 0)
    return jobs_table(done.jobs, ids=ids).with_columns(
        pl.Series("class", use.job_class),
        pl.Series("cpu_s", use.core_seconds(jobs.procs)),
        pl.when(guests).then(pl.Series("host", host)).alias("host"),
        pl.when(guests).then(pl.Series("first_quota_percent", quota)).alias("first_quota_percent"),
    )
