"""The model of interference: its properties for any input, and its errors on real pairs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from tests.share.cases import TRACES, candidate, host
from windlass.io.traces.interference import read_interference
from windlass.model import InputError
from windlass.share import POLICIES, Guest, ShareView
from windlass.share.interference import (
    HostTime,
    Interference,
    Speeds,
    fit_interference,
    held_out,
    time_shared,
)

coefficients = st.floats(0, 2)
models = st.builds(
    Interference, coefficients, coefficients, coefficients, st.sampled_from(["capped", "weighted"])
)
percents = st.floats(0, 100)


@pytest.fixture
def real():
    if not TRACES.is_dir():
        pytest.skip("the real traces are not at hand: no folder ../shared/traces next to the repository")
    return read_interference(TRACES / "interference")


@given(models, percents, percents, percents, percents)
def test_a_larger_quota_never_helps_the_host_nor_hurts_the_guest(model, one, other, low, high):
    # Would catch a pressure that is the host's own quota, and caps that are swapped.
    less, more = (model.speeds(one, other, quota) for quota in sorted((low, high)))
    assert more.host <= less.host + 1e-12
    assert more.guest >= less.guest - 1e-12
    assert 0 <= more.host <= 1
    assert 0 <= less.guest <= 1


@given(models, percents, percents, percents)
def test_a_busier_neighbour_never_helps(model, own, low, high):
    less, more = sorted((low, high))
    assert model.unlimited(own, more).host <= model.unlimited(own, less).host + 1e-12
    assert model.unlimited(more, own).guest <= model.unlimited(less, own).guest + 1e-12


@given(models, percents, percents)
def test_without_quotas_the_model_is_symmetric(model, one, other):
    there, back = model.unlimited(one, other), model.unlimited(other, one)
    assert (there.host, there.guest) == (back.guest, back.host)


def test_quotas_alone_are_time_shared():
    # By hand: a host that needs 80 % of the time and may have 60 % is as fast as 60 / 80.
    speeds = Interference(0, 0, 0).speeds(80.0, 50.0, 40.0)
    assert (speeds.host, speeds.guest) == pytest.approx((0.75, 0.8))
    assert Interference(0, 0, 0).speeds(80.0, 50.0, 0.0) == Speeds(1.0, 0.0)
    assert time_shared(host(cpu=0.0), candidate(cpu=math.nan), 90).guest == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("host_time", "use", "expected"),
    [
        # The guest leaves 30 of its 50 % idle, and the host needs 90 %: it has 50, or 80 %.
        ("capped", (90.0, 20.0, 50.0), (5 / 9 * math.exp(-0.1 * 0.2 - 0.2 * 0.9 * 0.2), 0.5)),
        ("weighted", (90.0, 20.0, 50.0), (8 / 9 * math.exp(-0.1 * 0.2 - 0.2 * 0.9 * 0.2), 0.8)),
        # The host needs 60 %, and has it only if it may use idle time; the guest feels what the host then has.
        ("capped", (60.0, 20.0, 50.0), (5 / 6 * math.exp(-0.1 * 0.2 - 0.2 * 0.6 * 0.2), 0.5)),
        ("weighted", (60.0, 20.0, 50.0), (math.exp(-0.1 * 0.2 - 0.2 * 0.6 * 0.2), 0.6)),
        # A guest that uses its whole quota leaves nothing more: both readings are equal.
        ("capped", (90.0, 80.0, 40.0), (6 / 9 * math.exp(-0.1 * 0.4 - 0.2 * 0.9 * 0.4), 0.6)),
        ("weighted", (90.0, 80.0, 40.0), (6 / 9 * math.exp(-0.1 * 0.4 - 0.2 * 0.9 * 0.4), 0.6)),
    ],
)
def test_a_host_has_what_the_quota_or_what_the_guest_leaves(
    host_time: HostTime, use: tuple[float, float, float], expected: tuple[float, float]
) -> None:
    found = Interference(0.1, 0.2, 5.0, host_time).speeds(*use)
    own, present = expected
    slow = min(1.0, use[2] / use[1]) * math.exp(-0.1 * present - 0.2 * use[1] / 100 * present)
    assert (found.host, found.guest) == pytest.approx((own, slow))


@given(models, percents, percents, percents)
def test_a_host_is_never_slower_if_it_may_use_idle_time(model, own, other, quota):
    capped, weighted = (
        replace(model, host=each).speeds(own, other, quota) for each in ("capped", "weighted")
    )
    assert weighted.host >= capped.host - 1e-12
    assert weighted.guest <= capped.guest + 1e-12
    if other >= quota:
        assert weighted == capped


def test_a_neighbour_s_pressure_is_its_use_capped_by_its_quota():
    # By hand; would catch a pressure of the quota in the place of the use.
    model = Interference(0.1, 0.2, 5.0)
    assert model.speeds(40.0, 10.0, 50.0).host == pytest.approx(math.exp(-(0.1 * 0.1 + 0.2 * 0.4 * 0.1)))
    assert model.speeds(40.0, 90.0, 50.0).host == pytest.approx(math.exp(-(0.1 * 0.5 + 0.2 * 0.4 * 0.5)))
    assert model.speeds(40.0, 10.0, 50.0).guest == pytest.approx(math.exp(-(0.1 * 0.4 + 0.2 * 0.1 * 0.4)))


def test_a_fit_equals_that_of_another_solver(real):
    # The same least squares by scipy's bounded solver, over features written out by hand.
    own, other = np.r_[real.use[:, 0], real.use[:, 1]] / 100, np.r_[real.use[:, 1], real.use[:, 0]] / 100
    features = np.c_[other, own * other, np.maximum(0, own + other - 1)]
    logs = -np.log(np.r_[real.speed[:, 0], real.speed[:, 1]])
    found = lsq_linear(features, logs, bounds=(0, np.inf)).x
    model = fit_interference(real.use, real.speed)
    assert (model.pressure, model.both, model.crowding) == pytest.approx(found, abs=1e-6)
    assert np.linalg.cond(features) < 15


@given(models, st.integers(0, 100))
def test_a_fit_to_a_model_s_own_speeds_recovers_it(model, seed):
    use = np.random.default_rng(seed).uniform(0, 100, (200, 2))
    speed = np.array([[each.host, each.guest] for each in (model.unlimited(*row) for row in use)])
    found = fit_interference(use, speed)
    assert (found.pressure, found.both, found.crowding) == pytest.approx(
        (model.pressure, model.both, model.crowding), abs=1e-6
    )


def test_held_out_pairs_are_predicted_better_than_by_guessing(real):
    """The figures of docs/results-share.md; would catch groups that are in both halves."""
    pair = np.repeat(np.arange(len(real)), 2).reshape(-1, 2)
    by_pair, by_job, by_model = (
        held_out(real.use, real.speed, groups, 11) for groups in (pair, real.jobs, real.models)
    )
    assert [round(each.error, 3) for each in (by_pair, by_job, by_model)] == [0.068, 0.068, 0.072]
    assert [round(each.of_the_mean, 3) for each in (by_pair, by_job, by_model)] == [0.091, 0.091, 0.094]
    assert by_pair.predicted == 2 * len(real)
    # A job is left out of the fit with every pair that it is in, so that each pair is predicted once or twice.
    assert by_model.predicted > by_pair.predicted


def plain_held_out(use, speed, groups, folds):
    """Leave out each fold of the groups in turn; fit by bounded least squares, and guess, pair by pair."""
    names = sorted({name for row in groups.tolist() for name in row})
    folds, wrong = min(folds, len(names)), []
    for fold in range(folds):
        out = [any(names.index(name) % folds == fold for name in row) for row in groups.tolist()]
        features, logs, seen = [], [], []
        for pair, left in zip(range(len(use)), out, strict=True):
            for own, other in ((0, 1), (1, 0)):
                u, o = use[pair, own] / 100, use[pair, other] / 100
                if not left:
                    features.append([o, u * o, max(0.0, u + o - 1)])
                    logs.append(-math.log(speed[pair, own]))
                    seen.append(speed[pair, own])
        if not any(out):
            continue
        weights = lsq_linear(np.array(features), np.array(logs), bounds=(0, np.inf), tol=1e-14).x
        for pair, left in zip(range(len(use)), out, strict=True):
            for own, other in ((0, 1), (1, 0)) if left else ():
                u, o, true = use[pair, own] / 100, use[pair, other] / 100, speed[pair, own]
                predicted = math.exp(-float(np.dot(weights, [o, u * o, max(0.0, u + o - 1)])))
                # A fair share is half, or what the other does not use, and no more than is wanted.
                fair = min(1.0, max(0.5, 1 - o) / u) if u else 1.0
                wrong.append((predicted - true, float(np.mean(seen)) - true, fair - true))
    off = np.array(wrong)
    return (*np.abs(off).mean(axis=0), math.sqrt((off[:, 0] ** 2).mean()), len(off), folds)


@pytest.mark.parametrize(("folds", "names"), [(3, 7), (10, 5), (2, 9)])
def test_held_out_predictions_equal_those_of_plain_loops(folds, names):
    rng = np.random.default_rng(folds)
    use = rng.uniform(0, 100, (40, 2)).round()
    use[0] = 0.0
    speed = np.exp(-rng.uniform(0, 1, (40, 2)) * (use.sum(axis=1, keepdims=True) / 200))
    # Names are not numbers from 0 on, and not in order.
    groups = rng.integers(0, names, (40, 2)) * 3 + 5
    found = held_out(use, speed, groups, folds)
    off, of_mean, of_fair, square, predicted, parts = plain_held_out(use, speed, groups, folds)
    assert (found.predicted, found.folds) == (predicted, parts)
    assert (found.error, found.of_the_mean, found.of_fair_shares, found.root_mean_square) == pytest.approx(
        (off, of_mean, of_fair, square), abs=1e-6
    )


def test_the_default_is_ten_folds():
    rng = np.random.default_rng(1)
    use, speed = rng.uniform(0, 100, (24, 2)), rng.uniform(0.2, 1, (24, 2))
    groups = np.arange(24).repeat(2).reshape(-1, 2)
    assert held_out(use, speed, groups) == held_out(use, speed, groups, 10)
    assert held_out(use, speed, groups).folds == 10


def test_held_out_pairs_are_not_fitted():
    # Only group 1 is slow. A fit without it cannot know that, and is off by the whole difference.
    use, speed = np.full((4, 2), 90.0), np.array([[1.0, 1.0], [1.0, 1.0], [0.5, 0.5], [0.5, 0.5]])
    groups = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    assert held_out(use, speed, groups, 2).error == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Interference(-0.1, 0, 0), "pressure is -0.1"),
        (lambda: Interference(0, math.nan, 0), "both is nan"),
        (lambda: Interference(0, 0, 0, "free"), "host is 'free', expected one of capped, weighted"),  # type: ignore[arg-type]
        (lambda: Interference(0, 0, 0).speeds(101.0, 0.0, 0.0), "host_use is 101"),
        (lambda: Interference(0, 0, 0).speeds(1.0, math.nan, 0.0), "guest_use is nan"),
        (lambda: Interference(0, 0, 0).speeds(1.0, 1.0, -1.0), "quota is -1"),
        (lambda: fit_interference(np.empty((0, 2)), np.empty((0, 2))), r"use has shape \(0, 2\)"),
        (lambda: fit_interference(np.ones((2, 3)), np.ones((2, 3))), r"use has shape \(2, 3\)"),
        (lambda: fit_interference(np.ones((2, 2)), np.ones((3, 2))), r"speed has shape \(3, 2\)"),
        (lambda: fit_interference(np.ones((1, 2)), np.array([[1.0, 0.0]])), "speed: pair 0, job 2 is 0.0"),
        (lambda: fit_interference(np.array([[1.0, np.nan]]), np.ones((1, 2))), "use: pair 0, job 2 is nan"),
        (lambda: held_out(np.ones((2, 2)), np.ones((2, 2)), np.zeros((2, 2)), 1), "folds is 1"),
        (lambda: held_out(np.ones((2, 2)), np.ones((2, 2)), np.zeros((2, 2))), "is in every pair"),
        (lambda: held_out(np.ones((2, 2)), np.ones((2, 2)), np.zeros(2)), "groups has shape"),
    ],
)
def test_invalid_numbers_are_named_in_the_error(made, message):
    with pytest.raises(InputError, match=message):
        made()


@given(models, percents, percents, st.sampled_from([0.0, 5.0, 10.0, 100.0]))
def test_the_oracle_finds_the_quota_of_an_exhaustive_search(model, one, other, budget):
    view = ShareView(0.0, (host(cpu=one),), (candidate(cpu=other),))
    oracle = POLICIES.make("oracle", np.random.default_rng(1), speeds=model.of_jobs, budget=budget)
    answer = oracle.decide(view)
    answer.check(view)
    speeds = {quota: model.speeds(one, other, quota) for quota in view.actions[1:]}
    within = {quota: each.guest for quota, each in speeds.items() if each.host >= 1 / (1 + budget / 100)}
    if not within:
        assert answer.shares == ()
    else:
        assert within[answer.shares[0].quota] == max(within.values())


def test_the_oracle_stops_a_guest_that_exceeds_the_budget():
    pair = host(cpu=99.0, guest=Guest(candidate(), 50))
    oracle = POLICIES.make("oracle", np.random.default_rng(1), budget=1.0)
    assert oracle.decide(ShareView(0.0, (pair,), ())).shares[0].quota == 0
