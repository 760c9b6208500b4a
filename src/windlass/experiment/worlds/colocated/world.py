"""Rigid jobs and small tasks on the nodes of one site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from windlass.dispatch import POLICIES as DISPATCH
from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.batch.jobs import jobs_table, walltime_notes
from windlass.experiment.worlds.cluster.draw import ClusterArrivals
from windlass.experiment.worlds.colocated.simulation import (
    Colocation,
    Together,
    jobs_alone,
    tasks_alone,
    together,
)
from windlass.experiment.worlds.colocated.spec import ColocatedSetting
from windlass.experiment.worlds.composition import (
    JOBS,
    SITE,
    SWEEP_OF_NODES,
    TASKS,
    Composition,
    composed,
    group_of_nodes,
    without,
)
from windlass.experiment.worlds.contents import Contents, content_of
from windlass.experiment.worlds.custom_parts import part_name
from windlass.experiment.worlds.dispatch.tasks import tasks_table
from windlass.experiment.worlds.stands_for import RunsAsCluster, cluster_of
from windlass.order.site import POLICIES as ORDER
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.colocated import ColocatedMetrics, colocated_metrics, mean_wait, responses

#: Progress at which the run of jobs alone, and then that of tasks alone, is complete.
_JOBS_DONE, _TASKS_DONE = 0.05, 0.4
#: Ratio of the two kinds' arrival spans above which a note is added.
_MUCH_LONGER = 2.0


class Colocated(RunsAsCluster):
    """The world of rigid jobs and small tasks on the nodes of one site.

    Examples
    --------
    >>> setting = ColocatedSetting.model_validate({
    ...     "cluster": {"nodes": 4, "cores": 8}, "policies": {"order": "easy", "dispatch": "jsq"},
    ...     "workload": {"batch": {"lublin": {"jobs": 20}}, "tasks": {"tasks": 500, "load": 0.2}}})
    >>> world = Colocated()
    >>> found = world.run(setting, 1, world.workload(setting, 1), lambda share: None).metrics
    >>> found.jobs, found.tasks, found.added_job_wait_s
    (20, 500, 0.0)
    """

    name = "colocated"
    summary = "rigid jobs on the nodes of a site, and small tasks on what these leave idle"
    setting: type[Setting] = ColocatedSetting
    decisions: tuple[Registry, ...] = (ORDER, DISPATCH)
    metrics: type[ColocatedMetrics] = ColocatedMetrics

    def composition(
        self, tree: Mapping[str, Any], settings: Sequence[ColocatedSetting], seed: int
    ) -> Composition:
        """Return one site of nodes with rigid jobs and tasks, all of which run."""
        cluster, workload = tree["cluster"], tree["workload"]
        node = group_of_nodes(cluster)
        if node is None:
            return Composition(None, SWEEP_OF_NODES)
        law = {"outages": cluster["outages"]} if cluster["outages"] else {}
        numbers: dict[str, Any] = {
            JOBS: 0,
            TASKS: 0,
            f"order.{JOBS}": 1,
            f"dispatch.{TASKS}": 1,
            "outages": 2,
        }
        parts = {f"part-{number}": {"part": part} for number, part in enumerate(tree["parts"], start=1)}
        numbers |= {name: [3, number] for number, name in enumerate(parts, start=1)}
        timing = {name: tree[name] for name in ("schedulers", "probe_delay", "sizes")}
        return composed(
            tree,
            {SITE: {"nodes": [node], **law}},
            {
                JOBS: {"rigid": without(workload["batch"], "ran")},
                TASKS: {"tasks": {**workload["tasks"], **timing}},
                **parts,
            },
            {f"{name}@{SITE}": number for name, number in numbers.items()},
            floor=cluster["floor"],
            keep_tasks=tree["keep_tasks"],
            kill_at_walltime=tree["kill_at_walltime"],
        )

    def choices(self, setting: ColocatedSetting) -> tuple[Choice, ...]:
        """Return both policies."""
        return setting.policies.order.choice(ORDER), setting.policies.dispatch.choice(DISPATCH)

    def contents(self, workload: ClusterArrivals) -> Contents:
        """Return the numbers of jobs and tasks and their arrivals."""
        jobs, tasks = workload.rigid[0].drawn.jobs, workload.tasks[0].drawn
        return Contents((content_of("job", jobs.jobs.submit), tasks.content), jobs.notes)

    def run(
        self,
        setting: ColocatedSetting,
        seed: int,
        workload: ClusterArrivals,
        progress: Callable[[float], None],
    ) -> Outcome:
        """Run jobs alone, tasks alone, and both together; the table is of the last run."""
        case = Colocation(cluster_of(self, setting, seed), seed, workload)
        jobs, tasks = workload.rigid[0].drawn.jobs, workload.tasks[0].drawn
        # Only a few numbers of the separate runs are stored, so that memory holds the tasks of one run at a time.
        wait = mean_wait(jobs_alone(case, _within(progress, 0.0, _JOBS_DONE)))
        alone = responses(tasks_alone(case, _within(progress, _JOBS_DONE, _TASKS_DONE)))
        both = together(case, _within(progress, _TASKS_DONE, 1.0))
        every = -(-len(tasks.submit) // setting.keep_tasks)
        return Outcome(
            seed=seed,
            metrics=colocated_metrics(both.jobs, both.tasks, wait, alone),
            jobs=_table(both, jobs.ids, tasks.per_job, every),
            processors=setting.cluster.processors,
            notes=(
                *jobs.notes,
                *walltime_notes(jobs, setting.kill_at_walltime),
                *_span_notes(float(jobs.jobs.submit[-1]), float(tasks.submit[-1])),
                *(
                    f"{part_name(part)}: {result}"
                    for part, result in zip(setting.parts, both.parts, strict=True)
                ),
                *_sample_notes(len(tasks.submit), every),
            ),
            calendar=jobs.calendar,
        )


def _within(progress: Callable[[float], None], start: float, stop: float) -> Callable[[float], None]:
    return lambda share: progress(start + share * (stop - start))


def _table(both: Together, ids: pl.Series | None, per_job: int, every: int) -> pl.DataFrame:
    """Return a row per job and per sampled task; columns of the other kind are null."""
    jobs = jobs_table(both.jobs, ids=ids).select(pl.lit("job").alias("kind"), pl.all())
    # Rechunked, so that a file of the table has the same bytes if it comes from another process.
    tasks = tasks_table(both.tasks, per_job, every).rename({"worker": "node"})
    return pl.concat(
        [jobs, tasks.select(pl.lit("task").alias("kind"), pl.all())], how="diagonal", rechunk=True
    )


def _span_notes(jobs: float, tasks: float) -> tuple[str, ...]:
    """Return a note if one kind has the site to itself for most of the time, where sharing costs nothing."""
    if max(jobs, tasks) <= _MUCH_LONGER * min(jobs, tasks):
        return ()
    return (f"jobs arrive for {jobs:,.0f} s and tasks for {tasks:,.0f} s: costs cover the time of both",)


def _sample_notes(count: int, every: int) -> tuple[str, ...]:
    if every == 1:
        return ()
    return (f"one in {every:,} of the {count:,} tasks is in the table and in plots; metrics cover all tasks",)
