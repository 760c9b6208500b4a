"""The log's recorded schedule: its own waits, for comparison with replays."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from windlass.experiment.worlds.batch.jobs import jobs_table, site_metrics
from windlass.experiment.worlds.batch.spec import BatchSetting, factor_of
from windlass.io.traces import Workload
from windlass.results import Choice, Outcome
from windlass.results.metrics.site import PooledMetrics
from windlass.sim.site.result import Replay


class LoggedBatch:
    """The log's own schedule: see :class:`windlass.experiment.worlds.LoggedWorld`."""

    def outcome(self, setting: BatchSetting, seed: int, workload: Workload) -> Outcome | None:
        """Return the jobs with the waits and run times of the log; None if any wait is unknown.

        Jobs arrive as in the compared variants, so that each job can be compared with itself. If these are not the
        logged arrivals, or the site differs, utilisation and makespan have no meaning and are NaN.

        Examples
        --------
        >>> from pathlib import Path
        >>> from windlass.model import JobTable
        >>> tree = {"workload": {"trace": "log.swf"}, "policies": {"order": "easy"}}
        >>> jobs = JobTable.of(submit=[0, 5], run=[10, 5], procs=[1, 1])
        >>> found = Workload(jobs, 1, wait=np.array([0.0, 7.0]), logged_processors=1)
        >>> LoggedBatch().outcome(BatchSetting.model_validate(tree), 1, found).metrics.mean_wait_s
        3.5
        """
        wait, jobs = workload.wait, workload.jobs
        if wait is None or np.isnan(wait).any():
            return None
        start = jobs.submit + wait
        end = start + jobs.run
        metrics = site_metrics(workload, start, end, setting.starved_after)
        if not self.own(setting, workload):
            metrics = dataclasses.replace(metrics, utilisation=math.nan, makespan_s=math.nan)
        if setting.cluster.fitting.any:
            metrics = PooledMetrics.of(metrics)
        done = Replay(
            jobs, workload.processors, start, end, np.zeros(len(jobs), np.int64), ("as recorded in the log",)
        )
        table = jobs_table(done, workload.of, workload.ids)
        return Outcome(seed, metrics, table, workload.processors, calendar=workload.calendar)

    def own(self, setting: BatchSetting, workload: Workload) -> bool:
        """Return whether a variant has the log's site, arrivals and all its jobs, so that waits are comparable."""
        widest = setting.workload.widest
        whole = widest is None or widest >= workload.processors
        extra = setting.cluster.extra
        # If another site of the sweep has less of a resource, jobs are omitted here too.
        whole = whole and setting.cluster.fitting == extra
        for amount, request in ((extra.gpus, workload.gpus), (extra.memory, workload.memory)):
            # The logged site has at least the most that its jobs held at once.
            whole = whole and not (amount is not None and request is not None and amount < request.most)
        unscaled = setting.load is None or factor_of(setting.load) == 1
        same_arrivals = unscaled and setting.workload.shake == 0
        return whole and same_arrivals and workload.processors == workload.logged_processors

    def choices(self, setting: BatchSetting) -> tuple[Choice, ...]:
        """Return the policy of the logged system, if the scenario names it."""
        ran = setting.workload.ran
        return () if ran is None else (Choice("order", ran),)
