"""Tasks that are sent at once because fetches would cost more: the rule, and what the simulator does with them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.dispatch import simulate
from windlass.dispatch.lib.learner import MEAN_WORK
from windlass.dispatch.lib.sending import SENDS, decide
from windlass.dispatch.lib.speeds import ALARM, MEMORY, VARIANCE
from windlass.dispatch.policies.pull import Pull
from windlass.dispatch.state import NOW
from windlass.experiment.workloads.drift import shocks


def sends(per_job, share, spread, sizes=(1.0,), workers=4, speed=3.0):
    """Return whether a policy sends tasks, with a fetch of this share of a mean task on a mean worker."""
    policy = Pull(workers, rng=np.random.default_rng(1))
    for place, size in enumerate(sizes):
        policy.completed(place % workers, size, size / speed)
    policy.floats[VARIANCE] = spread**2
    # Long after fetches last cost less.
    policy.floats[NOW] = 1e9
    fetch = share * policy.floats[MEAN_WORK] / speed
    decide(fetch, speed * workers, workers, per_job, policy.ints, policy.floats)
    memory, alarm = policy.floats[MEMORY], policy.floats[ALARM]
    assert (memory, alarm) == ((40.0, 4.0) if policy.ints[SENDS] else (200.0, 8.0))
    return bool(policy.ints[SENDS])


@given(st.floats(1.0, 100.0), st.floats(0.0, 3.0), st.floats(0.0, 2.0), st.integers(1, 8))
def test_tasks_are_sent_if_the_fetches_of_a_job_cost_more_than_sizes_vary(per_job, share, spread, workers):
    margin = (math.sqrt(per_job) - 1.0) * share - 0.1 - spread
    if abs(margin) > 1e-6:
        assert sends(per_job, share, spread, workers=workers) == (margin > 0.0)


def test_jobs_of_one_task_are_never_sent():
    assert not sends(1.0, 1e6, 0.0)


def test_known_sizes_that_vary_count_as_spread():
    unequal = (0.5, 1.5) * 20
    # Their standard deviation is half of their mean.
    assert sends(4.0, 0.59, 0.0)
    assert not sends(4.0, 0.59, 0.0, unequal)
    assert sends(4.0, 0.61, 0.0, unequal)


def test_without_workers_nothing_is_sent():
    policy = Pull(2, rng=np.random.default_rng(1))
    decide(1.0, 0.0, 0, 16.0, policy.ints, policy.floats)
    assert policy.ints[SENDS] == 0


def test_tasks_are_sent_once_fetches_have_cost_more_for_32_mean_tasks():
    policy = Pull(4, rng=np.random.default_rng(1))
    now, pace = 100.0, 3.0 / policy.floats[MEAN_WORK]

    def sends_at(after, share):
        policy.floats[NOW] = now + after / pace
        decide(share / pace, 12.0, 4, 4.0, policy.ints, policy.floats)
        return bool(policy.ints[SENDS])

    assert not sends_at(0.0, 0.0)
    assert [sends_at(after, 0.5) for after in (0.1, 31.9, 32.1)] == [False, False, True]
    assert not sends_at(33.0, 0.0)
    assert [sends_at(after, 0.5) for after in (34.0, 64.9, 65.1)] == [False, False, True]


def test_no_task_is_sent_to_a_worker_that_was_fast_until_a_moment_ago():
    policy, speeds = Pull(32, rng=np.random.default_rng(2)), np.repeat([1.0, 100.0], [31, 1])
    rng = np.random.default_rng(3)
    sizes = np.exp(0.7 * rng.standard_normal(24_000))
    done = simulate(
        policy, speeds, 0.7, 24_000, 11, service=sizes / sizes.mean(), tasks_per_job=16, fetch_delay=0.05,
        timetable=shocks(speeds, 20.0, 300.0, rng), count_sent=True, samples=0,
    )  # fmt: skip
    assert np.percentile(done.job_response, 99.9) < 30.0


def run(fetch, *, late=True, per_job=4, schedulers=1, delay=0.0, service="fixed", tasks=4000):
    policy = Pull(8, rng=np.random.default_rng(2), late=late)
    speeds = np.repeat([0.5, 1.0, 2.0, 4.0], 2)
    return simulate(
        policy, speeds, 0.7, tasks, 3, service=service, tasks_per_job=per_job, fetch_delay=fetch,
        schedulers=schedulers, probe_delay=delay, count_sent=True, samples=0, record=True,
    )  # fmt: skip


@pytest.mark.parametrize(("schedulers", "delay"), [(1, 0.0), (4, 0.05)])
def test_tasks_of_equal_sizes_take_as_long_as_without_late_binding(schedulers, delay):
    at_once = run(0.4, late=False, schedulers=schedulers, delay=delay)
    sent = run(0.4, schedulers=schedulers, delay=delay)
    assert sent.job_response.mean() == pytest.approx(at_once.job_response.mean(), rel=0.03)
    # A fetch of a task that varies in size is not avoided.
    free, fetched = (run(fetch, service="exponential").job_response.mean() for fetch in (0.0, 0.4))
    assert fetched > 1.1 * free


@settings(deadline=None, max_examples=20)
@given(
    fetch=st.sampled_from([0.1, 0.4, 1.0]),
    per_job=st.sampled_from([1, 4, 16]),
    schedulers=st.sampled_from([1, 3]),
    delay=st.sampled_from([0.0, 0.3]),
    service=st.sampled_from(["fixed", "exponential"]),
)
def test_every_task_runs_once_and_alone(fetch, per_job, schedulers, delay, service):
    done = run(fetch, per_job=per_job, schedulers=schedulers, delay=delay, service=service, tasks=320)
    assert np.isfinite(done.response).all()
    assert (done.start >= done.submit).all()
    for worker in range(8):
        mine = np.flatnonzero(done.worker == worker)
        mine = mine[np.argsort(done.start[mine])]
        assert (done.start[mine][1:] >= done.end[mine][:-1] - 1e-9).all()
