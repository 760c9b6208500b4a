"""Planning of streaming queries: 40 to 640 queries of 300 configurations on 20 cameras, in three tiers.

The peers are HiGHS' branch and bound on the binary program, with a minute for each, and HiGHS on its linear relaxation,
which bounds every plan. Times are CPU seconds of this process. Further rows compare the accuracy of Windlass's plans
with the best that the peer found, and with the bound.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import TypeVar

import numpy as np
from scipy.optimize import linprog

from benchmarks.measure import Row
from windlass.experiment.workloads.queries import drawn_queries, three_tiers
from windlass.plan import configurations
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.program import Matrices, solve
from windlass.plan.lib.refine import refine

_T = TypeVar("_T")

_CAMERAS, _CONFIGURATIONS, _SECONDS = 20, 300, 60.0
_COUNTS = (40, 80, 160, 320, 640)


def drawn_problem(count: int, seed: int = 1) -> Problem:
    """Draw trackers and plate readers with at most 300 configurations each; capacities grow with their number."""
    scale = count / 40
    tiers = three_tiers(_CAMERAS, 2.0 * scale, 75e3 * scale, 8.0 * scale, 625e3 * scale, 48.0 * scale)
    names = [cluster.name for cluster in tiers.clusters[:_CAMERAS]]
    rng = np.random.default_rng(seed)
    accuracy, demand = [], []
    for query in drawn_queries(rng, names, count, ("tracker", "plates")):
        found = configurations(query, tiers)
        # A tracker has 3,000 configurations; one in ten is drawn.
        some = rng.choice(len(found), min(_CONFIGURATIONS, len(found)), replace=False)
        accuracy.append(found.accuracy[some])
        demand.append(found.demand[some])
    return Problem.of(accuracy, demand, tiers.capacity())


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    return [row for count in _COUNTS for row in _compared(count, repeats)]


def _compared(count: int, repeats: int) -> Iterator[Row]:
    print(f"plan: {count} queries …", file=sys.stderr, flush=True)
    problem = drawn_problem(count)
    ours: dict[str, Callable[[], tuple[int, float]]] = {
        "cascade": lambda: problem.score(greedy(problem, 2.0)),
        "refined": lambda: problem.score(refine(problem)[0]),
    }
    spent, solved = _timed(lambda: solve(problem, _SECONDS, 1e-4))
    bound_spent, bound = _timed(lambda: _bound(problem))
    best = float("nan") if solved is None else problem.score(solved.choices)[1]
    exact_name = "HiGHS, binary program" + (
        "" if solved is not None and solved.proven else f", stopped at {_SECONDS:g} s"
    )
    for name, run in ours.items():
        run()
        times = [_timed(run) for _ in range(repeats)]
        seconds, value = median(each for each, _ in times), times[0][1][1]
        for peer, took in ((exact_name, spent), ("HiGHS, relaxation", bound_spent)):
            ratios = sorted(took / each for each, _ in times)
            what = f"{name}: {count} queries, {len(problem.accuracy):,} configurations"
            yield Row(what, seconds, took, peer, "CPU s", median(ratios), ratios[0], ratios[-1])
        for peer, sum_of in ((exact_name, best), ("the relaxation's bound", bound)):
            ratio = value / sum_of
            yield Row(
                f"{name}: {count} queries, mean accuracy",
                value / count,
                sum_of / count,
                peer,
                "",
                *(ratio,) * 3,
            )


def _bound(problem: Problem) -> float:
    matrices = Matrices.of(problem)
    found = linprog(
        -problem.accuracy[matrices.rows],
        A_ub=matrices.demand,
        b_ub=np.ones(problem.resources),
        A_eq=matrices.choice,
        b_eq=np.minimum(1.0, matrices.choice.sum(axis=1)),
        bounds=(0, None),
        method="highs",
    )
    return float("nan") if found.x is None else -float(found.fun)


def _timed(what: Callable[[], _T]) -> tuple[float, _T]:
    begun = time.process_time()
    answer = what()
    return time.process_time() - begun, answer
