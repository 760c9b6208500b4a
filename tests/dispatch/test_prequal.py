"""Prequal with many workers, compared with a plain version: a full pool, the limit of uses, long queues."""

from __future__ import annotations

import random

import numpy as np
import plain_policies as plain
import pytest

from windlass.dispatch import POLICIES
from windlass.dispatch.policies.prequal import uses_of
from windlass.dispatch.state import RNG

WORKERS = 40


@pytest.mark.parametrize(
    ("probes", "hot", "age", "longest"),
    [(3, 2.0**-0.25, 10.0, 4), (5, 0.5, 1e9, 100), (4, 0.0, 3.0, 8), (3, 0.9, 1e9, 1)],
)
def test_every_choice_is_that_of_a_plain_version(probes, hot, age, longest):
    steps = random.Random(probes)
    policy = POLICIES.make(
        "prequal", np.random.default_rng(3), workers=WORKERS, probes=probes, hot=hot, max_age=age, memory=4.0
    )
    uses = uses_of(WORKERS, probes)
    twin = plain.Prequal(WORKERS, int(policy.ints[RNG]), probes, uses, hot, age)
    now, full, used_up = 0.0, 0, 0
    for _ in range(800):
        now += steps.choice([0.0, 0.1, 0.5, 2.0])
        lengths = [1 + steps.randrange(longest + 1) for _ in range(WORKERS)]
        for each in (policy, twin):
            each.arrived(now)
        assert policy.choose(np.array(lengths)) == twin.choose(lengths)
        full += len(twin.pool) == 16
        used_up += any(probe[2] == uses - 1 for probe in twin.pool)
        if steps.random() < 0.5:
            worker, seconds = steps.randrange(WORKERS), steps.choice([0.5, 1.0, 4.0])
            for each in (policy, twin):
                each.completed(worker, 1.0, seconds)
        if steps.random() < 0.1:
            worker, change = steps.randrange(WORKERS), steps.choice(["left", "joined", "joined"])
            for each in (policy, twin):
                getattr(each, change)(worker)
    assert full > 100 or age < 1e9
    assert used_up > 100


def test_a_hot_worker_is_chosen_only_if_all_are_hot():
    # Worker 1 answers ten times as fast, and has most of the tasks in flight.
    policy = POLICIES.make("prequal", np.random.default_rng(1), workers=3, probes=12, hot=0.5, max_age=1e9)
    for worker, seconds in enumerate((1.0, 0.1, 2.0)):
        policy.completed(worker, 1.0, seconds)
    chosen = []
    for _ in range(50):
        policy.arrived(1.0)
        chosen.append(policy.choose(np.array([2, 9, 2])))
    assert set(chosen[1:]) == {0}
