"""Whole nodes, step by step, against plain ones: scores, answers and state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.oracles.admission import PlainForewarn, PlainPronto, PlainThreshold
from windlass.admit import Forewarn, Pronto, Subspace
from windlass.admit.lib.thresholds import Threshold
from windlass.admit.shared_model import Lesson

seeds = st.integers(0, 2**32 - 1)


def recorded(seed, steps, dim):
    """Metrics with missing values and lost steps, and CPU Ready in quiet times and in spikes, at times unknown."""
    rng = np.random.default_rng(seed)
    load = np.convolve(rng.random(steps) < 0.08, [1.0, 2.0, 3.0, 2.0], "same")
    metrics = np.outer(load, rng.normal(size=dim)) + rng.normal(size=(steps, dim)) * rng.uniform(
        0.3, 2.0, dim
    )
    metrics[rng.random(metrics.shape) < 0.05] = np.nan
    metrics[rng.random(steps) < 0.03] = np.nan
    ready = np.where(load > 1.5, rng.uniform(0.5, 1.5, steps), 0.3 * rng.random(steps) ** 2)
    ready[rng.random(steps) < 0.05] = np.nan
    return metrics, ready


@given(seeds, st.sampled_from(["spikes", "absolute", "scores"]), st.sampled_from(["raw", "unit", "equal"]))
# Scores of 1 that differ by rounding.
@example(37174409, "absolute", "unit")
@settings(max_examples=12, deadline=None)
def test_a_pronto_node_equals_a_plain_one(seed, signal, weights):
    rng = np.random.default_rng([seed, 1])
    rank, dim = int(rng.integers(1, 4)), 6
    requested = {
        "rank": rank,
        "block": rank + int(rng.integers(4, 8)),
        "forget": rng.choice([1.0, 0.9]),
        "energy": (0.1, 0.3) if rng.random() < 0.5 else None,
        "lag": int(rng.integers(2, 9)),
        "alpha": rng.choice([1.0, 2.5]),
        "beta": rng.choice([0.0, 0.3, 1.0]),
        "weights": weights,
        "signal": signal,
        "threshold": rng.choice([0.5, 2.0]),
        "downtime": rng.choice([None, 0.1, 0.4]),
        "memory": rng.choice([8.0, 1000.0]),
        "clip": rng.choice([2.0, 10.0]),
    }
    node, plain = Pronto(dim, **requested), PlainPronto(dim, **requested)
    for row in recorded(seed, 70, dim)[0]:
        found, expected = node.observe(row), plain.step(row)
        assert node.fleet.scores[0] == pytest.approx(plain.score, rel=1e-6, abs=1e-6)
        assert node.singular_values == pytest.approx(plain.singular, rel=1e-6, abs=1e-6)
        if abs(plain.score - plain.threshold.level) > 1e-6:
            assert found == expected


def arguments_of(seed):
    """Arguments of a Forewarn node."""
    rng = np.random.default_rng([seed, 2])
    rank = int(rng.integers(1, 4))
    return {
        "downtime": rng.choice([0.05, 0.3]),
        "rank": rank,
        "block": rank + int(rng.integers(4, 8)),
        "forget": rng.choice([1.0, 0.9]),
        "within": int(rng.integers(1, 7)),
        "spike": rng.choice([None, 0.4]),
        "share": rng.choice([0.05, 0.2]),
        "apart": int(rng.integers(1, 4)),
        "slow": rng.choice([15.0, 5000.0]),
        "memory": rng.choice([8.0, 1000.0]),
        "clip": rng.choice([2.0, 10.0]),
        "between": bool(rng.random() < 0.5),
    }


def check_equal_steps(node, plain, metrics, ready):
    for row, value in zip(metrics, ready, strict=True):
        found, expected = node.observe(row, value), plain.step(row, value)
        assert node.score == pytest.approx(plain.score, rel=1e-6, abs=1e-7)
        assert node.covariance == pytest.approx(plain.told, rel=1e-6, abs=1e-9)
        if abs(plain.score - plain.threshold.level) > 1e-7:
            assert found == expected


@given(seeds)
@settings(max_examples=15, deadline=None)
def test_a_forewarn_node_equals_a_plain_one(seed):
    node, plain = Forewarn(6, **arguments_of(seed)), PlainForewarn(6, **arguments_of(seed))
    check_equal_steps(node, plain, *recorded(seed, 70, 6))
    assert node.weights == pytest.approx(plain.weights, rel=1e-6, abs=1e-9)


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_a_new_node_with_a_lesson_equals_a_plain_one(seed):
    rng, requested = np.random.default_rng([seed, 3]), arguments_of(seed)
    basis = np.linalg.qr(rng.normal(size=(6, requested["rank"])))[0]
    singular = np.sort(rng.uniform(1.0, 5.0, requested["rank"]))[::-1]
    metrics, plain_part = rng.normal(size=(6, 2)), rng.normal(size=4)
    node, plain = Forewarn(6, **requested), PlainForewarn(6, **requested)
    node.start(Lesson(Subspace(basis, singular), metrics, plain_part, 300.0))
    plain.start(basis, singular, metrics, plain_part)
    check_equal_steps(node, plain, *recorded(seed, 40, 6))


def test_a_new_node_scores_by_its_lesson():
    # The lesson is in terms of metrics, so it can be computed without directions.
    rng = np.random.default_rng(5)
    metrics, plain = rng.normal(size=(6, 2)), rng.normal(size=4)
    basis = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    node = Forewarn(6, rank=2, block=30, within=8, spike=0.5)
    node.start(Lesson(Subspace(basis, np.array([2.0, 1.0])), metrics, plain, 100.0))
    mean, before = 0.0, np.zeros(6)
    for row, ready in zip(rng.normal(size=(8, 6)), rng.random(8), strict=True):
        node.observe(row, ready)
        mean += (ready / 0.5 - mean) / 8
        now = ready / 0.5
        vector = node.scaled
        expected = (
            plain @ [1.0, now, now - mean, mean] + metrics[:, 0] @ vector + metrics[:, 1] @ (vector - before)
        )
        assert node.score == pytest.approx(expected)
        before = vector.copy()


@given(seeds, st.sampled_from([0.0004, 0.01, 0.2, 0.7]), st.sampled_from([0.1, 0.01]))
@settings(max_examples=10, deadline=None)
def test_a_moved_threshold_equals_a_plain_one_for_each_node(seed, downtime, gain):
    rng = np.random.default_rng(seed)
    scores = np.stack([rng.normal(size=150), 3.0 * rng.random(150) + np.arange(150) * 0.05], axis=1)
    known = rng.random((150, 2)) < 0.8
    moved = Threshold(2, 5.0, downtime, gain)
    plain = [PlainThreshold(5.0, downtime, gain) for _ in range(2)]
    for row, row_known in zip(scores, known, strict=True):
        high = moved.above(row, row_known)
        for node in range(2):
            assert high[node] == (plain[node].above(row[node]) if row_known[node] else False)
        assert moved.level == pytest.approx([each.level for each in plain])
        assert moved.left == pytest.approx([each.left for each in plain])


def test_a_fixed_threshold_compares_known_scores_only():
    fixed = Threshold(3, 1.0)
    scores = np.array([1.0, 2.0, 0.5])
    assert fixed.above(scores).tolist() == [True, True, False]
    assert fixed.above(scores, np.array([False, True, True])).tolist() == [False, True, False]
    assert fixed.level.tolist() == [1.0] * 3
    assert not fixed.rest(scores).any()
    assert fixed.left.tolist() == [0.5] * 3


@given(seeds)
@settings(max_examples=8, deadline=None)
def test_the_score_of_a_lesson_equals_the_node_s_score(seed):
    metrics, ready = recorded(seed, 60, 6)
    node = Forewarn(6, rank=2, block=7, within=3, spike=0.4)
    mean, last, before = 0.0, 0.0, np.zeros(6)
    for at, (row, value) in enumerate(zip(metrics, ready, strict=True)):
        lesson, singular = (node.lesson() if at >= 7 else None), node.stream.weights[0].copy()
        node.observe(row, value)
        if not np.isnan(value):
            last, mean = value, mean + (value - mean) / 3
        # After a block the projections change with the new directions, which a lesson cannot express.
        if lesson is not None and at % 7 and not np.isnan(row).all():
            now, slow = min(last / 0.4, 5.0), min(mean / 0.4, 5.0)
            expected = lesson.plain @ [1.0, now, now - slow, slow]
            expected += lesson.metrics[:, 0] @ node.scaled + lesson.metrics[:, 1] @ (node.scaled - before)
            assert node.score == pytest.approx(expected, abs=1e-9)
            assert lesson.subspace.singular == pytest.approx(singular)
        before = node.scaled.copy()
    # It has learned from each step that is followed by at least three others.
    assert node.lesson().count == pytest.approx(sum((1 - 1 / 5000) ** age for age in range(57)))
