"""Random planning cases, and a plain version of the printed greedy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.experiment.workloads.queries import drawn_queries, three_tiers
from windlass.plan import configurations
from windlass.plan.lib.problem import ROOM, Problem

ALL_KINDS = ("tracker", "classifier", "counter", "plates")


@dataclass(frozen=True)
class Case:
    """Arguments of the functions on arrays."""

    accuracy: list
    demand: list
    capacity: np.ndarray

    @property
    def arrays(self):
        return self.accuracy, self.demand, self.capacity

    @property
    def problem(self) -> Problem:
        return Problem.of(*self.arrays)


def loose_case(seed: int, n: int, most: int = 30, resources: int = 8) -> Case:
    """Unstructured configurations: random accuracies, with demands that roughly increase with accuracy."""
    rng = np.random.default_rng(seed)
    accuracy, demand = [], []
    for _ in range(n):
        own = rng.uniform(0, 1, int(rng.integers(1, most + 1)))
        uses = rng.random((len(own), resources)) < 0.5
        worth = own[:, None] ** rng.uniform(0.5, 3)
        demand.append(rng.uniform(0.1, 1, uses.shape) * uses * worth)
        accuracy.append(own)
    total = sum(rows.max(axis=0) for rows in demand)
    return Case(accuracy, demand, total * rng.uniform(0.1, 0.7) * rng.uniform(0.6, 1.4, resources))


def tied_case(seed: int, most: int = 6) -> Case:
    """Accuracies and demands in eighths, and capacities in powers of two: ties are exact, and sums are not rounded.

    Queries differ in how many configurations they have and in which resources they use; some resources are not there,
    and some do not run short.
    """
    rng = np.random.default_rng(seed)
    n, resources = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    accuracy, demand = [], []
    for _ in range(n):
        k = int(rng.integers(0 if rng.random() < 0.1 else 1, most + 1))
        uses = rng.random(resources) < 0.7
        accuracy.append(rng.integers(0, 9, k) / 8)
        demand.append(rng.integers(0, 9, (k, resources)) / 8 * (rng.random((k, resources)) < 0.8) * uses)
    scarce = np.array([0.0, 0.5, 1.0, 2.0, 4.0, np.inf])
    capacity = rng.choice(scarce, resources, p=[0.04, 0.16, 0.3, 0.3, 0.12, 0.08])
    return Case(accuracy, demand, capacity)


def crowded_case(seed: int) -> Case:
    """Many configurations that differ in all demands, and little room: pairs of queries have to switch together."""
    rng = np.random.default_rng([1, seed])
    n, resources = int(rng.integers(3, 7)), int(rng.integers(1, 4))
    accuracy, demand = [], []
    for _ in range(n):
        k = int(rng.integers(3, 9))
        accuracy.append(np.append(0.0, rng.integers(0, 17, k) / 16))
        demand.append(np.vstack([np.zeros(resources), rng.integers(0, 9, (k, resources)) / 8]))
    return Case(accuracy, demand, rng.choice([1.0, 2.0], resources))


def tiered_case(seed: int, n: int, cameras: int = 20, kinds=ALL_KINDS) -> Case:
    """Queries on cameras below a private cluster and a cloud, with the capacities of the thesis."""
    tiers = three_tiers(cameras)
    names = [cluster.name for cluster in tiers.clusters[:cameras]]
    queries = drawn_queries(np.random.default_rng(seed), names, n, kinds)
    found = [configurations(query, tiers) for query in queries]
    return Case([each.accuracy for each in found], [each.demand for each in found], tiers.capacity())


def plain_greedy(
    problem: Problem, band: float, release: bool, plain: bool = False, each: float = ROOM
) -> np.ndarray:
    """Figure 5.13 line by line, with all configurations tried in each step.

    ``each`` is the capacity of a resource, and ``plain`` makes efficiency accuracy by cost.
    """
    n, start, columns = len(problem), problem.start, problem.columns
    own = problem.owners()
    keep = np.isfinite(problem.cost)
    for row in range(len(own)):
        others = slice(start[own[row]], start[own[row] + 1])
        least = problem.cost[others][problem.accuracy[others] >= problem.accuracy[row]].min()
        if band < np.inf and keep[row]:
            keep[row] = problem.cost[row] <= (band * least if least > 0 else 0.0)
    room = np.append(np.full(problem.resources, each), np.inf)
    choices = np.full(n, -1)

    def switch(i: int, row: int) -> None:
        if choices[i] >= 0:
            room[columns[i]] += problem.demand[start[i] + choices[i]]
        room[columns[i]] -= problem.demand[row]
        choices[i] = row - start[i]

    rows_of = [np.flatnonzero(keep & (own == i)) for i in range(n)]
    first = {
        i: rows[np.lexsort((-problem.accuracy[rows], problem.cost[rows]))] for i, rows in enumerate(rows_of)
    }
    for i in sorted((i for i in first if len(first[i])), key=lambda i: problem.cost[first[i][0]]):
        for row in first[i]:
            if (problem.demand[row] <= room[columns[i]]).all():
                switch(i, row)
                break
    while True:
        best = None
        for i in range(n):
            held = start[i] + choices[i] if choices[i] >= 0 else -1
            now, paid = (problem.accuracy[held], problem.cost[held]) if held >= 0 else (0.0, 0.0)
            left = room[columns[i]] + (problem.demand[held] if release and held >= 0 else 0.0)
            for row in first[i]:
                gain, more = problem.accuracy[row] - now, problem.cost[row] - paid
                if gain <= 0 or not (problem.demand[row] <= left).all():
                    continue
                efficiency = gain / more if held >= 0 and more > 0 else np.inf
                if plain:
                    cost = problem.cost[row]
                    efficiency = problem.accuracy[row] / cost if cost > 0 else np.inf
                key = (efficiency, gain + (held < 0))
                if best is None or key > best[0]:
                    best = (key, i, row)
        if best is None:
            return choices
        switch(best[1], best[2])
