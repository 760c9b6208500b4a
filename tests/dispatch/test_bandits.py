"""A bandit's estimate of a worker is a discounted sum, computed independently."""

import numpy as np
import pytest

from windlass.dispatch import POLICIES
from windlass.dispatch.lib.bandit import COMPLETIONS, SECONDS, WORK, arm

MEMORY = 8.0


@pytest.mark.parametrize("name", ["eps-greedy", "ucb"])
def test_completions_fade_geometrically(name):
    rng = np.random.default_rng(1)
    policy = POLICIES.make(name, np.random.default_rng(2), workers=2, memory=MEMORY)
    work, seconds = rng.uniform(0.5, 2.0, 40), rng.uniform(0.5, 2.0, 40)
    for one, other in zip(work, seconds, strict=True):
        policy.completed(1, one, other)
    weight = (1.0 - 1.0 / MEMORY) ** np.arange(39, -1, -1)
    own = policy.floats[int(arm.py_func(policy.ints, 1)) :]
    np.testing.assert_allclose(
        own[[WORK, SECONDS, COMPLETIONS]], [weight @ work, weight @ seconds, weight.sum()]
    )
    assert policy.rates[1] == pytest.approx((weight @ work) / (weight @ seconds))
    assert policy.rates[0] == np.inf
