"""Estimated compute times of tasks, for the simulator and for live engines: means of finished tasks."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.model.fleet import FleetJobs

_Floats = NDArray[np.float64]

#: Source of compute times that policies see: the mean of finished tasks, or the true values of the jobs.
Estimates = Literal["finished", "true"]
#: Assumed compute time of a task while none has finished, s.
AT_FIRST_S = 1.0


class Finished(NamedTuple):
    """Finished tasks, in total or by stage or job: the ``seconds`` that they computed, and the number of ``tasks``."""

    seconds: _Floats
    tasks: _Floats


def means_of_finished(stages: Finished, jobs: Finished, everywhere: Finished) -> _Floats:
    """Return the estimated compute time of a task of each stage.

    It is the mean of the stage's finished tasks; if the stage has none, of its job's finished tasks; if the job has
    none, of all finished tasks; if there are none, 1 s.

    Parameters
    ----------
    stages
        (K,) finished tasks of each stage.
    jobs
        (K,) finished tasks of each stage's job.
    everywhere
        () all finished tasks.

    Returns
    -------
    NDArray
        (K,) estimates, s.

    Source: Hung's thesis, Section 4.5, for the mean of the stage's finished tasks. The estimates of a stage without
    finished tasks are Windlass's.

    Examples
    --------
    >>> stages = Finished(np.array([6.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.0]))
    >>> jobs = Finished(np.array([6.0, 6.0, 0.0]), np.array([2.0, 2.0, 0.0]))
    >>> means_of_finished(stages, jobs, Finished(np.array(20.0), np.array(4.0))).tolist()
    [3.0, 3.0, 5.0]
    """
    means = np.full(len(stages.seconds), AT_FIRST_S)
    for seconds, tasks in (everywhere, jobs, stages):
        known = np.asarray(tasks) > 0.0
        means = np.where(known, seconds / np.maximum(tasks, 1.0), means)
    return means


class MeasuredDurations:
    """Estimates of compute times in a live engine, from its measurements.

    Parameters
    ----------
    jobs
        The workload.
    estimates
        ``finished``: :func:`means_of_finished`; ``true``: the true values of the jobs.

    Examples
    --------
    >>> from windlass.model.fleet import StageSpec
    >>> durations = MeasuredDurations(FleetJobs.of([0.0], [[StageSpec(9.0, here=(2,))]]), "finished")
    >>> durations.seconds().tolist()
    [1.0]
    >>> durations.take(0, 4.0)
    >>> durations.seconds().tolist()
    [4.0]
    """

    def __init__(self, jobs: FleetJobs, estimates: Estimates) -> None:
        self._jobs, self._true = jobs, estimates == "true"
        self._stages = Finished(*np.zeros((2, len(jobs.job))))
        self._of_jobs = Finished(*np.zeros((2, len(jobs))))
        self._all = Finished(*np.zeros((2, 1)))

    def take(self, stage: int, seconds: float) -> None:
        """Record that a task of a stage computed for ``seconds``; the value stays even if its output is lost."""
        job = int(self._jobs.job[stage])
        for finished, row in ((self._stages, stage), (self._of_jobs, job), (self._all, 0)):
            finished.seconds[row] += seconds
            finished.tasks[row] += 1.0

    def seconds(self) -> _Floats:
        """Return (K,) the estimated compute time of a task of each stage, s."""
        if self._true:
            return self._jobs.estimate_s
        own = self._jobs.job
        jobs = Finished(self._of_jobs.seconds[own], self._of_jobs.tasks[own])
        return means_of_finished(self._stages, jobs, self._all)
