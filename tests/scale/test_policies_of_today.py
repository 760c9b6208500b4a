"""Answers of common autoscalers, computed by hand; the clairvoyant's cost is minimal."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.experiment.worlds.elastic.simulation import (
    ElasticCase,
    ideal,
    run_elastic,
    scale_policy,
    use_over_time,
)
from windlass.model import InputError, PolicyError
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.results.metrics.elastic import elastic_metrics
from windlass.scale import POLICIES, Demands, ScaleView, Totals, idle_time
from windlass.scale.bin_packing import RequestGroups, fill, pending
from windlass.sim.instances.fleet import InstanceFleet

SMALL = InstanceType("small", cores=4, memory=16, price=1.0, most=9)
LARGE = InstanceType("large", cores=16, memory=64, price=3.0, most=5)
GPU = InstanceType("gpu", gpus=2, cores=16, memory=64, price=20.0, most=4)
TYPES = (SMALL, LARGE, GPU)


def made(name: str, **parameters):
    return POLICIES.make(name, np.random.default_rng(1), **parameters)


def view(
    waiting=(), ready=(0, 0, 0), coming=(0, 0, 0), used=(0, 0, 0), history=((0.0, 0.0, 0.0),)
) -> ScaleView:
    requests = np.array(waiting, np.float64).reshape(-1, 3)
    none = np.zeros(len(requests))
    counts = (np.array(each, np.int64) for each in (ready, coming, used))
    return ScaleView(
        0.0, 600.0, TYPES, *counts, Demands.none(), Demands(requests, none, none + np.inf), np.array(history)
    )


@pytest.mark.parametrize(
    ("seen", "reactive", "consolidate"),
    [
        # No waiting jobs: used and launching instances are kept.
        (view(ready=(3, 1, 0), coming=(1, 0, 0), used=(2, 1, 0)), (3, 1, 0), (3, 1, 0)),
        # One core on four wastes less than on sixteen, and is cheaper.
        (view(waiting=[(0, 1, 1)]), (1, 0, 0), (1, 0, 0)),
        # Four times four cores fill either; the first type of least waste, and three dollars are less than four.
        (view(waiting=[(0, 4, 16)] * 4), (4, 0, 0), (0, 1, 0)),
        # Launching instances have room for two of three.
        (view(waiting=[(0, 2, 1)] * 3, coming=(1, 0, 0)), (2, 0, 0), (2, 0, 0)),
        # Jobs without GPUs are not placed on GPU instances.
        (view(waiting=[(1, 8, 8), (0, 8, 8)]), (0, 1, 1), (0, 1, 1)),
        # Four instances have fewer than forty GPUs: the total is the maximum.
        (view(waiting=[(1, 1, 1)] * 40), (0, 0, 4), (0, 0, 4)),
        # Larger than any type: three whole instances, of which one is idle and one is launching.
        (view(waiting=[(0, 40, 1)], ready=(0, 2, 0), coming=(0, 1, 0), used=(0, 1, 0)), (0, 4, 0), (0, 4, 0)),
    ],
)
def test_totals_equal_those_computed_by_hand(seen, reactive, consolidate):
    assert made("reactive").decide(seen).counts == reactive
    assert made("consolidate").decide(seen).counts == consolidate


def test_static_has_the_largest_past_need_or_a_given_count():
    seen = view(history=[(0.2, 7.0, 0.0), (3.1, 1.0, 0.0)])
    assert made("static").decide(seen).counts == (4, 5, 0)
    assert made("static", margin=2.0).decide(seen).counts == (7, 5, 0)
    assert made("static", count=2).decide(seen).counts == (2, 2, 2)


def test_the_policy_sets_the_idle_time_of_empty_instances():
    assert [idle_time(made(name), 33.0) for name in ("reactive", "consolidate", "clairvoyant")] == [
        600.0,
        0.0,
        0.0,
    ]

    class Silent:
        name = "silent"

        def decide(self, view):
            raise NotImplementedError

    assert idle_time(Silent(), 33.0) == 33.0
    with pytest.raises(InputError, match="unneeded is -1"):
        made("reactive", unneeded=-1.0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0, 1, 2]), st.integers(1, 16), st.integers(0, 64)),
        min_size=1,
        max_size=30,
    ),
    st.integers(0, 6),
)
def test_bin_packing_keeps_every_job_and_exceeds_no_capacity(requests, most):
    capacity = np.array([kind.vector() for kind in TYPES])
    groups = RequestGroups.of(np.array(requests, np.float64), capacity)
    assert groups.counts.sum() == len(requests)
    for kind in range(3):
        taken, left = fill(groups, kind, capacity[kind], most)
        assert (taken >= 0).all()
        assert (taken <= groups.counts).all()
        assert len(left) <= most
        assert (left >= -1e-9).all()
        assert np.allclose(taken @ groups.vectors, (capacity[kind] - left).sum(axis=0))
        # A job that is left out does not fit on one more instance, or the maximum is reached.
        missing = (taken < groups.counts) & groups.welcome[:, kind]
        assert len(left) == most or not missing.any()


def test_jobs_of_whole_instances_are_counted_separately():
    found = pending(view(waiting=[(0, 40, 1), (3, 1, 1), (0, 1, 1)]).waiting, TYPES)
    assert found.whole.tolist() == [0, 3, 2]
    assert found.groups.counts.tolist() == [1]


class Scripted:
    """A policy that returns given totals in turn, and then the last one."""

    name = "scripted"
    idle = 0.0

    def __init__(self, totals: tuple[int, ...]) -> None:
        self._left = list(totals)

    def decide(self, view: ScaleView) -> Totals:
        count = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        return Totals((count,), ("scripted",))


@pytest.mark.slow
@pytest.mark.parametrize("launch", [40.0, 170.0])
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_plan_without_waiting_costs_less_than_the_clairvoyant(launch: float, seed: int):
    against_all_plans(seed, launch, count=2, longest=3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "launch", [100.0, *(pytest.param(launch, marks=pytest.mark.nightly) for launch in (40.0, 170.0, 250.0))]
)
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_plan_of_three_jobs_costs_less_than_the_clairvoyant(launch: float, seed: int):
    against_all_plans(seed, launch, count=3, longest=4)


def against_all_plans(seed: int, launch: float, count: int, longest: int) -> None:
    """Try all totals at the first decisions, with the clairvoyant's own totals later."""
    rng = np.random.default_rng(seed)
    # No two events coincide, and no fall is at the time of a rise.
    jobs = VectorJobs.of(np.sort(rng.uniform(0, 250, count)), rng.uniform(10, 200, count), cores=4)
    fleet = InstanceFleet((InstanceType("one", cores=4, price=1.0, launch=launch, most=count),))
    case = ElasticCase(jobs, fleet, period=100.0)
    rng = np.random.default_rng(1)
    ideal_run = run_elastic(case, scale_policy("clairvoyant", {}, case, rng), rng)
    assert (ideal_run.start == jobs.submit).all()
    own = ideal_run.decisions.totals[:, 0].tolist()
    best = np.inf
    for totals in product(range(count + 1), repeat=min(len(own), longest)):
        try:
            done = run_elastic(case, Scripted((*totals, *own[longest:])), rng)
        except PolicyError:
            continue  # it leaves jobs waiting forever
        if (done.start == jobs.submit).all():
            best = min(best, float(done.paid().sum()))
    assert float(ideal_run.paid().sum()) <= best + 1e-6


def test_the_ideal_has_no_waiting_and_no_empty_instances():
    rng = np.random.default_rng(3)
    jobs = VectorJobs.of(
        np.sort(rng.uniform(0, 1e4, 200)), rng.uniform(1, 3000, 200), rng.integers(0, 6, 200), 2
    )
    done = ideal(
        ElasticCase(jobs, InstanceFleet((SMALL, LARGE, InstanceType("gpu", gpus=2, cores=16, most=999))))
    )
    found = elastic_metrics(done)
    assert (found.mean_wait_s, found.over_provisioned_h, found.starting_h) == (0.0, pytest.approx(0.0), 0.0)
    times, counts = use_over_time(done)
    assert (np.diff(times) > 0).all()
    assert counts[-1].tolist() == [0, 0, 0]
    assert counts.max(axis=0)[2] >= 2


def test_invalid_times_of_the_clairvoyant_are_rejected():
    with pytest.raises(InputError, match="expected a row for each of 1 times"):
        made("clairvoyant", times=[1.0], counts=[])
    with pytest.raises(InputError, match="rising"):
        made("clairvoyant", times=[1.0, 0.0], counts=[[1], [2]])
