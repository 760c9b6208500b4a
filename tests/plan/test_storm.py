"""VideoStorm and fair parts, against plain versions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan import plain
from tests.plan.cases import tied_case
from windlass.plan import PlanView, QueryOptions, fair, videostorm
from windlass.plan.policies.videostorm import Videostorm


@pytest.fixture(autouse=True)
def _exact_capacities(monkeypatch):
    for name in ("storm", "fair", "problem"):
        monkeypatch.setattr(f"windlass.plan.lib.{name}.ROOM", 1.0)


def placed_case(seed):
    """A tied case in which plans have several placements: equal accuracy and cores, on other resources."""
    case, rng = tied_case(seed, most=4), np.random.default_rng(seed)
    accuracy, demand = [], []
    for own, rows in zip(case.accuracy, case.demand, strict=True):
        other = np.stack([rng.permutation(row) for row in rows]) if len(rows) else rows
        accuracy.append(np.concatenate([own, own]))
        demand.append(np.concatenate([rows, other]))
    return accuracy, demand, case.capacity


def test_plans_and_placements_equal_the_plain_version():
    for seed in range(120):
        accuracy, demand, capacity = placed_case(seed)
        cores = None if seed % 3 == 0 else list(range(0, len(capacity), 2))
        work = [rows[:, slice(None) if cores is None else cores].sum(axis=1) for rows in demand]
        problem = plain.Problem.of(accuracy, demand, capacity)
        expected = plain.stormed(problem, np.concatenate(work), np.random.default_rng(seed))
        found = videostorm(accuracy, demand, capacity, np.random.default_rng(seed), cores)
        assert found.tolist() == expected, seed


def test_the_policy_counts_resources_named_cores():
    differs = 0
    for seed in range(20):
        accuracy, demand, capacity = placed_case(seed)
        names = tuple(f"at.{'cores' if at % 2 else 'up'}" for at in range(len(capacity)))
        queries = tuple(
            QueryOptions(i, f"q{i}", *both) for i, both in enumerate(zip(accuracy, demand, strict=True))
        )
        plan = Videostorm(np.random.default_rng(1)).decide(PlanView(0.0, names, capacity, queries))
        odd = list(range(1, len(capacity), 2))
        given = videostorm(accuracy, demand, capacity, np.random.default_rng(1), odd).tolist()
        assert list(plan.choices) == given
        differs += given != videostorm(accuracy, demand, capacity, np.random.default_rng(1)).tolist()
    assert differs


def test_fair_parts_equal_the_plain_version():
    for seed in range(150):
        case = tied_case(seed)
        assert fair(*case.arrays).tolist() == plain.fair_parts(case.problem), seed
