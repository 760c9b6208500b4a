"""How far a job is in its stages, and what it has used up to there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model.use import JobUse
from windlass.share.usage import Reading

#: Seconds of run time by which a job may be before the end of a stage and have ended it all the same.
_ROUNDING = 1e-6


class JobStages:
    """The stages of one job, by how much of its run time is done.

    Parameters
    ----------
    use
        Of all jobs.
    row
        Which.
    cores
        How many it has.
    noise
        Standard deviation of what is measured of its tasks between two readings, as a part of it.
    rng
        Where that chance comes from.

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
        self._done = self._told = 0.0

    def cpu(self, done: float) -> float:
        """Percent of its cores' time that it wants, when so many seconds of its run time are done."""
        return float(self._cpu[self._stage(done)])

    def until(self, done: float) -> float:
        """How many will be when its present stage ends."""
        return float(self._until[self._stage(done)])

    def read(self, done: float, at: float, waited: float) -> Reading:
        """What can be read of it, at an instant, s; tasks are measured with noise, and never go back."""
        stage = self._stage(done)
        tasks = float(np.interp(done, self._ends, self._tasks))
        self._told += (tasks - self._done) * max(0.0, float(self._rng.normal(1.0, self._noise)))
        self._done = tasks
        return Reading(
            at,
            float(np.interp(done, self._ends, self._seconds)),
            float(self._memory[stage]),
            stage,
            bool(self._parallel[stage]),
            self._told,
            # Between two known points, interpolation may round to more than the later one.
            max(0.0, float(self._tasks[-1]) - tasks),
            waited,
        )

    def _stage(self, done: float) -> int:
        """The stage after those that are over, but for rounding; the last one when all are."""
        return min(int(np.searchsorted(self._until, done + _ROUNDING, side="right")), len(self._until) - 1)


def _summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate(([0.0], np.cumsum(values)))
