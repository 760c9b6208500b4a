"""No plan is better than the bound, and the bound equals that of the linear program."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from windlass.plan.bound import mean_bound


def drawn(seed):
    """Up to four queries of up to four configurations over two or three resources."""
    rng = np.random.default_rng(seed)
    n, width = rng.integers(1, 5), rng.integers(1, 4)
    sizes = rng.integers(1, 5, n)
    accuracy = [np.round(rng.random(size), 2) for size in sizes]
    demand = [np.round(rng.random((size, width)) * rng.integers(0, 2, (size, width)), 2) for size in sizes]
    return accuracy, demand, np.round(rng.random(width) + 0.1, 2)


def best(accuracy, demand, capacity):
    """Return the best mean over all plans, including queries that do not run."""
    found = 0.0
    for choice in itertools.product(*(range(-1, len(each)) for each in accuracy)):
        requested = sum(
            (rows[j] for rows, j in zip(demand, choice, strict=True) if j >= 0), np.zeros(len(capacity))
        )
        if (requested <= capacity + 1e-12).all():
            found = max(found, sum(own[j] for own, j in zip(accuracy, choice, strict=True) if j >= 0))
    return found / len(accuracy)


def program(accuracy, demand, capacity):
    """The relaxation with all configurations that fit alone, dominated or not."""
    rows = [(i, j) for i, own in enumerate(demand) for j in range(len(own)) if (own[j] <= capacity).all()]
    if not rows:
        return 0.0
    one = np.array([[float(i == query) for i, _ in rows] for query in range(len(accuracy))])
    requested = np.array([demand[i][j] for i, j in rows]).T
    found = linprog(
        [-accuracy[i][j] for i, j in rows],
        A_ub=np.vstack([one, requested]),
        b_ub=np.concatenate([np.ones(len(one)), capacity]),
        bounds=(0, 1),
    )
    return -found.fun / len(accuracy)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_the_bound_equals_the_program_s_and_is_above_every_plan(seed):
    case = drawn(seed)
    bound = mean_bound(*case)
    assert bound == pytest.approx(program(*case), abs=1e-7)
    assert bound >= best(*case) - 1e-7


def test_the_bound_without_feasible_queries_is_0():
    assert mean_bound([], [], [1.0]) == 0.0
    assert mean_bound([[0.9]], [[[2.0]]], [1.0]) == 0.0
