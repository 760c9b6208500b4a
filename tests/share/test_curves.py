"""Learning curves, cross-validation and the oracle's ties against plain loops; defaults of policies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import nnls

from tests.share.cases import candidate, host
from windlass.model import InputError
from windlass.share import POLICIES, Checkpoint, Guest, ShareView
from windlass.share.interference import Interference, Speeds, held_out
from windlass.share.learning import learning_curve, turned_curve
from windlass.share.lib.mixture import UPDATES, Mixture, Rule, bound


def followed(rule, cases):
    """A plain version: after each round, the excess of the weights' risk over the best expert's."""
    mixture, weighted, total, risk, curve = Mixture.fresh(rule.experts), 0.0, 0.0, 0.0, []
    for given, chance, loss in cases:
        scale = 1.0 / (chance + rule.rate(mixture.rounds + 1) / 2) if rule.update == "exp4-ix" else 1.0
        risk = risk + np.array(given) * loss * scale
        weights, rounds = mixture.weights, mixture.rounds
        mixture = mixture.after(rule, np.array(given), chance, loss)
        if mixture.rounds > rounds:
            weighted, total, risk = weighted + weights @ risk, total + risk, 0.0
            curve.append(weighted - total.min())
    return curve


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("gamma", [None, 0.3])
def test_a_learning_curve_is_the_excess_risk_over_the_best_expert(update, gamma):
    rng, draws = np.random.default_rng(4), np.random.default_rng(7)
    advice = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    losses = rng.random((120, 3))
    found = learning_curve(update, gamma, advice, losses, np.random.default_rng(7))
    rule, mixture, cases = Rule(2, 3, update, gamma), Mixture.fresh(2), []
    for cost in losses:
        chances = mixture.blend(advice)
        action = int(draws.choice(3, p=chances))
        cases.append((advice[:, action], float(chances[action]), float(cost[action])))
        mixture = mixture.after(rule, *cases[-1])
    curve = followed(rule, cases)
    assert found.excess == pytest.approx(curve)
    assert found.allowed == pytest.approx([bound(rule, t) for t in range(1, len(curve) + 1)])


@pytest.mark.parametrize("update", UPDATES)
def test_a_turned_curve_charges_one_expert_and_then_the_other(update):
    found = turned_curve(update, 0.2, 30, 50)
    cases = [(np.array([1.0, 0.0]), 1.0, 1.0)] * 30 + [(np.array([0.0, 1.0]), 1.0, 1.0)] * 50
    curve = followed(Rule(2, 1, update, 0.2), cases)
    assert found.excess == pytest.approx(curve)
    assert len(found.allowed) == len(curve) > 20


@pytest.mark.parametrize(("n", "gamma"), [(2, None), (5, None), (4, 0.3), (1, None)])
@pytest.mark.parametrize("update", UPDATES)
def test_the_bound_is_that_of_the_theorem(n, gamma, update):
    rule = Rule(n, 10, update, gamma)
    rates = [
        gamma or math.sqrt(math.log(max(n, 2)) / (t * 10 if update == "exp4-ix" else t)) for t in range(1, 8)
    ]
    for rounds in range(1, 8):
        wanted = (math.log(n) + sum(rate**2 for rate in rates[:rounds]) / 2) / rates[rounds - 1]
        assert bound(rule, rounds) == pytest.approx(wanted)
    assert bound(rule, 0) == pytest.approx(math.log(n) / rates[0])


def plain_held_out(use, speed, groups, folds):
    """Errors of each fold's predictions, one speed after the other."""
    names = sorted({each for row in groups.tolist() for each in row})
    part = {name: place % folds for place, name in enumerate(names)}
    ours, mean, fair = [], [], []
    for fold in range(folds):
        out = [row for row in range(len(use)) if fold in {part[each] for each in groups[row].tolist()}]
        seen = [row for row in range(len(use)) if row not in out]
        sides = [(row, side) for row in seen for side in (0, 1)]

        def features(row, side):
            own, other = use[row, side] / 100, use[row, 1 - side] / 100
            return [other, own * other, max(0.0, own + other - 1)]

        model = nnls(np.array([features(*each) for each in sides]), -np.log([speed[each] for each in sides]))[
            0
        ]
        for row in out:
            for side in (0, 1):
                own, other = use[row, side] / 100, use[row, 1 - side] / 100
                ours.append(math.exp(-(np.array(features(row, side)) @ model)) - speed[row, side])
                mean.append(np.mean([speed[each] for each in sides]) - speed[row, side])
                fair.append(min(1.0, max(0.5, 1 - other) / own if own else 1.0) - speed[row, side])
    return ours, mean, fair


