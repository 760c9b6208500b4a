"""Planning problems of eight families, each drawn by a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.workloads.queries import drawn_queries, three_tiers
from windlass.plan import configurations

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_Pairs = tuple[list[_Floats], list[_Floats]]

#: Seeds to design with, and seeds to judge with.
DESIGN, JUDGED = 1_000, 2_000
#: Configurations of a query.
_MOST = 30


@dataclass(frozen=True, slots=True, eq=False)
class PlanningProblem:
    """Queries and capacities, as in :mod:`windlass.plan.functions`.

    Parameters
    ----------
    accuracy, demand
        (k,) accuracies and (k, L) demands of each query's configurations.
    capacity
        (L,) the capacity of each resource.
    """

    accuracy: list[_Floats]
    demand: list[_Floats]
    capacity: _Floats

    def __len__(self) -> int:
        return len(self.accuracy)

    def total(self, choices: _Ints) -> float:
        """Return the sum of accuracies of the running queries.

        >>> PlanningProblem([np.array([0.5, 0.75])] * 2, [np.ones((2, 1))] * 2, np.ones(1)).total(np.array([1, -1]))
        0.75
        """
        pairs = zip(self.accuracy, choices.tolist(), strict=True)
        return float(sum(own[choice] for own, choice in pairs if choice >= 0))


def _accuracies(rng: np.random.Generator, n: int, most: int = _MOST) -> list[_Floats]:
    return [np.sort(rng.uniform(0.05, 0.99, int(rng.integers(most // 2, most + 1)))) for _ in range(n)]


def _independent(rng: np.random.Generator, n: int) -> _Pairs:
    """Demands for eight resources that have nothing to do with accuracy."""
    accuracy = _accuracies(rng, n)
    return accuracy, [
        rng.uniform(0.05, 1.0, (len(own), 8)) * (rng.random((len(own), 8)) < 0.5) for own in accuracy
    ]


def _correlated(rng: np.random.Generator, n: int, resources: int) -> _Pairs:
    """Demands that grow with accuracy, at another rate for each query."""
    accuracy = _accuracies(rng, n)
    return accuracy, [
        own[:, None] ** rng.uniform(1.0, 4.0) * rng.uniform(0.7, 1.3, (len(own), resources))
        for own in accuracy
    ]


def _pareto(rng: np.random.Generator, n: int) -> _Pairs:
    """Demands for three resources with a heavy tail, larger for accurate configurations."""
    accuracy = _accuracies(rng, n)
    return accuracy, [
        own[:, None] * np.minimum(50.0, 0.1 * (1.0 + rng.pareto(1.2, (len(own), 3)))) for own in accuracy
    ]


def _opposed(rng: np.random.Generator, n: int) -> _Pairs:
    """Two resources: what a configuration saves of one it takes of the other; accurate ones are expensive on one."""
    accuracy = _accuracies(rng, n)
    demand = []
    for own in accuracy:
        part = rng.beta(0.5, 0.5, len(own))
        total = own ** rng.uniform(1.0, 3.0) * rng.uniform(0.8, 1.2, len(own))
        demand.append(np.stack([total * part, total * (1.0 - part)], axis=1))
    return accuracy, demand


def _coarse(rng: np.random.Generator, n: int) -> _Pairs:
    """Two to four configurations each, of which one takes a large part of three resources."""
    accuracy = [np.sort(rng.uniform(0.05, 0.99, int(rng.integers(2, 5)))) for _ in range(n)]
    return accuracy, [own[:, None] * rng.integers(1, 6, (len(own), 3)) * n / 20 for own in accuracy]


def _scaled(
    make: Callable[[np.random.Generator, int], _Pairs], least: float, most: float
) -> Callable[[int], PlanningProblem]:
    """Return a family whose capacities are between the least demand (0) and what all accurate ones request (1)."""

    def problem(seed: int) -> PlanningProblem:
        rng = np.random.default_rng([seed, 7])
        n = int(rng.integers(20, 101))
        accuracy, demand = make(rng, n)
        low = sum(rows[rows.sum(axis=1).argmin()] for rows in demand)
        high = sum(rows[own.argmax()] for own, rows in zip(accuracy, demand, strict=True))
        part = rng.uniform(least, most)
        capacity = low + part * (np.maximum(high, low) - low) if part >= 0 else (1.0 + part) * low
        return PlanningProblem(accuracy, demand, capacity * rng.uniform(0.9, 1.1, len(capacity)))

    return problem


def _tiers(seed: int) -> PlanningProblem:
    """Queries of all kinds on 20 cameras below a private cluster and a cloud."""
    rng = np.random.default_rng([seed, 7])
    tiers = three_tiers(20)
    names = [cluster.name for cluster in tiers.clusters[:20]]
    queries = drawn_queries(
        rng, names, int(rng.integers(20, 101)), ("tracker", "classifier", "counter", "plates")
    )
    found = [configurations(query, tiers) for query in queries]
    return PlanningProblem(
        [each.accuracy for each in found], [each.demand for each in found], tiers.capacity()
    )


FAMILIES: dict[str, Callable[[int], PlanningProblem]] = {
    "independent": _scaled(_independent, 0.1, 0.8),
    "correlated, one resource": _scaled(lambda rng, n: _correlated(rng, n, 1), 0.1, 0.8),
    "correlated, five resources": _scaled(lambda rng, n: _correlated(rng, n, 5), 0.1, 0.8),
    "Pareto demands": _scaled(_pareto, 0.1, 0.8),
    "anti-correlated": _scaled(_opposed, 0.1, 0.8),
    "few coarse": _scaled(_coarse, 0.1, 0.6),
    "overload": _scaled(lambda rng, n: _correlated(rng, n, 5), -0.7, -0.1),
    "tiers": _tiers,
}
