"""The lower bound on the mean response: below every policy and the best priorities, and exact in special cases."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.experiment.checks.order.fleet import workload
from windlass.experiment.workloads.fixed import draw_fixed
from windlass.model.fleet import Fleet, FleetCase, fixed_table
from windlass.order.fleet import POLICIES, JobOrder
from windlass.results.metrics.bound import least_mean_response
from windlass.sim.fleet import run_ordered


def fixed(submit, subjobs, duration, slots):
    return FleetCase(Fleet.of(slots), fixed_table(submit, subjobs, duration))


class Priorities:
    name = "priorities"

    def __init__(self, rank):
        self.rank = np.array(rank)

    def decide(self, view):
        return JobOrder(np.argsort(self.rank[view.job], kind="stable"), "fixed priorities")


def response(work, policy):
    return float(run_ordered(work, policy).response.mean())


def make(name):
    return POLICIES.make(name, np.random.default_rng(0))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 5), st.integers(0, 20))
def test_no_policy_beats_the_bound(seed, jobs, sites, steps):
    work = workload(seed, jobs, sites)
    bound = least_mean_response(work, steps)
    assert bound.alone <= bound.any_schedule * (1 + 1e-9) + 1e-9
    for name in POLICIES.names():
        assert bound.any_schedule <= response(work, make(name)) + 1e-9


@pytest.mark.matrix
@pytest.mark.parametrize("seed", range(6))
def test_no_fixed_priorities_beat_the_bound(seed):
    work = workload(seed, 5, 3)
    best = min(response(work, Priorities(rank)) for rank in itertools.permutations(range(5)))
    assert least_mean_response(work).any_schedule <= best + 1e-9


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_with_one_slot_the_bound_is_at_most_the_optimum(seed, jobs):
    # On one machine, shortest first is optimal, and the relaxation is exact.
    rng = np.random.default_rng(seed)
    tasks = rng.integers(1, 9, jobs)
    work = fixed(np.zeros(jobs), tasks[:, None], np.ones(tasks.sum()), [1])
    least = np.cumsum(np.sort(tasks)).mean()
    assert least_mean_response(work).any_schedule <= least + 1e-9
    if (tasks == tasks[0]).all():
        assert least_mean_response(work).any_schedule == pytest.approx(least)


def test_the_isolated_bound_counts_rounds_of_tasks():
    # Five tasks of 2 s on two slots take three rounds, though they are 5 s of work for both.
    work = fixed([0], [[5]], np.full(5, 2.0), [2])
    assert least_mean_response(work).alone == 6.0


def test_more_steps_tighten_the_bound_and_it_is_near_at_low_load():
    work = draw_fixed(np.random.default_rng(1), law="google", jobs=300, utilisation=0.2)
    bounds = [least_mean_response(work, steps).any_schedule for steps in (0, 1, 10, 60)]
    assert bounds == sorted(bounds)
    assert response(work, make("swag")) <= 1.02 * bounds[-1]


def test_jobs_of_length_zero_are_accepted():
    work = fixed([0, 0], [[1, 1], [2, 0]], [0.0, 0.0, 0.0, 3.0], [1, 1])
    assert least_mean_response(work).any_schedule == pytest.approx(1.5)
