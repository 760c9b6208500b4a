"""The explainer of the world of one cluster: it repeats a run, and records what concerns one job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from windlass.experiment.worlds.cluster.build import run_cluster
from windlass.experiment.worlds.cluster.draw import ClusterArrivals
from windlass.experiment.worlds.cluster.explain.batch import BatchRecorder
from windlass.experiment.worlds.cluster.explain.queries import QueryRecorder
from windlass.experiment.worlds.cluster.explain.recorder import JobOfRun, JobRecorder
from windlass.experiment.worlds.cluster.explain.staged import StagedRecorder
from windlass.experiment.worlds.cluster.explain.tasks import TaskRecorder
from windlass.experiment.worlds.cluster.explain.vectors import VectorRecorder
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.model import InputError
from windlass.report.history import ExplainedHistory

#: The recorder of each kind of load.
_RECORDERS: Final[Mapping[str, Callable[[JobOfRun], JobRecorder]]] = {
    "rigid": BatchRecorder,
    "queries": QueryRecorder,
    "staged": StagedRecorder,
    "tasks": TaskRecorder,
    "vectors": VectorRecorder,
}


class ClusterExplainer:
    """Repeats a run of a cluster, see :class:`windlass.experiment.worlds.Explainer`.

    Watches that read the state are added to the run, and do not change it.
    """

    def explained(
        self, setting: ClusterSetting, seed: int, workload: ClusterArrivals, row: dict[str, Any]
    ) -> ExplainedHistory:
        """Explain the job with this row of the table.

        Raises
        ------
        InputError
            The scenario has no load of the row's name, or loads of this kind have no explanation.
        """
        recorder = recorder_of(setting, workload, row)
        done = run_cluster(setting, seed, workload, lambda share: None, recorder)
        return ExplainedHistory(recorder.history(done))


def recorder_of(setting: ClusterSetting, arrivals: ClusterArrivals, row: Mapping[str, Any]) -> JobRecorder:
    """Return the recorder for a job, see :meth:`ClusterExplainer.explained`."""
    load = setting.loads.get(row["load"])
    if load is None or load.kind not in _RECORDERS:
        raise InputError(f"load {row['load']!r}: its jobs have no explanation")
    return _RECORDERS[load.kind](JobOfRun(setting, arrivals, row))
