"""Small tasks on nodes that admit or reject them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from windlass.admit import POLICIES as ADMIT
from windlass.dispatch import POLICIES as DISPATCH
from windlass.experiment.worlds import Setting, World
from windlass.experiment.worlds.admission.simulation import (
    dispatch_policy,
    draw_case,
    model_of,
    site_policy,
    with_admission,
)
from windlass.experiment.worlds.admission.spec import AdmissionSetting
from windlass.experiment.worlds.composition import (
    NEIGHBOURS,
    SITE,
    TASKS,
    Composition,
    composed,
    missing_of_nodes,
)
from windlass.experiment.worlds.contents import Content, Contents
from windlass.experiment.worlds.dispatch.tasks import DispatchTasks, tasks_of
from windlass.jit import Kernel
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.admission import AdmissionMetrics, admission_metrics
from windlass.sim.telemetry.binding import binding_kernels
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.part import TelemetryPart, policy_kernels
from windlass.sim.workers.part import kernels
from windlass.sim.workers.result import Dispatched


class AdmissionWorld(World):
    """The world of small tasks on nodes that reject some of them.

    Examples
    --------
    >>> setting = AdmissionSetting.model_validate({
    ...     "cluster": {"nodes": 3}, "workload": {"tasks": 300, "load": 0.5},
    ...     "policies": {"dispatch": "jsq", "admit": {"utilisation": {"threshold": 0.5}}}})
    >>> world = AdmissionWorld()
    >>> found = world.run(setting, 1, world.workload(setting, 1), lambda share: None).metrics
    >>> found.tasks, found.rejected_tasks >= found.diverted_tasks > 0
    (300, True)
    """

    name = "admission"
    summary = "small tasks on nodes that predict contention by bursty neighbours and reject tasks"
    setting: type[Setting] = AdmissionSetting
    decisions: tuple[Registry, ...] = (DISPATCH, ADMIT)
    metrics: type[AdmissionMetrics] = AdmissionMetrics

    def composition(
        self, tree: Mapping[str, Any], settings: Sequence[AdmissionSetting], seed: int
    ) -> Composition:
        """Return one site of nodes with neighbours and tasks, all of which run, under a policy of ``admit``."""
        cluster, own = tree["cluster"], settings[0].cluster
        missing = missing_of_nodes(cluster, own.cores, own.speed)
        if missing:
            return Composition(None, missing)
        node = {"count": own.nodes, "cores": own.cores, "speed": own.speed / own.cores}
        timing = {name: tree[name] for name in ("schedulers", "probe_delay", "sizes")}
        at = f"{TASKS}@{SITE}"
        numbers = {
            at: 0,
            f"dispatch.{at}": 1,
            f"{NEIGHBOURS}@{SITE}": 2,
            f"admit.{at}": 3,
            f"metrics.{at}": 4,
        }
        return composed(
            tree,
            {SITE: {"nodes": [node]}},
            {
                TASKS: {"tasks": {**tree["workload"], **timing, "guaranteed": 1.0}},
                NEIGHBOURS: {"neighbours": cluster["bursts"]},
            },
            numbers,
            floor=cluster["floor"],
            keep_tasks=tree["keep_tasks"],
            telemetry={**tree["telemetry"], **tree["admission"]},
        )

    def choices(self, setting: AdmissionSetting) -> tuple[Choice, ...]:
        """Return both policies."""
        return setting.policies.dispatch.choice(DISPATCH), setting.policies.admit.choice(ADMIT)

    def kernels(self, setting: AdmissionSetting) -> tuple[Kernel, ...]:
        """Return the functions of both policies, which are made to validate their parameters, and the loops."""
        admit = site_policy(setting, 0, model_of(setting).dim)
        gated = gate(dispatch_policy(setting, 0))
        return (*TelemetryPart.kernels, *policy_kernels(admit), *binding_kernels(gated), *kernels(gated))

    def workload_key(self, setting: AdmissionSetting, seed: int) -> Hashable:
        """Return the parameters of the tasks, which are generated during the run, the same for every policy."""
        return setting.workload, setting.cluster

    def workload(self, setting: AdmissionSetting, seed: int) -> DispatchTasks:
        """Read the requests, or return the parameters for generating tasks."""
        return tasks_of(setting.workload, setting.cluster.capacity)

    def contents(self, workload: DispatchTasks) -> Contents:
        """Return the number of tasks and their arrivals."""
        return Contents((Content("task", workload.count, 0.0, workload.last),))

    def run(
        self, setting: AdmissionSetting, seed: int, workload: DispatchTasks, progress: Callable[[float], None]
    ) -> Outcome:
        """Simulate the tasks."""
        case = draw_case(setting, seed, workload)
        done, observed = with_admission(case, progress)
        every = -(-workload.count // setting.keep_tasks)
        notes = () if every == 1 else (f"one in {every:,} tasks is in the table; metrics cover all tasks",)
        return Outcome(
            seed=seed,
            metrics=admission_metrics(done, observed, setting.warm),
            jobs=_table(done, workload.per_job, every),
            processors=setting.cluster.nodes,
            notes=notes,
        )


def _table(done: Dispatched, per_job: int, every: int) -> pl.DataFrame:
    shown = slice(None, None, every)
    submit = done.submit[shown]
    return pl.DataFrame(
        {
            "job": np.arange(0, len(done.submit), every) // per_job,
            "submit_s": submit,
            "start_s": done.start[shown],
            "end_s": submit + done.response[shown],
            "procs": np.ones(len(submit), np.int64),
            "worker": done.worker[shown],
        }
    )
