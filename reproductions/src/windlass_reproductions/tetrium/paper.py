"""Hung, "Resource Scheduling in Geo-distributed Computing" (thesis, USC, 2017), chapter 4: Tetrium."""

from __future__ import annotations

import time

import numpy as np

from windlass.jit import prepare
from windlass.jit.compiled import functions_of
from windlass.place import POLICIES
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import PlaceView, Ready, Sites
from windlass.sim.fleet.run import place_kernels
from windlass_reproductions.reproduction import Notify, Reproduction, Row
from windlass_reproductions.tetrium import classes, delay_scheduling, gains, options
from windlass_reproductions.tetrium.examples import example_rows
from windlass_reproductions.tetrium.runs import Bench
from windlass_reproductions.tetrium.varied import sensitivity

_PARTS = (
    ("deployment", gains.deployment),
    ("mean response time", gains.average),
    ("order of tasks", options.ordering),
    ("drops of resources", options.dynamics),
    ("WAN budget and fairness", options.knobs),
    ("classes of jobs", classes.distribution),
    ("skewed sites", classes.skewed),
    ("other settings", sensitivity),
    ("delay scheduling", delay_scheduling.delay_scheduling_rows),
)


class TetriumPaper:
    """The worked examples, exactly, and Figures 4.7–4.20 in simulation."""

    name = "tetrium"
    title = "Tetrium: multi-resource scheduling across geo-distributed clusters (thesis, chapter 4)"

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run five seeds of 40 jobs, or three of 14 if ``quick``; intervals are 95 % over the seeds.

        Mean response times in the base setting use fifteen seeds in the full run.
        """
        prepare(
            [
                *place_kernels(),
                *(kernel for name in POLICIES.names() for kernel in functions_of(POLICIES.find(name))),
            ],
            lambda so_far: notify(f"compiling, {so_far.done} of {so_far.total} functions", 0.0),
        )
        notify("worked examples", 0.0)
        rows, pictures = [*example_rows(), *_speed()], []
        bench = Bench((1, 2, 3), 14) if quick else Bench((1, 2, 3, 4, 5), 40)
        for step, (label, part) in enumerate(_PARTS):
            notify(label, (step + 1) / (len(_PARTS) + 1))
            more, drawn = part(bench, quick)
            rows += more
            pictures += drawn
        return Reproduction(tuple(rows), tuple(pictures))


def _speed() -> list[Row]:
    """Return the rows on the time of one decision over 50 and 100 jobs, as in the thesis; the best of five runs."""
    found = []
    for jobs, paper in ((50, 0.95), (100, 2.0)):
        view = busy_view(jobs)
        policy = Tetrium()
        best = np.inf
        for _ in range(5):
            begun = time.perf_counter()
            policy.decide(view)
            best = min(best, time.perf_counter() - begun)
        what = f"Section 4.6.2, {jobs} jobs ordered and placed, s"
        found.append(Row(what, paper, float(best), None, "the machines differ, so there is no verdict"))
    return found


def busy_view(jobs: int, sites: int = 50, seed: int = 1) -> PlaceView:
    """Return a view of jobs that wait at sites, every third of them at a shuffle stage."""
    rng = np.random.default_rng(seed)
    slots = np.floor(25 * 200 ** rng.random(sites)).astype(np.int64)
    up, down = 100 * 20 ** rng.random((2, sites)) * 1e6 / 8
    here = rng.multinomial(400, rng.dirichlet(np.ones(sites)), jobs)
    shuffles = (np.arange(jobs) % 3 == 0).astype(np.int64)
    ready = Ready.of(
        shuffles,
        rng.uniform(2, 20, jobs),
        here * (1 - shuffles)[:, None],
        1e7,
        data=here * 1e7,
        waiting=np.full(jobs, 300),
        left=rng.integers(1, 5, jobs),
    )
    return PlaceView(0.0, Sites.of(slots, up, down), ready)
