"""Small tasks on many workers with queues: a policy chooses the worker of each task on arrival."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from windlass.dispatch import POLICIES
from windlass.experiment.dispatching import make_policy, simulate
from windlass.experiment.workloads.drift import speed_changes
from windlass.experiment.worlds import Setting, World
from windlass.experiment.worlds.composition import SITE, TASKS, Composition, composed
from windlass.experiment.worlds.contents import Content, Contents
from windlass.experiment.worlds.dispatch.spec import DispatchClusterSpec, DispatchSetting
from windlass.experiment.worlds.dispatch.tasks import DispatchTasks, tasks_of, tasks_table, with_procs
from windlass.experiment.worlds.outages import check_outages
from windlass.jit import Kernel
from windlass.model.timetable import WorkerTimetable
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.workers import DispatchMetrics, dispatch_metrics
from windlass.sim.workers.part import kernels


class Dispatch(World):
    """The world of small tasks on many workers.

    Examples
    --------
    >>> setting = DispatchSetting.model_validate({
    ...     "cluster": {"groups": [{"workers": 4, "speed": 1.0}]}, "workload": {"tasks": 500},
    ...     "policies": {"dispatch": "jsq"}})
    >>> world = Dispatch()
    >>> world.run(setting, 1, world.workload(setting, 1), lambda share: None).metrics.tasks
    500
    """

    name = "dispatch"
    summary = "small tasks on many workers of unknown, changing speed"
    setting: type[Setting] = DispatchSetting
    decisions: tuple[Registry, ...] = (POLICIES,)
    metrics: type[DispatchMetrics] = DispatchMetrics

    def composition(
        self, tree: Mapping[str, Any], settings: Sequence[DispatchSetting], seed: int
    ) -> Composition:
        """Return one site of nodes of a core each, with tasks, all of which run."""
        groups, failures = settings[0].cluster.groups, settings[0].cluster.failures
        if missing := next(filter(None, map(_missing, settings)), ""):
            return Composition(None, missing)
        nodes = [{"count": group.workers, "cores": 1, "speed": group.speed} for group in groups]
        site: dict[str, Any] = {"nodes": nodes}
        if failures:
            site["outages"] = [each.outage().model_dump(exclude_none=True) for each in failures]
        changes = {
            name: tree["cluster"][name] for name in ("shocks_every", "drift") if name in tree["cluster"]
        }
        if changes:
            site["speed_changes"] = changes
        own = {
            name: tree[name] for name in ("schedulers", "probe_delay", "fetch_delay", "count_sent", "sizes")
        }
        return composed(
            tree,
            {SITE: site},
            {TASKS: {"tasks": {**tree["workload"], **own, "guaranteed": 1.0}}},
            {f"{TASKS}@{SITE}": 0, f"dispatch.{TASKS}@{SITE}": 1, f"speeds@{SITE}": 2},
            keep_tasks=max(setting.workload.tasks for setting in settings),
        )

    def choices(self, setting: DispatchSetting) -> tuple[Choice, ...]:
        """Return the dispatch policy."""
        return (setting.policies.dispatch.choice(POLICIES),)

    def kernels(self, setting: DispatchSetting) -> tuple[Kernel, ...]:
        """Return the policy's functions and the loop."""
        return kernels(self._policy(setting, np.random.default_rng(0)))

    def workload_key(self, setting: DispatchSetting, seed: int) -> Hashable:
        """Return the parameters of the tasks, which are generated during the run, the same for every policy."""
        return setting.workload, setting.cluster.groups

    def workload(self, setting: DispatchSetting, seed: int) -> DispatchTasks:
        """Read the requests, or return the parameters for generating tasks."""
        return tasks_of(setting.workload, float(setting.cluster.speeds().sum()))

    def contents(self, workload: DispatchTasks) -> Contents:
        """Return the number of tasks and their arrivals."""
        return Contents((Content("task", workload.count, 0.0, workload.last),))

    def run(
        self, setting: DispatchSetting, seed: int, workload: DispatchTasks, progress: Callable[[float], None]
    ) -> Outcome:
        """Simulate the tasks."""
        speeds = setting.cluster.speeds()
        done = simulate(
            self._policy(setting, np.random.default_rng([seed, 1])),
            speeds,
            workload.load,
            workload.count,
            seed,
            arrivals=workload.arrivals,
            service=workload.service,
            tasks_per_job=workload.per_job,
            timetable=_timetable(setting.cluster, workload.last, seed),
            schedulers=setting.schedulers,
            probe_delay=setting.probe_delay,
            fetch_delay=setting.fetch_delay,
            probe_trip=setting.probe_trip,
            count_sent=setting.count_sent,
            sizes_known=setting.sizes == "known",
            record=True,
            progress=lambda count: progress(count / workload.count),
        )
        return Outcome(
            seed=seed,
            metrics=dispatch_metrics(done),
            jobs=with_procs(tasks_table(done, workload.per_job)),
            processors=len(speeds),
            notes=workload.notes,
        )

    def _policy(self, setting: DispatchSetting, rng: np.random.Generator) -> Any:
        spec = setting.policies.dispatch
        return make_policy(spec.name, setting.cluster.speeds(), rng, **spec.parameters)


def _missing(setting: DispatchSetting) -> str:
    """Return what a cluster lacks; empty if it lacks nothing."""
    cluster, every = setting.cluster, setting.cluster.shocks_every
    if not all(group.speed for group in cluster.groups):
        return "nodes without speed"
    times = [time for each in cluster.failures for time in (each.down, each.up) if time is not None]
    shocked = every is not None and any(time > 0.0 and round(time / every) * every == time for time in times)
    # A cluster changes all nodes of an instant before it sends tasks; workers alone change one by one.
    if len(set(times)) < len(times) or shocked:
        return "failures that coincide with other changes, and take effect one by one"
    try:
        check_outages([each.outage() for each in cluster.failures], [1] * len(cluster.speeds()))
    except ValueError:
        return "outages of a node that overlap"
    return ""


def _timetable(cluster: DispatchClusterSpec, last: float, seed: int) -> WorkerTimetable:
    rng = np.random.default_rng([seed, 2])
    found = speed_changes(cluster.speeds(), cluster.shocks_every, cluster.drift, last, rng)
    for failure in cluster.failures:
        found += WorkerTimetable.failure(failure.worker, failure.down, failure.up)
    return found
