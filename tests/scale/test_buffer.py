"""A constant reserve, and the idle time of policies that learn one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK
from windlass.experiment.worlds.elastic.simulation import ElasticCase, run_elastic
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.scale import POLICIES
from windlass.scale.policies.buffer import Buffer
from windlass.scale.view import Demands, ScaleView
from windlass.sim.instances.fleet import InstanceFleet

COUNTS = st.integers(0, 9)


def view(used: int, idle: int, coming: int, waiting: int, due: bool = True) -> ScaleView:
    """One type of four cores, of at most 20 instances; each waiting job needs a whole one."""
    ints = [np.array([each], np.int64) for each in (used + idle, coming, used)]
    requests = np.array([[0.0, 4.0, 0.0]] * waiting).reshape(-1, 3)
    jobs = Demands(requests, np.zeros(waiting), np.full(waiting, np.inf))
    kinds = (InstanceType("small", cores=4.0, launch=300.0, most=20),)
    history = np.array([[float(used + waiting)]])
    return ScaleView(0.0, 600.0, kinds, *ints, Demands.none(), jobs, history, due=due)


@CHECK
@given(used=COUNTS, idle=COUNTS, coming=COUNTS, waiting=COUNTS, spare=COUNTS, share=st.floats(0, 2))
def test_the_reserve_is_added_to_what_jobs_need(used, idle, coming, waiting, spare, share):
    found = Buffer(spare, share).decide(view(used, idle, coming, waiting)).counts
    assert found == (min(used + waiting + spare + math.ceil(share * used - 1e-9), 20),)


@CHECK
@given(used=COUNTS, idle=COUNTS, coming=COUNTS, waiting=COUNTS, spare=COUNTS)
def test_a_poll_keeps_a_reserve_that_exists_and_launches_none(used, idle, coming, waiting, spare):
    found = Buffer(spare).decide(view(used, idle, coming, waiting, due=False)).counts[0]
    assert found == min(20, max(used + waiting, min(used + idle + coming, used + waiting + spare)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"spare": -1}, "spare is -1"),
        ({"spare": 1.5}, "spare is 1.5"),
        ({"share": -0.1}, "share is -0.1"),
        ({"share": math.nan}, "share is nan"),
        ({"idle": -1.0}, "idle is -1"),
    ],
)
def test_a_parameter_out_of_bounds_is_an_error(given, message):
    with pytest.raises(InputError, match=message):
        Buffer(**given)


def removed(policy: str, **parameters: float) -> list[float]:
    """When instances are removed: one job of a minute an hour, on instances that start in five minutes."""
    submit = 3600.0 * np.arange(1, 5)
    jobs = VectorJobs.of(submit=submit, run=np.full(4, 60.0), cores=np.full(4, 4.0))
    fleet = InstanceFleet((InstanceType("small", cores=4.0, price=1.0, launch=300.0, most=9),))
    case = ElasticCase(jobs, fleet, period=300.0, earlier=0.0, look=10.0)
    made = POLICIES.make(policy, np.random.default_rng(1), **parameters)
    done = run_elastic(case, made, np.random.default_rng(2))
    return [float(gone - end) for gone, end in zip(done.launches.gone, done.end, strict=False)]


@pytest.mark.parametrize("policy", ["thrifty", "hazard"])
def test_an_instance_above_the_total_stays_for_the_idle_time(policy):
    at_once, later = (removed(policy, worth=0.0, idle=each)[0] for each in (0.0, 1200.0))
    assert at_once <= 300.0
    assert 1200.0 <= later <= 1500.0


@pytest.mark.parametrize("policy", ["thrifty", "hazard"])
def test_an_idle_time_out_of_bounds_is_an_error(policy):
    with pytest.raises(InputError, match="idle is -1"):
        POLICIES.make(policy, np.random.default_rng(1), idle=-1.0)
