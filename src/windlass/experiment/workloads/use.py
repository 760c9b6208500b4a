"""Random resource use of jobs, from distributions fitted to jobs that were measured alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import JobTable
from windlass.model.use import JobUse, UseStage

#: Beta distributions fitted by maximum likelihood to 56 jobs measured alone on a GPU (Lucid, ASPLOS 2023): the share of
#: time for which each kept it busy, and the share of its 24 GB of memory.
CPU_LAW = (0.952, 1.095)
MEMORY_LAW = (5.743, 37.07)
#: Standard deviation between jobs of one class, of the share of time for which they are busy.
_WITHIN = 0.05
#: Share of the requested memory that a job uses, as users leave some room.
_REQUESTED = 0.9
_TASKS = 200


@dataclass(frozen=True, slots=True)
class UseLaw:
    """Distributions of resource use.

    Parameters
    ----------
    cpu, memory
        Two parameters of a Beta distribution each: a class's use of its cores' time, and of their memory.
    sequential
        The largest share of its run time in which a class keeps only one core busy; the share is uniform from 0. This
        is an assumption without measurements.
    memory_per_core
        Memory of a core, bytes.
    """

    cpu: tuple[float, float] = CPU_LAW
    memory: tuple[float, float] = MEMORY_LAW
    sequential: float = 0.4
    memory_per_core: float = 4e9


def draw_use(jobs: JobTable, classes: NDArray[np.int64], law: UseLaw, rng: np.random.Generator) -> JobUse:
    """Draw each job's resource use, which is similar for jobs of one class.

    A job has one to four stages, alternately sequential and parallel; together they have the drawn use, as far as the
    parallel stages allow. A sequential stage holds half of the memory.

    Parameters
    ----------
    jobs
        The jobs; the stages of each take its run time.
    classes
        (n,) the class of each, such as its user.
    law
        The distributions.
    rng
        The random generator.

    Examples
    --------
    >>> jobs = JobTable.of(submit=[0, 0], run=[60, 90], procs=[8, 1])
    >>> use = draw_use(jobs, np.array([7, 7]), UseLaw(), np.random.default_rng(1))
    >>> use.job_class, use.run().tolist()
    (('7', '7'), [60.0, 90.0])
    """
    names, of = np.unique(classes, return_inverse=True)
    cpu = rng.beta(*law.cpu, len(names))
    memory = rng.beta(*law.memory, len(names))
    sequential = rng.uniform(0.0, law.sequential, len(names))
    own = np.clip(cpu[of] + rng.normal(0.0, _WITHIN, len(jobs)), 0.01, 1.0)
    turns = rng.integers(1, 3, len(jobs))
    stages = [
        _stages(run, procs, own[row], sequential[of[row]], int(turns[row]))
        for row, (run, procs) in enumerate(zip(jobs.run.tolist(), jobs.procs.tolist(), strict=True))
    ]
    request = memory[of] * law.memory_per_core * jobs.procs / _REQUESTED
    return JobUse.of([str(names[each]) for each in of], request.tolist(), stages)


def _stages(run: float, procs: int, cpu: float, sequential: float, turns: int) -> list[UseStage]:
    if procs == 1 or sequential == 0.0:
        return [UseStage(run, 100.0 * cpu, 100.0 * _REQUESTED, True, _TASKS)]
    one = 1.0 / procs
    rest = min(1.0, max(0.01, (cpu - sequential * one) / (1.0 - sequential)))
    alone = UseStage(
        run * sequential / turns, 100.0 * one, 50.0 * _REQUESTED, False, _TASKS * sequential / turns
    )
    together = UseStage(
        run * (1.0 - sequential) / turns,
        100.0 * rest,
        100.0 * _REQUESTED,
        True,
        _TASKS * (1.0 - sequential) / turns,
    )
    return [alone, together] * turns
