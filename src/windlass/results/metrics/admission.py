"""Metrics of small tasks on nodes that reject some."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from windlass.model import InputError
from windlass.results import HIGHER, LOWER
from windlass.sim.telemetry.result import Observed
from windlass.sim.workers.result import Dispatched


@dataclass(frozen=True, slots=True)
class AdmissionMetrics:
    """Metrics of small tasks under admission.

    Parameters
    ----------
    tasks
        Number of counted tasks.
    mean_response_s, p99_response_s
        Response of jobs: time from arrival to the end of the last task, s. Jobs with a refused task have none.
    mean_wait_s
        Wait of tasks: time from arrival to start, s. Refused tasks have none.
    rejected_tasks
        Tasks that the first node chosen for them rejected. With late binding, which has no first choice: tasks that a
        node started although it rejected, as all nodes did. Refused tasks are among them.
    diverted_tasks
        Rejected tasks that ran on another node; the others stayed because all nodes rejected, or were refused. 0 with
        late binding.
    refused_tasks
        Counted tasks that all nodes rejected and that never ran.
    downtime
        Share of steps and present nodes at which a node rejected.
    mean_cpu_ready, p99_cpu_ready
        CPU Ready over steps and present nodes: time in which tasks were runnable without a core, over the time of all
        cores.
    utilisation
        Share of the cores' time that tasks and neighbours used.
    """

    tasks: int
    mean_response_s: float = field(metadata=LOWER)
    p99_response_s: float = field(metadata=LOWER)
    mean_wait_s: float = field(metadata=LOWER)
    rejected_tasks: int
    diverted_tasks: int
    refused_tasks: int = field(metadata=LOWER)
    downtime: float
    mean_cpu_ready: float = field(metadata=LOWER)
    p99_cpu_ready: float = field(metadata=LOWER)
    utilisation: float = field(metadata=HIGHER)


def admission_metrics(done: Dispatched, observed: Observed, warm: float = 0.0) -> AdmissionMetrics:
    """Return the metrics of a finished run.

    Parameters
    ----------
    done
        The tasks, with the worker, start and end of each (``record=True``).
    observed
        Telemetry and decisions of the nodes, until the last task arrived or ended.
    warm
        End of the warm-up, s: earlier arrivals of tasks and earlier steps are not counted.

    Raises
    ------
    InputError
        All tasks arrive before ``warm``.

    Examples
    --------
    >>> from windlass.dispatch import simulate
    >>> from windlass.sim.telemetry.answers import Counts
    >>> done = simulate("jsq", [1.0, 1.0], load=0.5, tasks=100, seed=1, record=True)
    >>> seen = Observed(np.full((4, 2, 5), 0.25), np.zeros((4, 2), bool), Counts(90, 8, 2), 1.0)
    >>> found = admission_metrics(done, seen)
    >>> found.rejected_tasks, found.diverted_tasks, found.downtime, found.mean_cpu_ready
    (10, 8, 0.0, 0.25)
    """
    counted = done.submit >= warm
    if not counted.any():
        raise InputError(
            f"warm is {warm:g} s, but the last task arrives at {done.submit[-1]:g} s: choose a smaller warm-up"
        )
    jobs = done.job_response[counted[:: len(counted) // len(done.job_response)]]
    jobs, waits = jobs[~np.isnan(jobs)], (done.start - done.submit)[counted & ~done.refused]
    observed = observed.since(warm)
    ready, busy = (observed.of(channel)[observed.present] for channel in ("ready", "busy"))
    known = ready.size > 0
    return AdmissionMetrics(
        tasks=int(counted.sum()),
        mean_response_s=float(jobs.mean()) if jobs.size else np.nan,
        p99_response_s=float(np.percentile(jobs, 99)) if jobs.size else np.nan,
        mean_wait_s=float(waits.mean()) if waits.size else np.nan,
        rejected_tasks=observed.tasks.rejected,
        diverted_tasks=observed.tasks.diverted,
        refused_tasks=int(done.refused[counted].sum()),
        downtime=observed.downtime,
        mean_cpu_ready=float(ready.mean()) if known else np.nan,
        p99_cpu_ready=float(np.percentile(ready, 99)) if known else np.nan,
        utilisation=float(busy.mean()) if known else np.nan,
    )
