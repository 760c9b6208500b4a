"""Small tasks on nodes that admit or reject them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from windlass.admit import POLICIES as ADMIT
from windlass.dispatch import POLICIES as DISPATCH
from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.admission.spec import AdmissionSetting
from windlass.experiment.worlds.cluster.draw import ClusterArrivals
from windlass.experiment.worlds.composition import (
    NEIGHBOURS,
    SITE,
    SWEEP_OF_NODES,
    TASKS,
    Composition,
    composed,
    group_of_nodes,
)
from windlass.experiment.worlds.contents import Contents
from windlass.experiment.worlds.dispatch.tasks import sampled, tasks_table, with_procs
from windlass.experiment.worlds.stands_for import RunsAsCluster, cluster_of, run_as_cluster
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.admission import AdmissionMetrics, admission_metrics


class AdmissionWorld(RunsAsCluster):
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
        cluster = tree["cluster"]
        node = group_of_nodes(cluster)
        if node is None:
            return Composition(None, SWEEP_OF_NODES)
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

    def contents(self, workload: ClusterArrivals) -> Contents:
        """Return the number of tasks and their arrivals."""
        return Contents((workload.tasks[0].drawn.content,))

    def run(
        self,
        setting: AdmissionSetting,
        seed: int,
        workload: ClusterArrivals,
        progress: Callable[[float], None],
    ) -> Outcome:
        """Simulate the tasks."""
        run = run_as_cluster(cluster_of(self, setting, seed), seed, workload, progress)
        done, observed = run.tasks[0].result, run.observed[0].result
        every = -(-len(done.submit) // setting.keep_tasks)
        notes = workload.tasks[0].drawn.notes
        if every > 1:
            notes += (f"one in {every:,} tasks is in the table; metrics cover all tasks",)
        return Outcome(
            seed=seed,
            metrics=admission_metrics(done, observed, setting.warm),
            jobs=sampled(with_procs(tasks_table(done, setting.workload.tasks_per_job, every)), every),
            processors=setting.cluster.nodes,
            notes=notes,
        )
