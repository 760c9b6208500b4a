"""Rigid jobs and small tasks on the nodes of one site."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from windlass.dispatch import POLICIES as DISPATCH
from windlass.experiment.worlds import Setting, World
from windlass.experiment.worlds.batch.jobs import jobs_of, jobs_table, walltime_notes
from windlass.experiment.worlds.colocated.simulation import (
    Colocation,
    Together,
    colocate,
    dispatch_policy,
    jobs_alone,
    order_policy,
    tasks_alone,
    together,
)
from windlass.experiment.worlds.colocated.spec import ColocatedSetting
from windlass.experiment.worlds.composition import (
    JOBS,
    SITE,
    TASKS,
    Composition,
    composed,
    missing_of_nodes,
    without,
)
from windlass.experiment.worlds.contents import Content, Contents, content_of
from windlass.experiment.worlds.dispatch.tasks import DispatchTasks, tasks_of
from windlass.io.traces import Workload
from windlass.jit import Kernel
from windlass.order.site import POLICIES as ORDER
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.colocated import ColocatedMetrics, colocated_metrics, mean_wait, responses
from windlass.sim.site.part import kernels as site_kernels
from windlass.sim.workers.part import kernels as worker_kernels
from windlass.sim.workers.result import Dispatched

#: Progress at which the run of jobs alone, and then that of tasks alone, is complete.
_JOBS_DONE, _TASKS_DONE = 0.05, 0.4
#: Ratio of the two kinds' arrival spans above which a note is added.
_MUCH_LONGER = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Both:
    """Jobs, and the parameters of tasks."""

    jobs: Workload
    tasks: DispatchTasks


class Colocated(World):
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
        cluster, workload, own = tree["cluster"], tree["workload"], settings[0].cluster
        missing = missing_of_nodes(cluster, own.cores, own.speed)
        if missing:
            return Composition(None, missing)
        node = {"count": own.nodes, "cores": own.cores, "speed": own.core_speed}
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

    def kernels(self, setting: ColocatedSetting) -> tuple[Kernel, ...]:
        """Return both policies' functions and both loops."""
        order, dispatch = order_policy(setting, 0), dispatch_policy(setting, 0)
        return (*site_kernels(order), *worker_kernels(dispatch))

    def workload_key(self, setting: ColocatedSetting, seed: int) -> Hashable:
        """Return a key without the seed for a log; tasks are generated during the run."""
        cluster = setting.cluster
        drawn = None if setting.workload.batch.trace else seed
        return setting.workload, cluster.nodes, cluster.cores, cluster.speed, drawn

    def workload(self, setting: ColocatedSetting, seed: int) -> Both:
        """Read or generate the jobs, and return the parameters for generating tasks."""
        return Both(
            jobs_of(setting.workload.batch, setting.cluster.processors, seed),
            tasks_of(setting.workload.tasks, float(setting.cluster.speeds().sum())),
        )

    def contents(self, workload: Both) -> Contents:
        """Return the numbers of jobs and tasks and their arrivals."""
        jobs, tasks = content_of("job", workload.jobs.jobs.submit), workload.tasks
        return Contents((jobs, Content("task", tasks.count, 0.0, tasks.last)), workload.jobs.notes)

    def run(
        self, setting: ColocatedSetting, seed: int, workload: Both, progress: Callable[[float], None]
    ) -> Outcome:
        """Run jobs alone, tasks alone, and both together; the table is of the last run."""
        case = colocate(setting, seed, workload.jobs.jobs, workload.tasks)
        # Only a few numbers of the separate runs are stored, so that memory holds the tasks of one run at a time.
        wait = mean_wait(jobs_alone(case, _within(progress, 0.0, _JOBS_DONE)))
        alone = responses(tasks_alone(case, _within(progress, _JOBS_DONE, _TASKS_DONE)))
        both = together(case, _within(progress, _TASKS_DONE, 1.0))
        every = -(-workload.tasks.count // setting.keep_tasks)
        return Outcome(
            seed=seed,
            metrics=colocated_metrics(both.jobs, both.tasks, wait, alone),
            jobs=_table(both, workload.jobs.ids, workload.tasks.per_job, every),
            processors=setting.cluster.processors,
            notes=(
                *workload.jobs.notes,
                *walltime_notes(workload.jobs, setting.kill_at_walltime),
                *_span_notes(case),
                *both.notes,
                *_sample_notes(workload.tasks.count, every),
            ),
        )


def _within(progress: Callable[[float], None], start: float, stop: float) -> Callable[[float], None]:
    return lambda share: progress(start + share * (stop - start))


def _table(both: Together, ids: pl.Series | None, per_job: int, every: int) -> pl.DataFrame:
    """Return a row per job and per sampled task; columns of the other kind are null."""
    jobs = jobs_table(both.jobs, ids=ids).select(pl.lit("job").alias("kind"), pl.all())
    # Rechunked, so that a file of the table has the same bytes if it comes from another process.
    return pl.concat([jobs, _tasks_table(both.tasks, per_job, every)], how="diagonal", rechunk=True)


def _tasks_table(done: Dispatched, per_job: int, every: int) -> pl.DataFrame:
    shown = slice(None, None, every)
    submit = done.submit[shown]
    return pl.DataFrame(
        {
            "kind": pl.Series(["task"]).new_from_index(0, len(submit)),
            "job": np.arange(0, len(done.submit), every) // per_job,
            "submit_s": submit,
            "start_s": done.start[shown],
            "end_s": submit + done.response[shown],
            "node": done.worker[shown],
        }
    )


def _span_notes(case: Colocation) -> tuple[str, ...]:
    """Return a note if one kind has the site to itself for most of the time, where sharing costs nothing."""
    jobs, tasks = float(case.jobs.submit[-1]), float(case.tasks.submit[-1])
    if max(jobs, tasks) <= _MUCH_LONGER * min(jobs, tasks):
        return ()
    return (f"jobs arrive for {jobs:,.0f} s and tasks for {tasks:,.0f} s: costs cover the time of both",)


def _sample_notes(count: int, every: int) -> tuple[str, ...]:
    if every == 1:
        return ()
    return (f"one in {every:,} of the {count:,} tasks is in the table and in plots; metrics cover all tasks",)
