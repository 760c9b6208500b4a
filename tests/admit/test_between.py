"""Forewarn that uses only the steps between spikes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.admit.cases import telemetry
from windlass.admit import Forewarn
from windlass.admit.evaluation import BETWEEN, intervals, later
from windlass.admit.lib.thresholds import Threshold
from windlass.admit.measure import onsets, quality
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


def test_later_candidates_include_each_downtime():
    assert [(each.label, each.downtime, each.parameters["between"]) for each in later([0.05, 0.1])] == [
        (BETWEEN, 0.05, True), (BETWEEN, 0.1, True),
    ]  # fmt: skip
