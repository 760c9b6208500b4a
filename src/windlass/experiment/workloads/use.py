"""Drawing what jobs use of what they were given, from laws fitted to jobs that were measured alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import JobTable
from windlass.model.use import JobUse, UseStage

#: Beta laws fitted by maximum likelihood to 56 jobs that were measured alone on a GPU (Lucid, ASPLOS 2023): the part of
#: its time that each kept busy, and the part of its 24 GB that it held.
CPU_LAW = (0.952, 1.095)
MEMORY_LAW = (5.743, 37.07)
#: Jobs of one class differ by so much, as a standard deviation of the part of the time that they are busy.
_WITHIN = 0.05
#: Of what a job asks of memory it uses so much: people leave some room.
_ASKED = 0.9
_TASKS = 200


@dataclass(frozen=True, slots=True)
class UseLaw:
    """How uses are drawn.

    Parameters
    ----------
    cpu, memory
        Two parameters of a Beta law each: what a class of jobs uses of its cores' time, and of their memory.
    sequential
        The largest share of its run time in which a class keeps one core busy only; it is uniform from 0. Nothing was
        measured of this.
    memory_per_core
        Bytes.
    """

    cpu: tuple[float, float] = CPU_LAW
    memory: tuple[float, float] = MEMORY_LAW
    sequential: float = 0.4
    memory_per_core: float = 4e9


def draw_use(jobs: JobTable, classes: NDArray[np.int64], law: UseLaw, rng: np.random.Generator) -> JobUse:
    """What each job uses: much the same for jobs of one class.

    A job has one to four stages, sequential ones and parallel ones in turn; together they use what was drawn, as far as
    its parallel stages can. A sequential stage holds half of the memory.

    Parameters
    ----------
    jobs
        Whose stages take as long as they run.
    classes
        (n,) the class of each, such as its user.
    law
        What to draw from.
    rng
        All chance.

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
    asked = memory[of] * law.memory_per_core * jobs.procs / _ASKED
    return JobUse.of([str(names[each]) for each in of], asked.tolist(), stages)


def _stages(run: float, procs: int, cpu: float, sequential: float, turns: int) -> list[UseStage]:
    if procs == 1 or sequential == 0.0:
        return [UseStage(run, 100.0 * cpu, 100.0 * _ASKED, True, _TASKS)]
    one = 1.0 / procs
    rest = min(1.0, max(0.01, (cpu - sequential * one) / (1.0 - sequential)))
    alone = UseStage(run * sequential / turns, 100.0 * one, 50.0 * _ASKED, False, _TASKS * sequential / turns)
    together = UseStage(
        run * (1.0 - sequential) / turns,
        100.0 * rest,
        100.0 * _ASKED,
        True,
        _TASKS * (1.0 - sequential) / turns,
    )
    return [alone, together] * turns
