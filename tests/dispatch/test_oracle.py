"""The compiled world against a plain one, fed the same numbers, and against queueing theory."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from naive import Naive

from windlass.dispatch import POLICIES, simulate
from windlass.dispatch.state import COPIES
from windlass.experiment.workloads.arrivals import Bursty
from windlass.experiment.workloads.drift import shocks
from windlass.experiment.workloads.service import Pareto
from windlass.model.timetable import WorkerTimetable

SPEEDS = np.array([1.0, 1.0, 2.0, 0.5, 6.0])


def make(name, speeds=SPEEDS):
    offered = {"workers": len(speeds), "rates": speeds, "guaranteed": float(np.sum(speeds))}
    takes = inspect.signature(POLICIES.find(name)).parameters
    return POLICIES.make(
        name, np.random.default_rng(5), **{key: offered[key] for key in offered if key in takes}
    )


def workload(tasks=3000, load=0.7, seed=3, per_job=1):
    rng = np.random.default_rng(seed)
    submit = np.cumsum(rng.standard_exponential(tasks // per_job)) / (load * SPEEDS.sum() / per_job)
    return submit, rng.standard_exponential(tasks) + 1e-9


def shaky(until):
    rng = np.random.default_rng(8)
    return (
        shocks(SPEEDS, every=until / 7, until=until, rng=rng)
        + WorkerTimetable.failure(4, until * 0.2, until * 0.5)
        + WorkerTimetable.failure(0, until * 0.3, until * 0.4)
        + WorkerTimetable.speeds([until * 0.55, until * 0.6], [2, 2], [0.0, 2.0])
    )


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES.names())
@pytest.mark.parametrize("steady", [True, False], ids=["steady", "shaky"])
def test_the_compiled_world_equals_the_naive_one(name, steady):
    submit, work = workload()
    timetable = None if steady else shaky(submit[-1])
    policy = make(name)
    fast = simulate(
        policy,
        SPEEDS,
        tasks=len(work),
        arrivals=submit,
        service=work,
        timetable=timetable,
        sizes_known=True,
        samples=37,
        record=True,
    )
    policy.copies = int(policy.ints[COPIES])
    Naive(policy, SPEEDS, submit, work, timetable).check(fast)


def test_late_binding_of_many_tasks_equals_the_naive_world():
    submit, work = workload(per_job=4)
    policy = make("sparrow")
    timetable = shaky(submit[-1])
    fast = simulate(
        policy,
        SPEEDS,
        tasks=len(work),
        arrivals=submit,
        service=work,
        tasks_per_job=4,
        timetable=timetable,
        record=True,
    )
    policy.copies = 2
    Naive(policy, SPEEDS, np.repeat(submit, 4), work, timetable, per_job=4).check(fast)


def test_the_mean_response_matches_m_m_1():
    result = simulate("uniform", [2.0], load=0.7, tasks=1_000_000, seed=1)
    assert result.mean == pytest.approx(1 / (2 - 1.4), rel=0.02)


@pytest.mark.parametrize(
    ("service", "second_moment"), [("fixed", 1.0), (Pareto(shape=4.0), 9 / 8), ("exponential", 2.0)]
)
def test_the_mean_response_matches_pollaczek_khinchine(service, second_moment):
    result = simulate("jsq", [1.0], load=0.6, tasks=1_000_000, seed=2, service=service)
    assert result.mean == pytest.approx(1 + 0.6 * second_moment / (2 * 0.4), rel=0.02)


def test_random_split_is_independent_m_m_1_queues():
    result = simulate("pss", [1.0, 3.0], load=0.8, tasks=1_000_000, seed=3)
    # Each queue has load 0.8: mean 1/(μ(1−ρ)), weighted by where tasks go.
    assert result.mean == pytest.approx(0.25 * 1 / 0.2 + 0.75 * 1 / 0.6, rel=0.03)


def test_late_binding_everywhere_is_one_queue_for_all_m_m_n():
    # As many reservations as workers: a task starts at the first worker that is free, which is M/M/n.
    workers, load = 3, 0.8
    policy = POLICIES.make("sparrow", np.random.default_rng(1), workers=workers, probes=workers)
    result = simulate(policy, np.ones(workers), load=load, tasks=600_000, seed=4)
    a = workers * load
    blocked = a**workers / 6 / (1 - load)
    erlang_c = blocked / (1 + a + a**2 / 2 + blocked)
    assert result.mean == pytest.approx(1 + erlang_c / (workers * (1 - load)), rel=0.02)


def test_bursts_have_longer_responses_than_poisson_arrivals():
    calm = simulate("jsq", np.ones(4), load=0.7, tasks=100_000, seed=5)
    burst = simulate("jsq", np.ones(4), load=0.7, tasks=100_000, seed=5, arrivals=Bursty(ratio=3, share=0.2))
    assert burst.submit[-1] == pytest.approx(calm.submit[-1], rel=0.1)
    assert burst.mean > 1.3 * calm.mean
