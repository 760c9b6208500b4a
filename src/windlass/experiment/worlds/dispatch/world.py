"""Small tasks on many workers with queues: a policy chooses the worker of each task on arrival."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from windlass.dispatch import POLICIES
from windlass.experiment.dispatching import make_policy, simulate
from windlass.experiment.workloads.drift import drift, shocks
from windlass.experiment.worlds import Setting, World
from windlass.experiment.worlds.composition import Composition
from windlass.experiment.worlds.contents import Content, Contents
from windlass.experiment.worlds.dispatch.spec import DispatchClusterSpec, DispatchSetting
from windlass.experiment.worlds.dispatch.tasks import DispatchTasks, tasks_of
from windlass.io.traces.volatility import read_volatility
from windlass.jit import Kernel
from windlass.model.timetable import WorkerTimetable
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.metrics.workers import DispatchMetrics, dispatch_metrics
from windlass.sim.workers.part import kernels

_DRIFT_POINTS = 200


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
        """Return what a cluster lacks."""
        return Composition(
            None,
            "several schedulers of short tasks, and no changing speeds",
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
            count_sent=setting.count_sent,
            sizes_known=setting.sizes == "known",
            record=True,
            progress=lambda count: progress(count / workload.count),
        )
        return Outcome(
            seed=seed,
            metrics=dispatch_metrics(done),
            jobs=pl.DataFrame(
                {
                    "job": np.arange(len(done.response)) // workload.per_job,
                    "submit_s": done.submit,
                    "start_s": done.start,
                    "end_s": done.end,
                    "procs": np.ones(len(done.response), np.int64),
                    "worker": done.worker,
                }
            ),
            processors=len(speeds),
        )

    def _policy(self, setting: DispatchSetting, rng: np.random.Generator) -> Any:
        spec = setting.policies.dispatch
        return make_policy(spec.name, setting.cluster.speeds(), rng, **spec.parameters)


def _timetable(cluster: DispatchClusterSpec, last: float, seed: int) -> WorkerTimetable:
    speeds = cluster.speeds()
    found = WorkerTimetable.none()
    if cluster.shocks_every is not None:
        found += shocks(speeds, cluster.shocks_every, last, np.random.default_rng([seed, 2]))
    if cluster.drift is not None:
        scores = read_volatility(cluster.drift, _DRIFT_POINTS)
        found += drift(speeds, scores, max(last, 1e-9) / _DRIFT_POINTS)
    for failure in cluster.failures:
        found += WorkerTimetable.failure(failure.worker, failure.down, failure.up)
    return found
