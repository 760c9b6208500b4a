"""Policy ``pull`` compared with all policies without known rates, in every cell of a grid, task sizes hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.dispatching import make_policy, simulate
from windlass.experiment.workloads.drift import shocks
from windlass.model.timetable import WorkerTimetable
from windlass_reproductions.criteria import Judged, Within, over
from windlass_reproductions.reproduction import Reproduction, Row
from windlass_reproductions.rosella.table import (
    LEARNERS,
    ROSELLA,
    ROSELLA_ALL,
    SPARROW,
    AgainstSparrow,
    Contender,
    SpeedSet,
    sparrow_row,
    speed_sets,
)

OURS = Contender("pull", "pull")
_BLIND = ("least-outstanding", "jsq", "pot", "uniform", "round-robin")
RIVALS = (ROSELLA, ROSELLA_ALL, *LEARNERS, SPARROW, *(Contender(name, name) for name in _BLIND))
#: Target: the mean response of ``pull`` is at most this multiple of the best other policy's.
CLOSE = 1.05
_EQUAL = SpeedSet("equal", np.ones(32))


@dataclass(frozen=True, slots=True)
class Place:
    """One cell of the grid: the setting of a comparison.

    ``per_job`` is the number of tasks per job, ``delay`` the age of the queue lengths that schedulers see, s, and
    ``shocks`` the time between permutations of the speeds, s (0: none).
    """

    speeds: SpeedSet
    load: float
    per_job: int
    schedulers: int
    delay: float
    shocks: float

    def words(self) -> str:
        """Return the setting as text."""
        often = f"shocks every {self.shocks:g} s" if self.shocks else "no shocks"
        return (
            f"{self.speeds.name}, load {self.load}, {self.per_job} tasks a job, {self.schedulers} schedulers, "
            f"queue lengths {self.delay:g} s old, {often}"
        )

    def seconds(self, quick: bool) -> float:
        """Return the time during which tasks arrive, s: 200 if ``quick``, else several shocks, at least 600."""
        return 200.0 if quick else max(600.0, 2.5 * self.shocks)


@dataclass(frozen=True, slots=True)
class CellResult:
    """Mean responses of jobs in a cell, each (s,) by seed, s: ``pull``, the best other policy, Rosella, Sparrow."""

    place: Place
    ours: NDArray[np.float64]
    best: NDArray[np.float64]
    best_policy: str
    rosella: NDArray[np.float64]
    sparrow: NDArray[np.float64]

    @property
    def ratio(self) -> float:
        """Mean response of ``pull`` over that of the best other policy."""
        return float(self.ours.mean() / self.best.mean())

    @property
    def close(self) -> Within:
        """The claim that ``pull`` is within the target."""
        return Within(over(self.ours - CLOSE * self.best), high=0.0)

    def words(self) -> str:
        """Return the cell and its results as text."""
        means = f"{self.ours.mean():.3g} s, {self.best_policy} {self.best.mean():.3g} s"
        return f"{self.place.words()}: {means}, {self.ratio:.2f}"


def places(quick: bool) -> Iterator[Place]:
    """Yield the cells of the grid."""
    sets = (_EQUAL, *speed_sets())
    yield from (
        Place(*cell[:3], *cell[3], cell[4])
        for cell in product(
            sets[:2] if quick else sets,
            (0.8,) if quick else (0.5, 0.8, 0.9),
            (1, 16) if quick else (1, 4, 16),
            ((1, 0.0), (8, 0.5)) if quick else ((1, 0.0), (8, 0.0), (1, 0.5), (8, 0.5), (32, 0.5)),
            (0.0, 50.0) if quick else (0.0, 50.0, 200.0, 500.0, 2000.0),
        )
    )


def response(contender: Contender, place: Place, seconds: float, seed: int) -> float:
    """Return the mean response of jobs, s, without the first tenth; no policy knows sizes or changes of speed."""
    speeds = place.speeds.speeds
    tasks = max(10, int(place.load * speeds.sum() * seconds) // place.per_job) * place.per_job
    timetable = WorkerTimetable.none()
    if place.shocks:
        timetable = shocks(speeds, place.shocks, seconds, np.random.default_rng([seed, 9]))
    policy = make_policy(
        contender.policy, speeds, np.random.default_rng([seed, 8]), **dict(contender.parameters)
    )
    done = simulate(
        policy,
        speeds,
        place.load,
        tasks,
        seed=seed,
        timetable=timetable,
        samples=0,
        schedulers=place.schedulers,
        probe_delay=place.delay,
        tasks_per_job=place.per_job,
        sizes_known=False,
    )
    return float(done.job_response[len(done.job_response) // 10 :].mean())


def cell(place: Place, quick: bool) -> CellResult:
    """Run all policies in one cell on the same workloads."""
    seeds = (1, 2, 3)

    def of(contender: Contender) -> NDArray[np.float64]:
        return np.array([response(contender, place, place.seconds(quick), seed) for seed in seeds])

    rivals = {rival.label: of(rival) for rival in RIVALS}
    best = min(rivals, key=lambda label: float(rivals[label].mean()))
    return CellResult(place, of(OURS), rivals[best], best, rivals[ROSELLA.label], rivals[SPARROW.label])


def rows(found: Sequence[CellResult]) -> tuple[Row, ...]:
    """Return a row for all cells, which lists the failing ones, and one for each speed set and tasks per job."""
    lost = sorted((each for each in found if each.close.holds is False), key=lambda each: -each.ratio)
    close = sum(each.close.holds is True for each in found)
    rule = f"holds if it is at most {CLOSE} times the best in each cell (95 % interval over seeds)"
    made = [
        Row.by(
            f"pull within {CLOSE - 1:.0%} of the best of {len(RIVALS)} policies without known rates, {len(found)} "
            "cells, sizes hidden",
            None,
            f"holds in {close} of {len(found)} cells, fails in {len(lost)}",
            Judged(tuple(each.close for each in found), rule),
            "the best is chosen cell by cell, after the runs"
            + ("; fails in: " + "; ".join(each.words() for each in lost) if lost else ""),
        )
    ]
    for name, per_job in dict.fromkeys((each.place.speeds.name, each.place.per_job) for each in found):
        own = [each for each in found if (each.place.speeds.name, each.place.per_job) == (name, per_job)]
        made.append(
            Row.by(
                f"{name}, {per_job} tasks a job: pull's mean response over the best other's, worst of {len(own)} cells",
                None,
                max(each.ratio for each in own),
                Judged(tuple(each.close for each in own), rule),
                "; ".join(each.words() for each in own),
            )
        )
    # The paper's claim is about workers of different speeds.
    unlike = [each for each in found if np.ptp(each.place.speeds.speeds) > 0.0]
    for per_job in dict.fromkeys(each.place.per_job for each in unlike):
        own = [each for each in unlike if each.place.per_job == per_job]
        pairs = [AgainstSparrow(each.place.words(), each.rosella, each.sparrow) for each in own]
        made.append(
            sparrow_row(pairs, f"jobs of {per_job} tasks, batch sampling and late binding, sizes hidden")
        )
    return tuple(made)


def against_best(quick: bool) -> Reproduction:
    """Compare ``pull`` with all other policies over the whole grid."""
    return Reproduction(rows([cell(place, quick) for place in places(quick)]), ())
