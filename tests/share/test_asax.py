"""The whole ASAx policy: its draws, its learning, the pairs it undoes, and its saved state."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.share.cases import candidate, host, views
from windlass.io import unseal_text
from windlass.model import InputError
from windlass.share import POLICIES, Checkpoint, Guest, ShareView
from windlass.share.lib.mixture import UPDATES, Mixture
from windlass.share.policies.asax import Asax


def asax(**parameters: object) -> Asax:
    return POLICIES.make("asax", np.random.default_rng(5), **parameters)


def started(policy: Asax, **changed: object):
    """Return a host with the guest that the policy gave it; draw again until it gives one."""
    view = ShareView(0.0, (host(**changed),), (candidate(),))
    while not (shares := policy.decide(view).shares):
        pass
    return replace(view.running[0], guest=Guest(candidate(), shares[0].quota, note=shares[0].note))


def checkpoint(pair, **after: object) -> Checkpoint:
    now = replace(pair, **after)
    return Checkpoint(pair, now, pair.guest)


@given(views())
def test_every_answer_can_be_carried_out(view):
    policy = asax()
    for _ in range(3):
        answer = policy.decide(view)
        answer.check(view)
        for share in answer.shares:
            assert share.note[0] > 0
            assert len(share.note) == 5


def test_quotas_are_drawn_with_the_chances_of_the_mixture():
    # Would catch a ladder that is off by one action.
    policy, one = asax(), host(cpu=10.0)
    chances = Mixture.fresh(4).blend(policy.experts.advice(one))
    view = ShareView(0.0, (one,), (candidate(),))
    drawn = [sum(share.quota for share in policy.decide(view).shares) // 10 for _ in range(4000)]
    found = np.bincount(drawn, minlength=10) / len(drawn)
    assert found == pytest.approx(chances, abs=0.03)


def test_frozen_weights_stay_equal_and_harmful_pairs_are_still_undone():
    learning, frozen = (
        asax(update="exp4-ix", loss="progress"),
        asax(update="exp4-ix", loss="progress", learn=False),
    )
    for policy in (learning, frozen):
        pair = started(policy)
        for _ in range(20):
            policy.observed(checkpoint(pair, rate=0.3 * pair.rate_alone))
    assert frozen.learned == {}
    assert frozen.mixture("montage").weights.tolist() == [0.25] * 4
    (weights,) = [known.weights for known in learning.learned.values()]
    assert np.ptp(weights) > 0.0
    harmed = replace(pair, rate=0.3 * pair.rate_alone)
    (share,) = frozen.decide(ShareView(0.0, (harmed,), ())).shares
    assert (share.quota, share.why[:7]) == (0, "undone:")


def test_a_note_holds_the_chances_of_the_drawn_quota():
    # Would catch the chances of another action: losses would then move the wrong weights.
    policy = asax()
    for _ in range(30):
        pair = started(policy, cpu=60.0, parallel=False)
        given_by = policy.experts.advice(replace(pair, guest=None))[:, pair.guest.quota // 10]
        assert pair.guest.note == pytest.approx((given_by.mean(), *given_by))


def test_a_drawn_quota_of_zero_tries_the_next_host():
    policy, never = asax(), 0
    view = ShareView(0.0, (host(1, cpu=99.0), host(3, cpu=5.0)), (candidate(),))
    hosts = [share.host for _ in range(300) for share in policy.decide(view).shares]
    assert hosts.count(1) > never < hosts.count(3)


@pytest.mark.parametrize("update", UPDATES)
def test_losses_move_weight_away_from_the_experts_that_advised(update):
    # Here large quotas hurt and small ones do not. Would catch a note of the wrong action, and a sign.
    policy = asax(loss="progress", update=update)
    for _ in range(200):
        pair = started(policy, cpu=10.0, parallel=True)
        policy.observed(checkpoint(pair, rate=pair.rate_alone * (0.5 if pair.guest.quota > 40 else 1.0)))
    weights = policy.mixture("montage").weights
    mean = policy.experts.advice(host(cpu=10.0, parallel=True)) @ np.array(policy.experts.actions)
    assert weights[mean.argmax()] < 0.25 < weights[mean.argmin()]
    assert policy.mixture("blast").weights.tolist() == [0.25] * 4


@pytest.mark.parametrize(
    "changed",
    [{"rate": math.nan}, {"rate_alone": math.nan}, {"tasks_left": math.nan, "rate": math.nan}],
)
def test_it_learns_nothing_from_missing_measurements(changed):
    policy = asax(loss="progress")
    policy.observed(checkpoint(started(policy), **changed))
    assert not policy.learned


def test_it_learns_nothing_from_a_stopped_guest_or_a_pair_without_a_note():
    policy = asax(loss="progress")
    pair = started(policy)
    for guest in (replace(pair.guest, quota=0), replace(pair.guest, note=())):
        policy.observed(Checkpoint(pair, replace(pair, rate=0.01), guest))
    assert not policy.learned


def test_a_host_killed_at_its_walltime_is_a_full_loss():
    policy = asax()
    pair = started(policy, elapsed=3599.0)
    end = replace(pair, elapsed=3600.0)
    policy.observed(Checkpoint(pair, end, pair.guest, ended=True, killed=False))
    assert policy.mixture("montage").risk.tolist() == [0.0] * 4
    policy.observed(Checkpoint(pair, end, pair.guest, ended=True, killed=True))
    assert policy.mixture("montage").risk == pytest.approx(pair.guest.note[1:])


def test_a_pair_that_slows_its_host_is_undone_for_good():
    policy = asax(loss="progress")
    pair = started(policy)
    hurt = replace(pair, rate=pair.rate_alone / 1.2)
    (share,) = policy.decide(ShareView(1.0, (hurt,), ())).shares
    assert (share.quota, share.note) == (0, ())
    assert "undone: loss 0.40 is above 0.2" in share.why
    undone = replace(pair, guest=Guest(candidate(), 0))
    assert all(not policy.decide(ShareView(2.0, (undone,), ())).shares for _ in range(20))


def test_a_loss_within_the_tolerance_undoes_nothing():
    pair = started(asax(loss="progress"))
    slowed = replace(pair, rate=0.5, rate_alone=0.625)  # a slowdown of 0.25, a loss of 0.5
    kept = asax(loss="progress", tolerance=0.5, redraw=False)
    assert kept.decide(ShareView(1.0, (slowed,), ())).shares == ()
    undoes = asax(loss="progress", tolerance=0.49, redraw=False)
    assert undoes.decide(ShareView(1.0, (slowed,), ())).shares[0].quota == 0


def test_a_good_pair_is_redrawn_or_kept():
    pair = started(asax(loss="progress"))
    quotas = {asax(loss="progress", gamma=0.1).decide(ShareView(1.0, (pair,), ())).shares[0].guest}
    assert quotas == {2}
    assert asax(loss="progress", redraw=False).decide(ShareView(1.0, (pair,), ())).shares == ()


@pytest.mark.parametrize("update", UPDATES)
def test_a_restored_policy_has_learned_the_same(update):
    policy = asax(loss="progress", update=update)
    for _ in range(30):
        policy.observed(checkpoint(started(policy), rate=0.01))
    other = asax(loss="progress", update=update)
    other.restore(policy.saved())
    assert other.saved() == policy.saved()
    assert other.mixture("montage").weights.tolist() == policy.mixture("montage").weights.tolist()
    for each in (policy, other):
        each.observed(checkpoint(pair := started(asax(loss="progress")), rate=0.02, elapsed=pair.elapsed + 1))
    assert other.saved() == policy.saved()


def corrupted(text: str, **changed: object) -> str:
    return json.dumps({**json.loads(text), **changed})


def of_class(text: str, **changed: object) -> str:
    one = json.loads(text)["classes"][0]
    return corrupted(text, classes=[{**one, **changed}])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: "", "saved state: 0 bytes that do not begin"),
        (lambda text: "{", "saved state: text: is not JSON"),
        (lambda text: "[1, 2", "saved state: 5 bytes that do not begin"),
        (lambda text: corrupted(text, version=2), "saved state: version: expected 1, found 2"),
        (lambda text: corrupted(text, format="other"), "saved state: format: expected .*, found 'other'"),
        (lambda text: corrupted(text, update="exp4-ix"), "update is exp4-ix, expected printed"),
        (lambda text: corrupted(text, actions=[0, 50]), r"actions is \[0, 50\], expected"),
        (lambda text: corrupted(text, metrics=["cpu"]), r"metrics is \['cpu'\], expected"),
        (lambda text: corrupted(text, more=1), "saved state: more: no such field, found 1"),
        (lambda text: of_class(text, risk=[0.1]), "classes.0.risk has 1 numbers, expected 4"),
        (lambda text: of_class(text, risk=[-0.1] * 4), "classes.0.risk.0: expected at least 0, found -0.1"),
        (lambda text: of_class(text, rounds=-1), "classes.0.rounds: expected at least 0, found -1"),
        (lambda text: of_class(text, total=[-0.1] * 4), "classes.0.total.0: expected at least 0, found -0.1"),
        (lambda text: of_class(text, logs=[0.1] * 4), "classes.0.logs.0: expected at most .*, found 0.1"),
        (lambda text: of_class(text, total=[0.1] * 5), "classes.0.total has 5 numbers, expected 4"),
        (lambda text: of_class(text, logs=[-0.7] * 2), "classes.0.logs has 2 numbers, expected 4"),
        (lambda text: of_class(text, more="x"), "classes.0.more: no such field, found 'x'"),
        (
            lambda text: corrupted(text, classes=json.loads(text)["classes"] * 2),
            "classes.1.job_class is 'montage', which occurs twice",
        ),
        (lambda text: of_class(text, logs=[-0.1] * 4), "classes.0.logs are of weights with sum 3.6"),
        (
            lambda text: text.replace('"total": [', '"total": [NaN, '),
            "saved state: text: |classes.0.total.0: expected a finite number, found nan",
        ),
    ],
)
def test_a_corrupt_state_is_rejected_and_changes_nothing(spoil, message):
    policy = asax(loss="progress")
    for _ in range(30):
        policy.observed(checkpoint(started(policy), rate=0.01))
    before = policy.saved()
    with pytest.raises(InputError, match=message) as error:
        policy.restore(spoil(unseal_text(before, "sharing")))
    assert "\n" not in str(error.value)
    assert policy.saved() == before


def test_actions_other_than_the_experts_are_rejected():
    with pytest.raises(InputError, match=r"actions are \[0, 50\], expected those of the experts, \[0, 10"):
        asax().decide(ShareView(0.0, (), (), actions=(0, 50)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "mood"}, "loss is 'mood', expected one of walltime, progress, wait"),
        ({"update": "greedy"}, "update is 'greedy'"),
        ({"full": 0.0}, "full is 0.0"),
        ({"tolerance": math.nan}, "tolerance is nan"),
        ({"experts": "none.yaml"}, "none.yaml: no such file"),
    ],
)
def test_invalid_parameters_are_named_in_the_error(parameters, message):
    with pytest.raises(InputError, match=message):
        asax(**parameters)


@given(st.integers(0, 2**32))
def test_the_same_generator_draws_the_same(seed):
    view = ShareView(0.0, (host(1), host(3)), (candidate(), candidate(4)))
    answers = [Asax(np.random.default_rng(seed)).decide(view) for _ in range(2)]
    assert answers[0] == answers[1]
