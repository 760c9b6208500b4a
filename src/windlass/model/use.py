"""Resources that jobs use while they run, as a sequence of stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class UseStage:
    """The use of one stage of a job.

    Parameters
    ----------
    seconds
        Duration if the job does not share its cores, s.
    cpu
        CPU time that it then uses, in percent of the time of the job's cores.
    memory
        Memory that it uses, in percent of the job's request.
    parallel
        Whether all cores of the job work in the stage, or only one.
    tasks
        Number of tasks done in the stage.
    """

    seconds: float
    cpu: float
    memory: float = 0.0
    parallel: bool = True
    tasks: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class JobUse:
    """Resources that each job of a table uses.

    Parameters
    ----------
    job_class
        (n,) class of each job; jobs of one class are alike.
    memory
        (n,) requested memory, bytes.
    first
        (n + 1,) index of each job's first stage in the following columns, then the number of stages.
    until
        (m,) end of each stage, s after the job's start.
    cpu, used
        (m,) percent of the cores' time, and of the requested memory.
    parallel
        (m,) whether all cores work.
    tasks
        (m,) number of tasks.

    Examples
    --------
    >>> use = JobUse.of(["montage"], [8e9], [[UseStage(60.0, cpu=12.5, parallel=False), UseStage(40.0, cpu=90.0)]])
    >>> use.stages(0), use.until.tolist(), use.core_seconds(np.array([8])).tolist()
    (range(0, 2), [60.0, 100.0], [348.0])
    """

    job_class: tuple[str, ...]
    memory: _Floats
    first: _Ints
    until: _Floats
    cpu: _Floats
    used: _Floats
    parallel: NDArray[np.bool_]
    tasks: _Floats

    @classmethod
    def of(
        cls, job_class: Sequence[str], memory: Sequence[float], stages: Sequence[Sequence[UseStage]]
    ) -> JobUse:
        """Build from the stages of each job.

        Raises
        ------
        InputError
            A job has no stage, a number is out of bounds, or the arguments differ in length; names job, stage and
            number.
        """
        if not len(job_class) == len(memory) == len(stages):
            raise InputError(
                f"{len(job_class)} classes, {len(memory)} memories and stages of {len(stages)} jobs, "
                "expected equal counts"
            )
        for job, requested in enumerate(memory):
            _bounded(f"job {job}", "memory", requested, np.inf)
        for job, of_job in enumerate(stages):
            if not of_job:
                raise InputError(f"job {job} has no stage, expected at least one")
            for number, stage in enumerate(of_job):
                _check(f"job {job}, stage {number}", stage)
        every = [stage for of_job in stages for stage in of_job]
        ends = [np.cumsum([stage.seconds for stage in of_job]) for of_job in stages]
        return cls(
            tuple(job_class),
            np.asarray(memory, dtype=np.float64),
            np.concatenate(([0], np.cumsum([len(of_job) for of_job in stages]))).astype(np.int64),
            np.concatenate(ends) if ends else np.empty(0),
            np.array([stage.cpu for stage in every], dtype=np.float64),
            np.array([stage.memory for stage in every], dtype=np.float64),
            np.array([stage.parallel for stage in every], dtype=np.bool_),
            np.array([stage.tasks for stage in every], dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.job_class)

    def stages(self, job: int) -> range:
        """Return the indices of a job's stages."""
        return range(int(self.first[job]), int(self.first[job + 1]))

    def run(self) -> _Floats:
        """Return (n,) the run time of each job if it does not share its cores, s."""
        found: _Floats = self.until[self.first[1:] - 1]
        return found

    def core_seconds(self, cores: _Ints) -> _Floats:
        """Return (n,) the core-seconds that each job uses in total on this number of cores."""
        begins = np.concatenate(([0.0], self.until[:-1])) if len(self.until) else np.empty(0)
        begins[self.first[:-1]] = 0.0
        found: _Floats = np.add.reduceat((self.until - begins) * self.cpu / 100.0, self.first[:-1]) * cores
        return found


def _check(where: str, stage: UseStage) -> None:
    for name, most in (("seconds", np.inf), ("cpu", 100.0), ("memory", 100.0), ("tasks", np.inf)):
        _bounded(where, name, getattr(stage, name), most)


def _bounded(where: str, name: str, value: float, most: float) -> None:
    if not 0.0 <= value <= most or value == np.inf:
        raise InputError(f"{where}: {name} is {value}, which is out of bounds")
