"""Choices of policies that see all queues, computed independently from their docstrings."""

import numpy as np
import pytest

from windlass.dispatch import POLICIES
from windlass.dispatch.lib.rated import first_to_serve

RATES = np.array([1.0, 2.0, 4.0, 0.5])


@pytest.mark.parametrize(
    ("name", "known", "cost"),
    [
        ("jsq", {"workers": 4}, lambda lengths: lengths),
        ("sed", {"rates": RATES}, lambda lengths: (lengths + 1) / RATES),
    ],
)
def test_the_worker_of_least_cost_is_chosen(name, known, cost):
    rng, policy = np.random.default_rng(1), POLICIES.make(name, np.random.default_rng(2), **known)
    for _ in range(300):
        lengths = rng.integers(0, 6, 4)
        chosen = policy.choose(lengths)
        assert cost(lengths)[chosen] == cost(lengths).min()


def test_ppot_ll_compares_expected_completion_times():
    policy = POLICIES.make("ppot-ll", np.random.default_rng(2), rates=RATES)
    rng = np.random.default_rng(3)
    for _ in range(300):
        lengths = rng.integers(0, 6, 4)
        one, other = rng.integers(0, 4, 2)
        sooner = (lengths[other] + 1) / RATES[other] < (lengths[one] + 1) / RATES[one]
        assert first_to_serve.py_func(other, one, lengths, policy.ints, policy.floats) == sooner
