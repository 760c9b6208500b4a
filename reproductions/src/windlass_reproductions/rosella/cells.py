"""Settings of dispatch that are drawn by a seed, so that some can be used to design a policy and others to judge it.

The grid of :mod:`windlass_reproductions.rosella.grid` has exponential sizes, 32 workers and a free fetch. A cell here
has any of four distributions of sizes, seven sets of speeds, three numbers of workers, bursts, late queue lengths,
fetch delays and shocks. Times are in units of a mean task on a mean worker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.dispatching import make_policy, simulate
from windlass.experiment.workloads.arrivals import Bursty
from windlass.experiment.workloads.drift import shocks
from windlass.experiment.workloads.service import Pareto
from windlass.model.timetable import WorkerTimetable

Floats = NDArray[np.float64]

SIZES = ("fixed", "exponential", "pareto", "recorded")
LOADS = (0.5, 0.7, 0.8, 0.9)
#: A job of one task is drawn twice as often as each other number.
PER_JOB = (1, 1, 3, 4, 16)
#: Age of queue lengths, and how long a fetch takes. Half of all cells have queue lengths without age.
LATENESS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.01, 0.05, 0.1, 0.2, 0.5)
FETCHES = (0.0, 0.01, 0.05, 0.2)
#: Time between permutations of all speeds; 0 for none.
SHOCKS = (0.0, 0.0, 0.0, 200.0, 1000.0)
_BURSTS = 0.2
_WARM_UP = 0.1


def _classes(workers: int) -> Floats:
    return np.repeat([0.2, 0.5, 1.0, 1.5], workers // 4)


def _two(workers: int) -> Floats:
    fast = workers // 8
    return np.repeat([1.0, 6.0], [workers - fast, fast])


def _one_fast(speed: float) -> Callable[[int], Floats]:
    return lambda workers: np.repeat([1.0, speed], [workers - 1, 1])


#: Speeds of a number of workers, work/s.
SPEEDS: dict[str, Callable[[int], Floats]] = {
    "equal": np.ones,
    "four classes": _classes,
    "two classes": _two,
    "1/k": lambda workers: 1.0 / np.arange(1, workers + 1),
    "uniform": lambda workers: np.random.default_rng(5).uniform(0.2, 1.8, workers),
    "one of 20": _one_fast(20.0),
    "one of 100": _one_fast(100.0),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A setting; times in units of a mean task on a mean worker.

    Attributes
    ----------
    sizes
        One of ``SIZES``.
    speeds
        A key of ``SPEEDS``.
    workers, schedulers, per_job
        Numbers of workers, schedulers and tasks per job.
    load
        Arriving work over the rate of all workers.
    bursts
        Whether jobs arrive in bursts, five times as fast as on average during a tenth of the time.
    lateness
        Age of the queue lengths and reports that schedulers see.
    fetch
        How long a worker waits for a task that it requests.
    shocks
        Time between permutations of all speeds; 0 for none.
    """

    sizes: str
    speeds: str
    workers: int
    load: float
    per_job: int
    bursts: bool
    schedulers: int
    lateness: float
    fetch: float
    shocks: float

    def words(self) -> str:
        """Return the setting as the first columns of a row of Markdown."""
        more = [f"queues {self.lateness:g} late"] * (self.lateness > 0.0)
        more += [f"fetch {self.fetch:g}"] * (self.fetch > 0.0)
        more += [f"shocks every {self.shocks:g}"] * (self.shocks > 0.0)
        more += ["bursts"] * self.bursts
        numbers = f"{self.workers} | {self.load:g} | {self.per_job} | {self.schedulers}"
        return f"{self.sizes} | {self.speeds} | {numbers} | {', '.join(more)}"


def draw_cells(seed: int, count: int) -> list[Cell]:
    """Draw settings.

    >>> draw_cells(1, 3) == draw_cells(1, 4)[:3] != draw_cells(2, 3)
    True
    """
    rng = np.random.default_rng(seed)
    return [
        Cell(
            sizes=str(rng.choice(SIZES)),
            speeds=str(rng.choice(list(SPEEDS))),
            workers=int(rng.choice([8, 32, 300], p=[0.35, 0.5, 0.15])),
            load=float(rng.choice(LOADS)),
            per_job=int(rng.choice(PER_JOB)),
            bursts=bool(rng.random() < _BURSTS),
            schedulers=int(rng.choice([1, 8])),
            lateness=float(rng.choice(LATENESS)),
            fetch=float(rng.choice(FETCHES)),
            shocks=float(rng.choice(SHOCKS)),
        )
        for _ in range(count)
    ]


@dataclass(frozen=True, slots=True)
class Contender:
    """A policy with its parameters; ``label`` is how the table names it."""

    label: str
    policy: str
    parameters: tuple[tuple[str, float | bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """Mean and 99th percentile of the response of jobs, s, without the first tenth."""

    mean: float
    p99: float


def sizes_of(kind: str, tasks: int, seed: int, recorded: Floats) -> Floats:
    """Return the work of each task for one of ``SIZES``; ``recorded`` has the work of recorded tasks."""
    rng = np.random.default_rng([seed, 77])
    if kind == "fixed":
        return np.ones(tasks)
    if kind == "exponential":
        return rng.standard_exponential(tasks)
    return Pareto(1.5).sizes(tasks, rng) if kind == "pareto" else rng.choice(recorded, tasks)


def response(contender: Contender, cell: Cell, tasks: int, seed: int, recorded: Floats) -> Response:
    """Simulate a policy in a cell; it knows neither speeds nor sizes, and counts what it sent since the last report.

    Parameters
    ----------
    contender
        The policy.
    cell
        The setting.
    tasks
        Number of tasks, rounded down to whole jobs.
    seed
        Draws the workload, and the policy's random numbers.
    recorded
        Work of recorded tasks, from which tasks are drawn if the cell has recorded sizes.
    """
    speeds = SPEEDS[cell.speeds](cell.workers)
    unit = 1.0 / float(speeds.mean())
    whole = max(1, tasks // cell.per_job) * cell.per_job
    timetable = WorkerTimetable.none()
    if cell.shocks:
        # The time until the last arrival, and some more for what waits then.
        until = 1.1 * whole / (cell.load * float(speeds.sum()))
        timetable = shocks(speeds, cell.shocks * unit, until, np.random.default_rng([seed, 9]))
    policy = make_policy(
        contender.policy, speeds, np.random.default_rng([seed, 8]), **dict(contender.parameters)
    )
    done = simulate(
        policy,
        speeds,
        cell.load,
        whole,
        seed,
        arrivals=Bursty(5.0, 0.1, 500.0) if cell.bursts else "poisson",
        service=sizes_of(cell.sizes, whole, seed, recorded),
        tasks_per_job=cell.per_job,
        timetable=timetable,
        schedulers=cell.schedulers,
        probe_delay=cell.lateness * unit,
        fetch_delay=cell.fetch * unit,
        count_sent=True,
        samples=0,
    )
    found = done.job_response[int(len(done.job_response) * _WARM_UP) :]
    return Response(float(found.mean()), float(np.percentile(found, 99.0)))
