"""How long tasks are thought to compute, for the simulator and for live engines: means of what has finished."""

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
    """Tasks that have finished, of one thing or of each of many: ``seconds`` that they computed, and how many."""

    seconds: _Floats
    tasks: _Floats


def means_of_finished(stages: Finished, jobs: Finished, everywhere: Finished) -> _Floats:
    """Seconds that a task of each stage is thought to compute.

    That is the mean of the stage's finished tasks; before it has any, of its job's; before that, of all jobs'; and
    at the very first 1 s.

    Parameters
    ----------
    stages
        (K,) what has finished of each stage.
    jobs
        (K,) what has finished of each stage's job.
    everywhere
        () what has finished in all.

    Returns
    -------
    NDArray
        (K,) s.

    Source: Hung's thesis, section 4.5: durations by the stage's finished tasks. What stands in for them before there
    are any is ours.

    Examples
    --------
    >>> stages = Finished(np.array([6.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.0]))
    >>> jobs = Finished(np.array([6.0, 6.0, 0.0]), np.array([2.0, 2.0, 0.0]))
    >>> means_of_finished(stages, jobs, Finished(np.array(20.0), np.array(4.0))).tolist()
    [3.0, 3.0, 5.0]
    """
    found = np.full(len(stages.seconds), AT_FIRST_S)
    for seconds, tasks in (everywhere, jobs, stages):
        known = np.asarray(tasks) > 0.0
        found = np.where(known, seconds / np.maximum(tasks, 1.0), found)
    return found


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
    >>> told = Told(FleetJobs.of([0.0], [[StageSpec(9.0, here=(2,))]]), "finished")
    >>> told.seconds().tolist()
    [1.0]
    >>> told.take(0, 4.0)
    >>> told.seconds().tolist()
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
        for found, row in ((self._stages, stage), (self._of_jobs, job), (self._all, 0)):
            found.seconds[row] += seconds
            found.tasks[row] += 1.0

    def seconds(self) -> _Floats:
        """(K,) seconds that a task of each stage is thought to compute."""
        if self._true:
            return self._jobs.estimate_s
        own = self._jobs.job
        jobs = Finished(self._of_jobs.seconds[own], self._of_jobs.tasks[own])
        return means_of_finished(self._stages, jobs, self._all)
