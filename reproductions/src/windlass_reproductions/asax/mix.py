"""The 45 jobs of Section 4.4: four programs with the run times, CPU and memory use of Table 2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.experiment.workloads.measured import FITTED_TO_HALF, LEFT_OUT_FACTORS, OVERESTIMATES
from windlass.experiment.worlds.sharing.simulation import SharingCase
from windlass.model import JobTable
from windlass.model.use import JobUse, UseStage
from windlass.share.interference import Interference
from windlass.sim.shares.neighbours import NeighbourSpeeds

#: Bytes of memory per core, on the 288 cores of the paper's system (Section 4.1).
MEMORY_PER_CORE = 1.11e12 / 288
CORES = (64, 128, 256)
_WIDTHS = (8, 16, 32, 64)
_TASKS = 200.0
_FACTORS = 1000


@dataclass(frozen=True, slots=True)
class Program:
    """A program of Section 4.2, with its measurements under Slurm from Table 2.

    Parameters
    ----------
    name
        Name of the program.
    hours, spread, cpu, memory
        For each size of the cluster: mean run time, h; standard deviation over widths as a fraction of the mean;
        percentages of the allocated CPU and memory that are used.
    stages
        Whether each stage is parallel. The paper gives the number of stages of each kind, not their lengths.
    sequential
        Fraction of the run time in sequential stages; chosen here, as the paper does not give it.
    widths
        Processors of each job.
    """

    name: str
    hours: tuple[float, float, float]
    spread: tuple[float, float, float]
    cpu: tuple[float, float, float]
    memory: tuple[float, float, float]
    stages: tuple[bool, ...]
    sequential: float
    widths: tuple[int, ...] = _WIDTHS


PROGRAMS = (
    Program(
        "montage",
        (0.35, 0.32, 0.29),
        (0.04, 0.04, 0.04),
        (45.0, 33.0, 21.0),
        (10.0, 7.0, 5.0),
        (True, False, True, False),
        0.3,
    ),
    Program(
        "blast",
        (0.71, 0.72, 0.70),
        (0.21, 0.22, 0.21),
        (96.0, 95.0, 91.0),
        (44.0, 45.0, 42.0),
        (True, False),
        0.02,
    ),
    Program(
        "statistics",
        (0.69, 0.70, 0.72),
        (0.10, 0.10, 0.10),
        (26.0, 16.0, 10.0),
        (5.0, 1.0, 1.0),
        (False, True, False, True),
        0.4,
    ),
    Program(
        "synthetic",
        (0.49, 0.50, 0.48),
        (0.15, 0.15, 0.14),
        (99.0, 99.0, 99.0),
        (95.0, 93.0, 92.0),
        (False, True),
        0.01,
        (16, 32, 64),
    ),
)


@dataclass(frozen=True, slots=True)
class _Job:
    program: Program
    cores: int
    hours: float
    stages: tuple[UseStage, ...]
    memory: float


def draw_mix(size: int, rng: np.random.Generator, times: int = 3, gap: float = 0.0) -> SharingCase:
    """Draw the jobs of one run: the fifteen jobs, ``times`` times, each time in random order.

    Parameters
    ----------
    size
        Processors of the cluster, one of :data:`CORES`.
    rng
        Source of the order, the requested walltimes, and the interference of each pair of programs.
    times
        How often the fifteen jobs are submitted.
    gap
        Seconds between two submissions of the fifteen; 0 for all at once.

    Examples
    --------
    >>> case = draw_mix(64, np.random.default_rng(1))
    >>> len(case.jobs), int(case.jobs.procs.sum()), case.use.job_class.count("synthetic")
    (45, 1416, 9)
    """
    fifteen = [_job(program, cores, CORES.index(size)) for program in PROGRAMS for cores in program.widths]
    jobs = [fifteen[place] for _ in range(times) for place in rng.permutation(len(fifteen))]
    run = np.array([3600.0 * job.hours for job in jobs])
    table = JobTable.of(
        submit=gap * np.repeat(np.arange(times), len(fifteen)),
        run=run,
        procs=[job.cores for job in jobs],
        request=run * OVERESTIMATES.draw(len(jobs), rng),
    )
    use = JobUse.of(
        [job.program.name for job in jobs], [job.memory for job in jobs], [job.stages for job in jobs]
    )
    factors = LEFT_OUT_FACTORS.draw(_FACTORS, rng)
    physics = NeighbourSpeeds(Interference(*FITTED_TO_HALF), use, factors, int(rng.integers(1 << 31)))
    return SharingCase(table, size, use, physics, MEMORY_PER_CORE)


def _job(program: Program, cores: int, at: int) -> _Job:
    # Run times are evenly spaced over the widths, with the standard deviation of the table.
    place = program.widths.index(cores) - (len(program.widths) - 1) / 2
    steps = np.arange(len(program.widths)) - (len(program.widths) - 1) / 2
    hours = program.hours[at] * (1.0 - program.spread[at] * place / float(steps.std()))
    cpu, sequential = program.cpu[at], program.sequential
    busy = min(100.0, (cpu - sequential * 100.0 / cores) / (1.0 - sequential))
    parts = {True: (1.0 - sequential, busy), False: (sequential, 100.0 / cores)}
    stages = []
    for parallel in program.stages:
        part, wants = parts[parallel]
        part /= program.stages.count(parallel)
        stages.append(UseStage(3600.0 * hours * part, wants, 100.0, parallel, _TASKS * part))
    return _Job(program, cores, hours, tuple(stages), program.memory[at] / 100.0 * cores * MEMORY_PER_CORE)
