"""The policy `pairs`: it keeps to the budget by its estimates, and learns from measurements only."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.share.cases import candidate, host, views
from windlass.model import InputError
from windlass.share import Checkpoint, Guest, ShareView
from windlass.share.lib.regress import BayesianLine
from windlass.share.policies.pairs import Pairs


def quota_of(policy: Pairs, view: ShareView) -> int:
    shares = policy.decide(view).shares
    return shares[0].quota if shares else 0


def trained(policy: Pairs, pair, times: int, slower: float, progress: float = math.nan) -> Pairs:
    after = replace(pair, rate=pair.rate_alone / (1 + slower))
    for _ in range(times):
        policy.observed(Checkpoint(pair, after, replace(pair.guest, progress=progress)))
    return policy


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-2, 2)), max_size=20))
def test_the_line_equals_batch_ridge_regression(rows):
    # Would catch a precision that is updated without its pull, and a noise that is not squared.
    mean, deviation, noise = np.array([1.0, 0.0]), np.array([0.5, 0.3]), 0.25
    line = BayesianLine.prior(mean, deviation, noise)
    for one, other, value in rows:
        line = line.after(np.array([one, other]), value)
    design = np.array([row[:2] for row in rows]).reshape(-1, 2)
    values = np.array([row[2] for row in rows])
    stacked = np.r_[design / noise, np.diag(1 / deviation)]
    weights = np.linalg.lstsq(stacked, np.r_[values / noise, mean / deviation], rcond=None)[0]
    points = np.array([[0.3, -0.7], [1.0, 1.0]])
    found, unsure = line.at(points)
    assert found == pytest.approx(points @ weights, abs=1e-8)
    assert unsure**2 == pytest.approx(np.diag(points @ np.linalg.inv(stacked.T @ stacked) @ points.T))


@given(views(), st.integers(0, 2**32))
def test_every_answer_can_be_carried_out(view, seed):
    policy, rng = Pairs(probe=2), np.random.default_rng(seed)
    for _ in range(3):
        answer = policy.decide(view)
        answer.check(view)
        for share in answer.shares:
            one = next(each for each in view.running if each.job == share.host)
            pair = replace(one, guest=Guest(candidate(), share.quota, note=share.note))
            policy.observed(Checkpoint(one, replace(one, rate=rng.uniform(0, 0.1)), pair.guest))


def test_a_harmless_guest_gets_a_larger_quota_with_learning():
    view = ShareView(0.0, (host(cpu=30.0),), (candidate(cpu=50.0),))
    pair = host(cpu=30.0, guest=Guest(candidate(cpu=50.0), 30))
    quotas = [quota_of(trained(Pairs(), pair, times, 0.0), view) for times in (0, 20, 200)]
    assert quotas == sorted(quotas)
    assert quotas[0] < quotas[-1]


def test_a_harmful_guest_gets_no_quota():
    view = ShareView(0.0, (host(cpu=30.0),), (candidate(cpu=50.0),))
    pair = host(cpu=30.0, guest=Guest(candidate(cpu=50.0), 30))
    assert quota_of(trained(Pairs(), pair, 200, 0.5), view) == 0


def test_every_nth_rejected_pair_is_probed_unless_time_sharing_forbids_it():
    # Would catch a learner that locks itself out after a bad start.
    pair = host(cpu=30.0, guest=Guest(candidate(cpu=50.0), 30))
    policy = trained(Pairs(probe=5), pair, 200, 0.5)
    view = ShareView(0.0, (host(cpu=30.0),), (candidate(cpu=50.0),))
    assert [quota_of(policy, view) for _ in range(10)] == [0, 0, 0, 0, 10, 0, 0, 0, 0, 10]
    busy = ShareView(0.0, (host(cpu=100.0),), (candidate(cpu=50.0),))
    assert [quota_of(policy, busy) for _ in range(10)] == [0] * 10


def test_a_busy_host_gets_no_guest_before_any_learning():
    # Time sharing alone: at 100 % CPU a tenth of the time costs a ninth, more than 10 %.
    assert quota_of(Pairs(), ShareView(0.0, (host(cpu=100.0),), (candidate(cpu=50.0),))) == 0


def test_a_pair_beyond_its_budget_gets_a_smaller_quota_for_good():
    pair = host(cpu=30.0, guest=Guest(candidate(cpu=50.0), 50, note=(90.0,)))
    policy = trained(Pairs(), pair, 500, 0.0)
    hurt = replace(pair, rate=pair.rate_alone / 1.3)
    (less,) = policy.decide(ShareView(1.0, (hurt,), ())).shares
    assert 0 < less.quota < 50
    well = replace(pair, guest=Guest(candidate(cpu=50.0), less.quota, note=less.note))
    (after,) = policy.decide(ShareView(2.0, (well,), ())).shares
    assert after.quota <= 40
    assert quota_of(policy, ShareView(2.0, (replace(pair, rate=pair.rate_alone),), ())) > 40


def test_a_guest_without_progress_gets_no_quota():
    pair = host(cpu=30.0, guest=Guest(candidate(cpu=50.0), 30))
    policy = trained(Pairs(probe=10**9), pair, 500, 0.0, progress=0.0)
    view = ShareView(0.0, (host(cpu=30.0),), (candidate(cpu=50.0),))
    assert quota_of(policy, view) == 0
    assert quota_of(trained(Pairs(), pair, 500, 0.0, progress=60.0), view) > 0


def test_a_guest_that_gains_less_than_its_host_loses_gets_no_quota():
    # The guest gains one core for half of the time; the host loses a tenth of a hundred busy cores.
    policy = Pairs(budget=50.0, worth=0.0, probe=10**9)
    small, wide = candidate(cores=1, cpu=50.0), candidate(cores=100, cpu=50.0)
    one = host(cpu=95.0, cores=100)
    assert quota_of(policy, ShareView(0.0, (one,), (small,))) == 0
    assert quota_of(policy, ShareView(0.0, (one,), (wide,))) > 0


def test_nothing_is_learned_from_missing_measurements():
    pair = host(guest=Guest(candidate(), 30))
    policy, before = Pairs(), pickle.dumps(Pairs())
    for after in (replace(pair, rate=math.nan), replace(pair, rate_alone=math.nan)):
        policy.observed(Checkpoint(pair, after, pair.guest, ended=True))
    policy.observed(Checkpoint(pair, pair, replace(pair.guest, quota=0, progress=50.0)))
    assert pickle.dumps(policy) == before


def test_a_host_with_a_zero_rate_keeps_the_line_finite():
    pair = host(guest=Guest(candidate(), 30))
    policy = Pairs()
    policy.observed(Checkpoint(pair, replace(pair, rate=0.0), pair.guest))
    assert np.all(np.isfinite(policy.slower.pull))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": -1.0}, "budget is -1"),
        ({"budget": math.nan}, "budget is nan"),
        ({"worth": 101.0}, "worth is 101"),
        ({"care": -0.1}, "care is -0.1"),
        ({"probe": 0}, "probe is 0"),
    ],
)
def test_invalid_parameters_are_named_in_the_error(parameters, message):
    with pytest.raises(InputError, match=message):
        Pairs(**parameters)
