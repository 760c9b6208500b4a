"""The pull policy: equal to a plain version, one queue with equal speeds, and when workers pass."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from naive import Naive
from plain_pull import PlainPull, least_waiting
from test_decentralised import Chance, run_simulation, same, stalled
from test_oracle import SPEEDS, shaky, workload

from windlass.dispatch import simulate
from windlass.dispatch.policies.pull import Pull


@pytest.mark.matrix
@pytest.mark.parametrize(("schedulers", "delay"), [(1, 0.0), (3, 0.4), (8, 1.5)])
@pytest.mark.parametrize("per_job", [1, 4, 16])
@pytest.mark.parametrize("guaranteed", [SPEEDS.sum(), None], ids=["known", "unknown"])
@pytest.mark.parametrize("changes", [shaky, stalled])
def test_each_scheduler_acts_as_plain_pull(schedulers, delay, per_job, guaranteed, changes):
    submit, work = workload(tasks=1200, per_job=per_job)
    timetable = changes(submit[-1])
    policy = Pull(len(SPEEDS), guaranteed, rng=np.random.default_rng(5))
    fast = run_simulation(policy, submit, work, timetable, schedulers, delay, per_job, sizes_known=False)
    chance = Chance(policy, schedulers, submit, work, per_job)
    several = [
        PlainPull(len(SPEEDS), guaranteed, schedulers, word, at)
        for word, at in zip(chance.words, chance.benchmark_at, strict=True)
    ]
    submit = np.repeat(submit, per_job)
    plain = Naive(several, SPEEDS, submit, work, timetable, per_job, chance.sender, delay, sizes_known=False)
    same(fast, plain)


@pytest.mark.parametrize("schedulers", [1, 5])
def test_equal_workers_with_known_sizes_act_as_one_queue(schedulers):
    """Speeds are then known exactly, and no worker passes; a task starts at the first free worker."""
    workers, rng = 4, np.random.default_rng(2)
    submit = np.cumsum(rng.standard_exponential(2000)) / (0.8 * workers)
    work = rng.standard_exponential(2000) + 1e-9
    policy = Pull(workers, float(workers), rng=np.random.default_rng(1), probe_share=0.0)
    done = simulate(
        policy,
        np.ones(workers),
        tasks=len(work),
        arrivals=submit,
        service=work,
        schedulers=schedulers,
        sizes_known=True,
    )
    free, ends = [0.0] * workers, []
    for came, size in zip(submit, work, strict=True):
        ends.append(max(heapq.heappop(free), came) + size)
        heapq.heappush(free, ends[-1])
    if schedulers == 1:
        np.testing.assert_allclose(done.end, ends, rtol=1e-9)
    assert done.mean == pytest.approx(float(np.mean(ends - submit)), rel=0.02)


def learned_policy(speeds, arrivals_each):
    """Return a policy that has seen 200 completions of each worker and arrivals at that rate, and its choices."""
    policy = Pull(len(speeds), float(np.sum(speeds)), rng=np.random.default_rng(1), window_scale=10.0)
    for task in range(200):
        policy.arrived(task / arrivals_each)
        list(policy.offers())
        for worker, speed in enumerate(speeds):
            policy.completed(worker, 1.0, 1.0 / speed)
    for task in range(200, 200 + 2 * len(speeds)):
        policy.arrived(task / arrivals_each)
        order = list(policy.offers())
    return policy, order


def test_fast_workers_come_first_and_slow_ones_pass_until_enough_tasks_wait():
    policy, order = learned_policy([1.0, 10.0, 2.0], arrivals_each=1.0)
    assert order == [1, 2, 0]
    assert policy.takes(1, 200.0, 1) == 1
    # Faster workers of speed 10 and 12 end the task in 1/10 and 2/12 s on average, these in 1/2 and 1 s.
    assert least_that_takes(policy, 2) == least_waiting(1 / 2 - 1 / 10, 10.0, 1.0) == 4
    assert least_that_takes(policy, 0) == least_waiting(1.0 - 2 / 12, 12.0, 1.0) == 10


def test_a_slow_worker_takes_a_task_sooner_when_the_fast_ones_are_overloaded():
    policy, _ = learned_policy([1.0, 10.0, 2.0], arrivals_each=12.5)
    assert least_that_takes(policy, 2) == least_waiting(1 / 2 - 1 / 10, 10.0, 12.5) == 3
    assert least_that_takes(policy, 0) == least_waiting(1.0 - 2 / 12, 12.0, 12.5) == 4


def least_that_takes(policy, worker):
    least = next(waiting for waiting in range(1, 20) if policy.takes(worker, 200.0, waiting))
    # It leaves the tasks before this one to faster workers, also if more wait.
    assert policy.takes(worker, 200.0, least) == policy.takes(worker, 200.0, least + 7) == least
    return least


def test_a_single_slow_worker_takes_every_task():
    policy, _ = learned_policy([1.0, 10.0, 2.0], arrivals_each=1.0)
    policy.left(1)
    policy.left(2)
    assert policy.takes(0, 200.0, 1) == 1


def test_early_binding_chooses_the_least_expected_wait():
    policy = Pull(3, 3.0, rng=np.random.default_rng(1), late=False)
    for _ in range(50):
        for worker, speed in enumerate((1.0, 10.0, 2.0)):
            policy.completed(worker, 1.0, 1.0 / speed)
    policy.arrived(1.0)
    assert policy.choose(np.array([0, 5, 0])) == 2
    assert policy.choose(np.array([0, 3, 1])) == 1
