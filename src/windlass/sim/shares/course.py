"""The progress of a job through its stages, and its use of resources up to there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model.use import JobUse
from windlass.share.usage import Reading

#: Run time before the end of a stage, s, within which the stage counts as ended.
_ROUNDING = 1e-6


class JobStages:
    """The stages of one job, as functions of the run time that is done.

    Parameters
    ----------
    use
        Resource use of all jobs.
    row
        Row of the job.
    cores
        Number of cores that the job has.
    noise
        Relative standard deviation of the tasks measured between two readings.
    rng
        Random numbers for that noise.

    Examples
    --------
    >>> from windlass.model.use import UseStage
    >>> use = JobUse.of(["montage"], [8e9], [[UseStage(60.0, 25.0, memory=10.0), UseStage(40.0, 75.0, memory=50.0)]])
    >>> course = JobStages(use, 0, cores=4, noise=0.0, rng=np.random.default_rng(1))
    >>> course.cpu(60.0), course.until(60.0), course.read(80.0, at=99.0, waited=0.0).cpu
    (75.0, 100.0, 120.0)
    """

    def __init__(self, use: JobUse, row: int, cores: int, noise: float, rng: np.random.Generator) -> None:
        stages = use.stages(row)
        part = slice(stages.start, stages.stop)
        self._until, self._cpu, self._parallel = use.until[part], use.cpu[part], use.parallel[part]
        lengths = np.diff(self._until, prepend=0.0)
        self._ends = np.concatenate(([0.0], self._until))
        self._seconds = _summed(lengths * self._cpu / 100.0 * cores)
        self._tasks = _summed(use.tasks[part])
        self._memory = np.maximum.accumulate(use.used[part]) / 100.0 * float(use.memory[row])
        self._noise, self._rng = noise, rng
        self._done = self._measured = 0.0

    def cpu(self, done: float) -> float:
        """Return the share of its cores' time that the job wants, %, after ``done`` seconds of run time."""
        return float(self._cpu[self._stage(done)])

    def until(self, done: float) -> float:
        """Return the run time that will be done at the end of the current stage, s."""
        return float(self._until[self._stage(done)])

    def read(self, done: float, at: float, waited: float) -> Reading:
        """Return a measurement; its number of tasks is noisy, but never decreases."""
        stage = self._stage(done)
        tasks = float(np.interp(done, self._ends, self._tasks))
        self._measured += (tasks - self._done) * max(0.0, float(self._rng.normal(1.0, self._noise)))
        self._done = tasks
        return Reading(
            at,
            float(np.interp(done, self._ends, self._seconds)),
            float(self._memory[stage]),
            stage,
            bool(self._parallel[stage]),
            self._measured,
            # Interpolation may round to a value above the last point.
            max(0.0, float(self._tasks[-1]) - tasks),
            waited,
        )

    def _stage(self, done: float) -> int:
        """Return the first stage that has not ended, but for rounding; the last one if all have."""
        return min(int(np.searchsorted(self._until, done + _ROUNDING, side="right")), len(self._until) - 1)


def _summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate(([0.0], np.cumsum(values)))
