"""Speeds from the logarithms of durations: what one completion says, shrinkage, and a change that is noticed."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.dispatch.lib.ranking import speeds_at
from windlass.dispatch.policies.pull import Pull


def believed(policy):
    """Return the speeds as the policy computes them at its next choice."""
    for _ in range(2 * policy.workers):
        policy.arrived(float(policy.floats[0]) + 1.0)
        policy.choose(np.zeros(policy.workers, np.int64))
    at = speeds_at(policy.ints)
    return policy.floats[at : at + policy.workers].copy()


def make(workers=4):
    return Pull(workers, float(workers), rng=np.random.default_rng(1))


def complete(policy, rng, speeds, each, draw):
    for _ in range(each):
        for worker, speed in enumerate(speeds):
            size = draw(rng)
            policy.completed(worker, size, size / speed)


def test_one_completion_is_enough_where_durations_do_not_vary():
    policy = make()
    speeds = np.array([1.0, 20.0, 0.5, 2.0])
    complete(policy, None, speeds, 1, lambda _: 1.0)
    np.testing.assert_allclose(believed(policy), speeds, rtol=1e-12)


def unknown(policy, rng, speeds, each, draw):
    """Sizes that the policy does not know: it takes each task for one unit of work."""
    for _ in range(each):
        for worker, speed in enumerate(speeds):
            policy.completed(worker, 1.0, draw(rng) / speed)


def test_equal_workers_with_random_sizes_are_believed_almost_equal():
    policy, rng = make(32), np.random.default_rng(3)
    unknown(policy, rng, np.ones(32), 20, lambda rng: rng.standard_exponential())
    found = believed(policy)
    logs = np.log(found)
    # 20 completions each leave a standard deviation of 1.28 / √20 = 0.29 without shrinkage.
    assert logs.std() < 0.1
    # One common factor makes 640 tasks of total work 640 take as long as they took.
    assert found.mean() == pytest.approx(1.0, rel=0.15)


def test_heavy_tails_do_not_hide_the_speed_of_a_fast_worker():
    policy, rng = make(8), np.random.default_rng(4)
    speeds = np.array([1.0] * 7 + [20.0])
    unknown(policy, rng, speeds, 100, lambda rng: 1.0 + rng.pareto(1.5))
    found = believed(policy)
    assert found[7] / np.median(found[:7]) == pytest.approx(20.0, rel=0.2)


def test_a_change_of_speed_is_noticed_within_a_few_completions():
    policy, rng = make(8), np.random.default_rng(5)
    speeds = np.ones(8)
    unknown(policy, rng, speeds, 200, lambda rng: rng.standard_exponential())
    speeds[3] = 0.05
    unknown(policy, rng, speeds, 15, lambda rng: rng.standard_exponential())
    found = believed(policy)
    # A mean of 215 completions, of which 15 are slow, would be 0.8.
    assert found[3] / np.median(found) < 0.2


def test_a_worker_that_joins_is_believed_to_be_as_fast_as_the_mean_of_the_others():
    policy = make()
    complete(policy, None, np.array([1.0, 4.0, 1.0, 4.0]), 5, lambda _: 1.0)
    policy.left(1)
    policy.joined(1)
    np.testing.assert_allclose(believed(policy)[[0, 2, 3]], [1.0, 1.0, 4.0], rtol=1e-9)
    # The geometric mean of 1, 1 and 4.
    assert believed(policy)[1] == pytest.approx(4.0 ** (1 / 3))


def test_a_worker_that_is_silent_for_eight_mean_tasks_counts_as_half_as_fast():
    policy = make()
    complete(policy, None, np.array([1.0, 4.0, 1.0, 4.0]), 5, lambda _: 1.0)
    before = believed(policy)
    policy.completed(1, 0.0, 0.5)
    policy.completed(1, 0.0, 1.5)
    after = believed(policy)
    scale = after[0] / before[0]
    assert after[1] / scale == pytest.approx(4.0 / (1.0 + 2.0 * 4.0 * scale / 8.0))
    assert after[3] / after[0] == pytest.approx(4.0)


def test_seconds_that_were_reported_before_belong_to_the_task_that_ends_next():
    once, twice = make(), make()
    for policy in (once, twice):
        complete(policy, None, np.array([1.0, 4.0, 1.0, 4.0]), 20, lambda _: 1.0)
    once.completed(1, 1.0, 5.0)
    twice.completed(1, 0.0, 2.0)
    twice.completed(1, 1.0, 3.0)
    ratios = [speeds / speeds[0] for speeds in (believed(once), believed(twice))]
    np.testing.assert_allclose(*ratios)


def test_a_completion_without_work_or_duration_says_nothing():
    policy = make()
    complete(policy, None, np.array([1.0, 4.0, 1.0, 4.0]), 5, lambda _: 1.0)
    before = believed(policy)
    policy.completed(0, 0.0, 0.0)
    np.testing.assert_array_equal(believed(policy), before)