@pytest.mark.parametrize(("folds", "seed"), [(2, 1), (3, 2), (5, 3), (10, 4)])
def test_held_out_errors_equal_those_of_plain_loops(folds, seed):
    rng = np.random.default_rng(seed)
    use, speed = rng.uniform(0, 100, (30, 2)), rng.uniform(0.3, 1.0, (30, 2))
    use[0] = 0.0
    groups = rng.integers(0, 7, (30, 2))
    parts = min(folds, 7)
    wanted = plain_held_out(use, speed, groups, parts)
    found = held_out(use, speed, groups, folds)
    errors = [np.abs(each).mean() for each in wanted]
    assert (found.error, found.of_the_mean, found.of_fair_shares) == pytest.approx(errors)
    assert found.root_mean_square == pytest.approx(math.sqrt(np.square(wanted[0]).mean()))
    assert (found.predicted, found.folds) == (len(wanted[0]), parts)
    if folds == 10:
        assert held_out(use, speed, groups) == found


def test_a_fold_that_is_in_every_pair_is_rejected():
    # Each pair is of two groups: without either of them no pair is left to fit.
    groups = np.array([[0, 1], [0, 1], [1, 0]])
    with pytest.raises(InputError, match=r"groups: fold 0 of 2 is in every pair"):
        held_out(np.full((3, 2), 50.0), np.full((3, 2), 0.9), groups, 2)


def test_of_equally_good_quotas_the_oracle_takes_the_smallest():
    def speeds(one, guest, quota):
        return Speeds(1.0 if quota <= 70 else 0.5, 0.8 if quota >= 30 else 0.3)

    oracle = POLICIES.make("oracle", np.random.default_rng(1), speeds=speeds)
    (share,) = oracle.decide(ShareView(0.0, (host(),), (candidate(),))).shares
    assert (share.quota, oracle.budget) == (30, 0.1)
    assert share.why == "the guest has 80 % of its speed, the host stays within its budget"


def test_the_oracle_assumes_time_sharing_by_default():
    oracle = POLICIES.make("oracle", np.random.default_rng(1))
    # At 50 % the host has 50 of the 54 % that it needs: 8 % slower. At 60 % it would be 35 % slower.
    (share,) = oracle.decide(ShareView(0.0, (host(cpu=54.0),), (candidate(),))).shares
    assert share.quota == 50
    (share,) = oracle.decide(ShareView(0.0, (host(cpu=56.0),), (candidate(),))).shares
    assert share.quota == 40


@pytest.mark.parametrize(("name", "quota"), [("always", 30), ("static", 50)])
def test_policies_without_inputs_give_every_pair_their_default_quota(name, quota):
    policy = POLICIES.make(name, np.random.default_rng(1))
    view = ShareView(0.0, (host(1, cpu=100.0), host(3, cpu=0.0)), (candidate(2), candidate(4)))
    assert [(each.host, each.guest, each.quota) for each in policy.decide(view).shares] == [
        (1, 2, quota),
        (3, 4, quota),
    ]


def test_asax_is_as_printed_by_default():
    policy = POLICIES.make("asax", np.random.default_rng(1))
    known = (policy.rule.update, policy.rule.gamma, policy.loss, policy.full, policy.tolerance, policy.redraw)
    assert known == ("printed", None, "walltime", 0.5, 0.2, True)


def test_asax_learns_from_a_quota_of_one_percent(tmp_path):
    leaves = "leaves: [[[50, 50], [50, 50]], [[50, 50], [50, 50]]]"
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"actions: [0, 1]\nhappiness: [1.0]\nexperts:\n  - metric: cpu\n    bands: [50]\n    {leaves}\n"
    )
    policy = POLICIES.make("asax", np.random.default_rng(1), experts=path, loss="progress")
    guest = Guest(candidate(), 1, note=(0.5, 0.5))
    hurt = host(rate=0.025, guest=guest)
    policy.observed(Checkpoint(hurt, hurt, guest))
    assert policy.mixture("montage").risk.tolist() == [0.5]
    # It undoes a pair with that quota.
    (share,) = policy.decide(ShareView(0.0, (hurt,), (), actions=(0, 1))).shares
    assert (share.quota, "undone" in share.why) == (0, True)


def test_a_guest_whose_drawn_quota_is_zero_is_redrawn():
    policy = POLICIES.make("asax", np.random.default_rng(1))
    paused = host(guest=Guest(candidate(), 0, note=(0.1, 0.2, 0.1, 0.0, 0.1)))
    quotas = [policy.decide(ShareView(0.0, (paused,), ())).shares[0].quota for _ in range(50)]
    assert sum(quotas) > 0


def test_a_guest_with_zero_measured_use_exerts_no_pressure():
    model = Interference(0.1, 0.2, 0.3)
    assert model.of_jobs(host(cpu=50.0), candidate(cpu=0.0), 90).guest == pytest.approx(math.exp(-0.1 * 0.1))
    assert model.of_jobs(host(cpu=50.0), candidate(cpu=math.nan), 50).guest < 0.5
