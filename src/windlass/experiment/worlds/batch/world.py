"""Rigid parallel jobs on one site: a log or a generated workload, replayed under an ordering policy."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from windlass.experiment.worlds import Explainer, LoggedWorld, Setting, World
from windlass.experiment.worlds.batch.estimates import ordered_jobs, users_of
from windlass.experiment.worlds.batch.explainer import BatchExplainer
from windlass.experiment.worlds.batch.jobs import cut_share, jobs_of, jobs_table, site_metrics, walltime_notes
from windlass.experiment.worlds.batch.partitions import bound, replayed_apart
from windlass.experiment.worlds.batch.pools import pools_of, with_pools, within
from windlass.experiment.worlds.batch.recorded import LoggedBatch
from windlass.experiment.worlds.batch.resources import resource_notes
from windlass.experiment.worlds.batch.spec import BatchSetting
from windlass.experiment.worlds.composition import JOBS, SITE, Composition, composed, without
from windlass.experiment.worlds.contents import Contents, content_of
from windlass.io.traces import Workload
from windlass.jit import Kernel
from windlass.order.site import POLICIES
from windlass.order.site.compiled import STARTS_NONE, as_compiled
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.site import BatchMetrics, PooledMetrics
from windlass.sim.site.part import kernels
from windlass.sim.site.replay import replay
from windlass.sim.site.result import Replay


class Batch(World):
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
    logged: LoggedWorld | None = LoggedBatch()
    metrics: type[BatchMetrics] = BatchMetrics
    explainer: Explainer | None = BatchExplainer()

    def composition(
        self, tree: Mapping[str, Any], settings: Sequence[BatchSetting], seed: int
    ) -> Composition:
        """Return one site of processors with rigid jobs, all of which run."""
        cluster, workload, policies = (dict(tree[name]) for name in ("cluster", "workload", "policies"))
        if cluster.get("partitions"):
            return Composition(None, "partitions whose jobs a log names")
        if cluster.get("gpus") or cluster.get("memory"):
            return Composition(None, "GPUs and memory of a site for which batch jobs wait")
        processors = cluster.get("processors") or self.workload(settings[0], seed).processors
        rigid = without(workload, "ran") | ({"load": tree["load"]} if "load" in tree else {})
        if tree["estimates"] != "requested":
            policies["order.estimates"] = tree["estimates"]
        return composed(
            {**tree, "policies": policies},
            {SITE: {"processors": processors}},
            {JOBS: {"rigid": rigid}},
            {f"{JOBS}@{SITE}": 0, f"order.{JOBS}@{SITE}": 1},
            kill_at_walltime=tree["kill_at_walltime"],
        )

    def choices(self, setting: BatchSetting) -> tuple[Choice, ...]:
        """Return the ordering policy."""
        return (setting.policies.order.choice(POLICIES),)

    def kernels(self, setting: BatchSetting) -> tuple[Kernel, ...]:
        """Return the policy's function and the replay loop."""
        order = setting.policies.order.make(POLICIES, np.random.default_rng(0))
        return (*kernels(order, setting.cluster.extra.any), STARTS_NONE)

    def runs_in_threads(self, setting: BatchSetting) -> bool:
        """Return whether the policy is compiled."""
        return as_compiled(setting.policies.order.make(POLICIES, np.random.default_rng(0))) is not None

    def workload_key(self, setting: BatchSetting, seed: int) -> Hashable:
        """Return a key without the seed for a log that is not shaken, which is the same for every seed."""
        same = setting.workload.trace is not None and setting.workload.shake == 0
        return setting.workload, setting.cluster, setting.load, None if same else seed

    def workload(self, setting: BatchSetting, seed: int) -> Workload:
        """Read the log or generate the jobs."""
        partitions = setting.cluster.partitions
        choose = partial(bound, partitions=partitions) if partitions else None
        if setting.cluster.fitting.any:
            choose = partial(within, amounts=setting.cluster.fitting)
        found = jobs_of(setting.workload, setting.cluster.whole, seed, setting.load, choose)
        if setting.estimates == "history":
            users_of(found)
        return found

    def contents(self, workload: Workload) -> Contents:
        """Return the number of jobs and their arrivals."""
        return Contents((content_of("job", workload.jobs.submit),), workload.notes)

    def run(
        self, setting: BatchSetting, seed: int, workload: Workload, progress: Callable[[float], None]
    ) -> Outcome:
        """Replay the jobs."""
        partitions, jobs = setting.cluster.partitions, workload.jobs
        if partitions:
            # A partition's progress covers its own jobs only, so progress is reported once, at the end.
            parts = replayed_apart(
                workload,
                partitions,
                lambda part, number: _replayed(setting, [seed, 1, number], part, lambda share: None),
            )
            progress(1.0)
        else:
            parts = _replayed(setting, [seed, 1], workload, progress)
        done = dataclasses.replace(parts, jobs=jobs)
        metrics = site_metrics(workload, done.start, done.end, setting.starved_after)
        lacked: tuple[str, ...] = ()
        if setting.cluster.fitting.any:
            # All variants of a sweep report the same metrics.
            metrics = PooledMetrics.of(metrics)
        if (pools := pools_of(workload, setting.cluster.extra)) is not None:
            metrics, found = with_pools(metrics, workload, done.start, done.end, pools)
            lacked = tuple(f"under {setting.policies.order.choice(POLICIES).label}, {note}" for note in found)
        return Outcome(
            seed=seed,
            metrics=metrics,
            jobs=jobs_table(done, workload.of, workload.ids),
            processors=workload.processors,
            notes=(
                *workload.notes,
                *walltime_notes(workload, setting.kill_at_walltime),
                *resource_notes(workload, setting.cluster.gpus, setting.cluster.memory, waits=not partitions),
                *lacked,
            ),
            cut_share=cut_share(workload) if setting.kill_at_walltime else 0.0,
            calendar=workload.calendar,
        )


def _replayed(
    setting: BatchSetting, draws: list[int], workload: Workload, progress: Callable[[float], None]
) -> Replay:
    """Replay the jobs of a site or partition under its own policy, whose random numbers are seeded by `draws`."""
    policy = setting.policies.order.make(POLICIES, np.random.default_rng(draws))
    given = ordered_jobs(policy, workload, setting.estimates, kill=setting.kill_at_walltime)
    return replay(
        given.jobs,
        workload.processors,
        given.policy,
        kill=setting.kill_at_walltime,
        owners=given.owners,
        pools=pools_of(workload, setting.cluster.extra),
        progress=lambda submitted: progress(submitted / len(workload.jobs)),
    )
