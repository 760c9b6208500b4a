"""The first and last steps of refining a plan, each alone: the start of rounding, and the returned choices."""

import warnings

import numpy as np
import pytest

from windlass.plan.lib.merge import _parts
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.refine import _improved, _rounded


def problem_of(sizes, capacity):
    accuracy = [np.linspace(0.3, 0.9, size) for size in sizes]
    return Problem.of(accuracy, [np.arange(1.0, size + 1.0)[:, None] for size in sizes], [capacity])


@pytest.mark.parametrize("seed", range(5))
def test_rounding_takes_the_largest_fraction_and_the_first_of_equals(seed):
    rng, sizes = np.random.default_rng(seed), [1, 4, 2, 5, 3]
    share = rng.integers(0, 3, sum(sizes)) / 2.0
    parts = np.split(share, np.cumsum(sizes)[:-1])
    want = [each.tolist().index(max(each)) for each in parts]
    assert _rounded(problem_of(sizes, 1000.0), share).tolist() == want


def test_rounding_fails_without_configurations_or_if_the_cheapest_do_not_fit():
    assert _rounded(problem_of([2, 2], 1.5), np.array([1.0, 0.0, 1.0, 0.0])) is None
    small = problem_of([2, 2], 10.0).only(np.array([True, True, False, False]))
    assert _rounded(small, np.array([1.0, 0.0])) is None


def test_improvement_needs_a_sweep_and_picks_the_best_that_fit():
    small = problem_of([1, 3, 2], 1000.0)
    for choices in ([0, 2, 1], [0, -1, 0], [-1, 0, -1]):
        assert _improved(small, np.array(choices), 0).tolist() == choices
    assert _improved(small, np.array([0, 0, 0]), 20).tolist() == [0, 2, 1]


def test_parts_of_zero_demand_are_0_and_zero_capacity_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = _parts(np.array([[0.0, 1.0, 3.0, 0.0]]), np.array([0.0, 0.0, 2.0, 4.0]))
    assert found.tolist() == [[0.0, np.inf, 1.5, 0.0]]
