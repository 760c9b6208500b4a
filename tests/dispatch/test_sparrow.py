"""Batch sampling and late binding: jobs of many tasks compared with plain Python and with one queue."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from naive import Naive
from plain_sparrow import PlainSparrow
from test_decentralised import Chance, run_simulation, same
from test_oracle import SPEEDS, shaky, workload

from windlass.dispatch import POLICIES, simulate


@pytest.mark.matrix
@pytest.mark.parametrize("per_job", [1, 4, 16])
@pytest.mark.parametrize(("schedulers", "delay"), [(1, 0.0), (3, 0.4)])
@pytest.mark.parametrize("probes", [1, 2])
def test_jobs_of_many_tasks_run_as_under_plain_sparrow(per_job, schedulers, delay, probes):
    submit, work = workload(tasks=1600, per_job=per_job)
    timetable = shaky(submit[-1])
    policy = POLICIES.make("sparrow", np.random.default_rng(5), workers=len(SPEEDS), probes=probes)
    fast = run_simulation(policy, submit, work, timetable, schedulers, delay, per_job)
    chance = Chance(policy, schedulers, submit, work, per_job)
    several = [PlainSparrow(len(SPEEDS), word, probes) for word in chance.words]
    plain = Naive(several, SPEEDS, np.repeat(submit, per_job), work, timetable, per_job, chance.sender, delay)
    same(fast, plain)


@pytest.mark.parametrize("per_job", [2, 8])
def test_a_job_reserves_distinct_workers(per_job):
    policy = POLICIES.make("sparrow", np.random.default_rng(1), workers=16, probes=2)
    for job in range(50):
        policy.arrived(float(job))
        chosen = [policy.choose(np.zeros(16, np.int64)) for _ in range(2 * per_job)]
        assert len(set(chosen)) == 2 * per_job


@pytest.mark.parametrize("per_job", [1, 4, 16])
def test_with_reservations_at_all_workers_there_is_one_queue(per_job):
    """With n reservations a task each worker holds one for each: the first free takes the next task, in order."""
    workers, rng = 4, np.random.default_rng(2)
    submit = np.cumsum(rng.standard_exponential(400)) * per_job / (0.8 * workers)
    work = rng.standard_exponential(400 * per_job) + 1e-9
    policy = POLICIES.make("sparrow", np.random.default_rng(1), workers=workers, probes=workers)
    done = simulate(
        policy, np.ones(workers), tasks=len(work), arrivals=submit, service=work, tasks_per_job=per_job
    )
    free, ends = [0.0] * workers, []
    for task, size in enumerate(work):
        ends.append(max(heapq.heappop(free), submit[task // per_job]) + size)
        heapq.heappush(free, ends[-1])
    np.testing.assert_allclose(done.end, ends, rtol=1e-9)
