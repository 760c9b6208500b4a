"""Policies that use only the steps between spikes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.admit.cases import telemetry
from tests.oracles.admission import PlainThreshold
from windlass.admit import POLICIES, AdmissionFleet, AdmitView, Forewarn, Pronto
from windlass.admit.evaluation import intervals
from windlass.admit.lib.thresholds import Threshold
from windlass.admit.measure import onsets, quality
from windlass.admit.policies.rising import Rising
from windlass.model import InputError
from windlass_reproductions.pronto.drawn import drawn_node as drawn


def run(policy, metrics, ready):
    return np.array([policy.observe(*each) for each in zip(metrics, ready, strict=True)])


def long_spikes(seed, steps=3000):
    """Announced spikes of twenty steps: three steps before each, two metrics rise."""
    rng = np.random.default_rng(seed)
    ready, before = 0.1 * rng.random(steps), np.zeros(steps)
    for at in range(100, steps - 40, 70):
        begin = at + int(rng.integers(0, 20))
        ready[begin : begin + 20] = 1.0 + rng.random(20)
        before[begin - 3 : begin] = 3.0
    metrics = rng.normal(size=(steps, 8))
    metrics[:, 0] += before
    metrics[:, 1] += before
    metrics[:, 2] += 5.0 * ready
    return metrics, ready


def test_in_a_spike_nothing_is_rejected_and_the_budget_is_saved():
    metrics, ready = long_spikes(1)
    found = run(Forewarn(8, downtime=0.05, spike=0.9, between=True), metrics, ready)
    assert not found[ready >= 0.9].any()
    assert found.sum() <= 0.05 * (len(found) + 1000)
    spikes = onsets(ready, 0.9, 5)
    assert quality(found[1000:], spikes[1000:], 10).recall > 0.8
    # Without `between`, it also rejects in spikes.
    assert run(Forewarn(8, downtime=0.05, spike=0.9), metrics, ready)[ready >= 0.9].any()


@pytest.mark.matrix(0)
def test_without_precursors_it_is_no_better_than_chance():
    # Would catch a use of future values.
    node = drawn(2, steps=5000, warns=False)
    up = run(Forewarn(60, downtime=0.05, spike=0.2, between=True), node.metrics, node.ready)
    sure = intervals(up[1500:], onsets(node.ready, 0.2, 5)[1500:], 10)
    assert sure.over_chance[0] < 0.05


def test_each_step_is_learned_with_the_highest_value_after_it():
    # Would catch a step learned from twice, the step itself among those after it, and a step in a spike.
    policy, learned = Forewarn(3, rank=2, block=5, within=4, spike=1.0, between=True), []
    policy._learn = lambda place, value: learned.append((policy.steps - 4, value))
    ready = [0.8, 0.1, 0.2, 0.3, 0.4, 2.0, 0.5, 0.1, 0.1, 0.1, 0.2, 0.1, 0.1]
    run(policy, np.random.default_rng(1).normal(size=(len(ready), 3)), ready)
    expected = [
        (at, min(1.0, max(ready[at + 1 : at + 5]))) for at in range(len(ready) - 4) if ready[at] < 1.0
    ]
    assert [at for at, _ in learned] == [at for at, _ in expected]
    assert [value for _, value in learned] == pytest.approx([value for _, value in expected])


def test_a_restored_node_continues_as_if_uninterrupted():
    metrics, ready = telemetry(300), np.abs(np.random.default_rng(1).normal(size=300))
    one = Forewarn(12, rank=3, block=10, spike=1.5, between=True)
    run(one, metrics[:137], ready[:137])
    other = Forewarn.load(one.save())
    assert other.between
    assert (run(one, metrics[137:], ready[137:]) == run(other, metrics[137:], ready[137:])).all()
    assert one.save() == other.save()


def test_a_resting_threshold_saves_budget_and_rejects_nothing():
    moved = Threshold(2, downtime=0.1)
    before, level = moved.left.copy(), moved.level.copy()
    assert not moved.rest(np.full(2, 9.0)).any()
    assert moved.left == pytest.approx(before + 0.1)
    assert (moved.level == level).all()
    for _ in range(2000):
        moved.rest(np.zeros(2))
    assert (moved.left == moved.most).all()


class PlainGate:
    """Whether a node is in a spike, step by step."""

    def __init__(self, spike, share):
        self.threshold = PlainThreshold(spike) if spike else PlainThreshold(0.0, share, gain=0.01)
        self.inside = False

    def closed(self, ready):
        if not np.isnan(ready):
            self.threshold.above(ready)
            self.inside = ready > 0.0 and ready >= self.threshold.level
        return self.inside


GAUGES = {
    "ready": lambda ready, before, busy: ready,
    "utilisation": lambda ready, before, busy: busy,
    "rising": lambda ready, before, busy: ready + max(0.0, ready - before),
    "alarm": lambda ready, before, busy: ready,
}


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.9, None]), st.sampled_from(sorted(GAUGES)))
@settings(max_examples=40, deadline=None)
def test_each_gauge_between_spikes_equals_a_plain_one(seed, spike, name):
    # Would catch a threshold that moves in a spike, a budget that does not grow there, and a rise since the last step
    # outside of spikes.
    rng = np.random.default_rng(seed)
    ready = np.where(rng.random(200) < 0.2, 1.0, 0.4) * rng.random(200)
    ready[rng.random(200) < 0.1] = np.nan
    busy = np.where(np.isnan(ready), np.nan, rng.random(200))
    more = {"forecaster": "naive", "series": "values"} if name == "alarm" else {}
    policy = POLICIES.make(name, rng, downtime=0.2, between=True, spike=spike, share=0.1, **more)
    gate, threshold, last, before = PlainGate(spike, 0.1), PlainThreshold(0.0, 0.2), False, np.nan
    for at in range(200):
        found = policy.decide(AdmitView(0.0, np.zeros(1), float(busy[at]), float(ready[at])))
        value = GAUGES[name](ready[at], ready[at] if np.isnan(before) else before, busy[at])
        if name == "alarm" and np.isnan(ready[at]):
            pass
        elif gate.closed(ready[at]):
            threshold.rest()
            last = False
        elif not np.isnan(value):
            last = threshold.above(value)
        before = before if np.isnan(ready[at]) else ready[at]
        assert found.reject == last


def test_random_rejects_between_spikes_with_the_downtime_of_all_steps():
    ready = np.tile([0.0] * 6 + [1.0] * 4, 1000)
    policy = POLICIES.make("random", np.random.default_rng(1), downtime=0.3, between=True, spike=0.5)
    found = np.array([policy.decide(AdmitView(0.0, np.zeros(1), ready=each)).reject for each in ready])
    assert not found[ready >= 0.5].any()
    assert found.mean() == pytest.approx(0.3, abs=0.01)


@pytest.mark.matrix(0)
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_a_fleet_between_spikes_equals_each_node_alone(seed):
    rng = np.random.default_rng(seed)
    steps, nodes, dim = 160, 3, 6
    metrics, ready = rng.normal(size=(steps, nodes, dim)), rng.random((steps, nodes))
    ready[rng.random((steps, nodes)) < 0.1] = np.nan
    given_ = {
        "rank": 2,
        "block": 10,
        "lag": 5,
        "downtime": 0.2,
        "between": True,
        "share": 0.3,
        "signal": "scores",
    }
    fleet, alone = AdmissionFleet(nodes, dim, **given_), [Pronto(dim, **given_) for _ in range(nodes)]
    gates = [PlainGate(None, 0.3) for _ in range(nodes)]
    # A restored fleet continues in the same state.
    for at in range(steps):
        found = fleet.observe(metrics[at], ready[at])
        assert found.tolist() == [
            node.observe(row, own) for node, row, own in zip(alone, metrics[at], ready[at], strict=True)
        ]
        closed = [gate.closed(own) for gate, own in zip(gates, ready[at], strict=True)]
        assert not (found & closed).any()
        if at == 80:
            fleet = AdmissionFleet.load(fleet.save())
    assert found.shape == (nodes,)
    with pytest.raises(InputError, match=r"ready has shape \(0,\), expected \(3,\): `between` needs"):
        fleet.observe(metrics[0])


def test_a_node_in_a_spike_gains_budget_and_its_threshold_stays():
    node = Pronto(4, rank=1, block=4, lag=2, downtime=0.1, between=True, spike=0.5)
    rng = np.random.default_rng(1)
    for row in rng.normal(size=(20, 4)):
        node.observe(row, 0.0)
    threshold = node.fleet.threshold
    level, left = threshold.level.copy(), threshold.left.copy()
    assert not node.observe(np.full(4, 50.0), 0.5)
    assert (threshold.level == level).all()
    assert threshold.left == pytest.approx(np.minimum(left + 0.1, threshold.most))


@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 60))
@settings(max_examples=20, deadline=None)
def test_a_restored_rising_policy_continues_as_if_uninterrupted(seed, between, at):
    ready = np.random.default_rng(seed).random(120)
    ready[::7] = np.nan
    policy = Rising(dim=5, downtime=0.2, rise=2.0, between=between, share=0.2)
    views = [AdmitView(0.0, np.zeros(5), ready=each) for each in ready]
    for view in views[:at]:
        policy.decide(view)
    other = Rising.load(policy.save())
    assert other.dim == 5
    # Until CPU Ready is known, the last answer holds, which is not saved.
    after = views[at:]
    known = next(place for place, view in enumerate(after) if not np.isnan(view.ready))
    assert [policy.decide(view).reject for view in after][known:] == [
        other.decide(view).reject for view in after
    ][known:]
    assert policy.save() == other.save()
    with pytest.raises(InputError, match="saved state"):
        Rising.load(policy.save()[:-9])
