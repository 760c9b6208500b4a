"""Workers that pull beside all who are not told rates, in every cell of a grid, sizes of tasks hidden."""

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
    Beside,
    Contender,
    SpeedSet,
    sparrow_row,
    speed_sets,
)

OURS = Contender("pull", "pull")
_BLIND = ("least-outstanding", "jsq", "pot", "uniform", "round-robin")
RIVALS = (ROSELLA, ROSELLA_ALL, *LEARNERS, SPARROW, *(Contender(name, name) for name in _BLIND))
#: How far behind the best ours may be: what was asked of it.
CLOSE = 1.05
_EQUAL = SpeedSet("equal", np.ones(32))


@dataclass(frozen=True, slots=True)
class Place:
    """One cell: speeds, load, tasks a job, schedulers, how old their view is, s, and s between shocks (0: none)."""

    speeds: SpeedSet
    load: float
    per_job: int
    schedulers: int
    delay: float
    shocks: float

    def words(self) -> str:
        """The setting, as it is printed."""
        often = f"shocks every {self.shocks:g} s" if self.shocks else "no shocks"
        return (
            f"{self.speeds.name}, load {self.load}, {self.per_job} tasks a job, {self.schedulers} schedulers, "
            f"queues as of {self.delay:g} s ago, {often}"
        )

    def seconds(self, quick: bool) -> float:
        """How long tasks come: several shocks, and 600 s at least."""
        return 200.0 if quick else max(600.0, 2.5 * self.shocks)


@dataclass(frozen=True, slots=True)
class Found:
    """(s,) mean responses of jobs in a cell, by seed, s: ours, the best of the others, Rosella, Sparrow."""

    place: Place
    ours: NDArray[np.float64]
    best: NDArray[np.float64]
    who: str
    rosella: NDArray[np.float64]
    sparrow: NDArray[np.float64]

    @property
    def ratio(self) -> float:
        """Ours over the best of the others."""
        return float(self.ours.mean() / self.best.mean())

    @property
    def close(self) -> Within:
        """That ours is no further behind than was asked."""
        return Within(over(self.ours - CLOSE * self.best), high=0.0)

    def words(self) -> str:
        """The cell as it is printed."""
        return f"{self.place.words()}: {self.ours.mean():.3g} s, {self.who} {self.best.mean():.3g} s, {self.ratio:.2f}"


def places(quick: bool) -> Iterator[Place]:
    """The cells of the grid."""
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
    """Mean response of jobs, s, the first tenth left out; no policy is told sizes or changes of speed."""
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


def cell(place: Place, quick: bool) -> Found:
    """Ours and the best of the others in one cell, the same workloads for all."""
    seeds = (1, 2, 3)

    def of(contender: Contender) -> NDArray[np.float64]:
        return np.array([response(contender, place, place.seconds(quick), seed) for seed in seeds])

    rivals = {rival.label: of(rival) for rival in RIVALS}
    who = min(rivals, key=lambda label: float(rivals[label].mean()))
    return Found(place, of(OURS), rivals[who], who, rivals[ROSELLA.label], rivals[SPARROW.label])


def rows(found: Sequence[Found]) -> tuple[Row, ...]:
    """A row for all cells together, with those in which ours loses, and one for each speed set and tasks a job."""
    lost = sorted((each for each in found if each.close.holds is False), key=lambda each: -each.ratio)
    close = sum(each.close.holds is True for each in found)
    rule = f"holds where it is at most {CLOSE} times the best in each cell (95 % interval over seeds)"
    made = [
        Row.by(
            f"pull within {CLOSE - 1:.0%} of the best of {len(RIVALS)} policies that are not told rates, {len(found)} "
            "cells, sizes hidden",
            None,
            f"{close} of {len(found)} cells, {len(lost)} not",
            Judged(tuple(each.close for each in found), rule),
            "the best is chosen cell by cell, after the runs"
            + ("; loses in: " + "; ".join(each.words() for each in lost) if lost else ""),
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
    # The paper speaks of workers that are not alike.
    unlike = [each for each in found if np.ptp(each.place.speeds.speeds) > 0.0]
    for per_job in dict.fromkeys(each.place.per_job for each in unlike):
        own = [each for each in unlike if each.place.per_job == per_job]
        beside = [Beside(each.place.words(), each.rosella, each.sparrow) for each in own]
        made.append(
            sparrow_row(beside, f"jobs of {per_job} tasks, batch sampling and late binding, sizes hidden")
        )
    return tuple(made)


def against_best(quick: bool) -> Reproduction:
    """The whole grid."""
    return Reproduction(rows([cell(place, quick) for place in places(quick)]), ())
