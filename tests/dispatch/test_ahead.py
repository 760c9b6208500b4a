"""When a busy worker requests a task ahead: the rule, compared with SciPy's distributions, and what it brings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from plain_pull import pays as pays_by_scipy

from windlass.dispatch import simulate
from windlass.dispatch.lib.ahead import least_drain, pays
from windlass.dispatch.policies.pull import Pull
from windlass.model.timetable import WorkerTimetable


@given(
    held=some.integers(1, 12),
    drain=some.floats(0.0, 40.0) | some.just(math.inf),
    share=some.floats(0.0, 8.0),
)
def test_the_rule_equals_that_of_poisson_and_gamma_distributions(held, drain, share):
    if pays_by_scipy(held, drain, share * (1 - 1e-9)) == pays_by_scipy(held, drain, share * (1 + 1e-9)):
        assert bool(pays.py_func(held, drain, share)) == pays_by_scipy(held, drain, share)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.2, 1.0, 3.0])
def test_the_least_drain_is_where_the_rule_changes(share):
    least = least_drain.py_func(share)
    assert pays.py_func(1, least * (1 + 1e-6) + 1e-6, share)
    if least > 0.0:
        assert not pays.py_func(1, least * (1 - 1e-6), share)


def test_nothing_is_requested_ahead_if_that_saves_less_than_a_hundredth_of_a_task():
    assert least_drain.py_func(0.0) == least_drain.py_func(0.01) == math.inf
    assert not pays.py_func(1, math.inf, 0.01)
    assert pays.py_func(1, math.inf, 0.02)


def test_a_worker_that_requests_tasks_ahead_is_not_idle_between_them():
    """With one worker, 100 tasks and a fetch as long as a task, only the first request would have to be waited for."""
    done = simulate("pull", [1.0], tasks=100, arrivals=np.zeros(100), service=np.ones(100), fetch_delay=1.0)
    # Without requests ahead, each of 99 tasks would begin a second after the one before it has ended: 199 s.
    assert done.response.max() < 110.0


def test_an_idle_worker_receives_a_task_without_a_fetch():
    done = simulate(
        "pull", [1.0, 1.0], tasks=2, arrivals=[0.0, 9.0], service=np.ones(2), fetch_delay=0.5, record=True
    )
    assert done.start.tolist() == [0.0, 9.0]


def without_benchmarks(*speeds):
    return Pull(len(speeds), sum(speeds), rng=np.random.default_rng(1), probe_share=0.0)


def test_a_slow_worker_takes_a_task_that_fast_ones_would_start_late():
    """Of 14 tasks of 1 s, a worker of speed 10 runs the first ones before one of speed 1 would have ended them."""
    # With two tasks at the beginning, each worker completes one, and its speed is known.
    arrivals = np.r_[0.0, np.arange(399.0), np.full(14, 400.0)]
    policy = without_benchmarks(10.0, 1.0)
    done = simulate(
        policy, [10.0, 1.0], tasks=414, arrivals=arrivals, service=np.ones(414), sizes_known=True, record=True
    )
    assert np.flatnonzero(done.worker[400:] == 1).tolist() == [9]
    assert done.response[400:409] == pytest.approx(np.arange(1, 10) / 10)


def test_a_worker_that_comes_back_is_offered_the_tasks_that_wait():
    arrivals = np.r_[np.arange(200.0), 500.0, 500.0, 500.0]
    away, policy = WorkerTimetable.failure(0, 450.0, 501.0), without_benchmarks(10.0, 0.1)
    done = simulate(
        policy,
        [10.0, 0.1],
        tasks=203,
        arrivals=arrivals,
        service=np.ones(203),
        timetable=away,
        sizes_known=True,
        record=True,
    )
    # The slow worker is alone and takes one at once; the others wait for the fast one.
    assert sorted(done.start[200:]) == pytest.approx([500.0, 501.0, 501.1])
