"""Admission on nodes: scaling, spikes and the signal, of one node and of many at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.admit.cases import low_rank, telemetry
from windlass.admit import AdmissionFleet, AdmitSiteView, Pronto
from windlass.admit.compiled import CurrentAnswers
from windlass.admit.lib.scaling import scaled_block
from windlass.admit.lib.spike_gate import SpikeGate
from windlass.admit.lib.spikes import Spikes
from windlass.admit.lib.thresholds import Threshold
from windlass.admit.lib.trackers import TRACKERS
from windlass.admit.policies.ready import Ready
from windlass.admit.policies.utilisation import Utilisation
from windlass.model import InputError

seeds = st.integers(0, 2**32 - 1)
values = st.one_of(st.floats(-1e3, 1e3), st.sampled_from([np.nan, np.inf, -np.inf, 0.0]))


def scaled_naively(column, memory, clip):
    """Mean and variance of all earlier finite values, older ones with less weight, recomputed for each step."""
    found, past = [], []
    for value in column:
        if not np.isfinite(value):
            found.append(0.0)
            continue
        weights = np.ones(0)
        for count in range(1, len(past) + 1):
            gain = max(1.0 / count, 1.0 / memory)
            weights = np.append(weights * (1.0 - gain), gain)
        mean = weights @ np.array(past) if past else 0.0
        spread = np.sqrt(weights @ (np.array(past) - mean) ** 2) if past else 0.0
        found.append(np.clip((value - mean) / spread, -clip, clip) if spread > 1e-9 * abs(mean) else 0.0)
        past.append(value)
    return np.array(found)


@given(
    st.lists(values, min_size=1, max_size=30),
    st.sampled_from([3.0, 10.0, 1000.0]),
    st.sampled_from([2.0, 10.0]),
)
@settings(max_examples=150, deadline=None)
def test_scaling_equals_a_naive_computation(column, memory, clip):
    # Would catch statistics that include the value they scale, or NaN that counts.
    found = scaled_block(np.array(column)[:, None], memory, clip)[:, 0]
    expected = scaled_naively(column, memory, clip)
    known = [value for value in column if np.isfinite(value)]
    spreads = [np.std(known[:at]) for at in range(1, len(known))]
    # Nearly constant columns differ from constant ones only by rounding.
    if all(spread == 0.0 or spread > 1e-3 for spread in spreads):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_scaling_of_constant_jumping_and_missing_metrics():
    steps = np.arange(40.0)
    constant, jumps = np.full(40, 7.1), np.where(steps < 20, 7.1, 9.0)
    late = np.where(steps < 20, np.nan, np.sin(steps))
    found = scaled_block(np.column_stack([constant, jumps, late, np.full(40, np.nan)]), clip=10.0)
    assert not found[:, 0].any()
    # At its first change the scale of a metric is unknown; at the next step it is known.
    assert found[20, 1] == 0.0
    assert 0.0 < found[21, 1] <= 10.0
    assert not found[:21, 2].any()
    assert found[25:, 2].any()
    assert not found[:, 3].any()


def spikes_naively(signal, lag, alpha, beta):
    """Van Brakel's published algorithm, on lists."""
    filtered, found = list(signal[:lag]), [0] * lag
    for value in signal[lag:]:
        mean, spread = np.mean(filtered[-lag:]), np.std(filtered[-lag:])
        if abs(value - mean) > alpha * spread:
            found.append(1 if value > mean else -1)
            filtered.append(beta * value + (1 - beta) * filtered[-1])
        else:
            found.append(0)
            filtered.append(value)
    return found


@given(
    seeds,
    st.integers(2, 12),
    st.sampled_from([2.0, 3.5]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
@settings(max_examples=100, deadline=None)
def test_spikes_equal_van_brakel_s_algorithm(seed, lag, alpha, beta):
    # Would catch raw values in the filter, dampening downwards only, or statistics that include the value.
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=120) + 8.0 * (rng.random(120) < 0.1) * rng.choice([-1, 1], 120)
    detector, one = Spikes(1, 1, lag, alpha, beta), np.ones(1, np.int64)
    found = []
    for value in signal:
        detector.step(np.array([[value]]), np.ones((1, 1)), one, one)
        found.append(int(detector.spikes[0, 0]))
    assert found == spikes_naively(signal, lag, alpha, beta)


def test_filters_follow_a_rotated_basis():
    # Would catch filters that ignore a sign flip: every projection would seem to jump.
    rng, both, one = np.random.default_rng(1), np.array([2]), np.ones(1, np.int64)
    straight, carried, flipped = (Spikes(1, 2, lag=5) for _ in range(3))
    turn = np.array([[[0.0, -1.0], [1.0, 0.0]]])
    for step, row in enumerate(rng.normal(size=(60, 2)) * 0.1 + [3.0, 7.0]):
        if step == 33:
            carried.turn(turn, both, np.zeros((1, 2), np.bool_))
        seen = row if step < 33 else turn[0] @ row
        for detector, value in ((straight, row), (carried, seen), (flipped, seen)):
            detector.step(value[None], np.ones((1, 2)), both, one)
        expected = straight.scores[0] if step < 33 else turn[0] @ straight.scores[0]
        assert carried.scores[0] == pytest.approx(expected)
        assert step != 33 or np.abs(flipped.scores).min() > 15.0


def test_partly_filled_filters_are_kept_between_blocks():
    # Blocks of five with a lag of ten: filters that restart with each block would never be full.
    node, rng = Pronto(4, rank=2, block=5, lag=10), np.random.default_rng(1)
    for _ in range(40):
        node.observe(rng.normal(size=4))
    assert node.fleet.spikes.ready[0]


@given(seeds, st.sampled_from(TRACKERS), st.sampled_from(["raw", "unit", "equal"]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_fleet_equals_its_nodes_run_alone(seed, tracker, weights, adapts):
    streams = [telemetry(90, seed=seed + node) for node in range(4)]
    energy = (0.05, 0.2) if adapts and tracker in ("fpca",) else None
    given = {
        "rank": 3,
        "block": 10,
        "tracker": tracker,
        "weights": weights,
        "signal": "scores",
        "threshold": 1.5,
    }
    fleet = AdmissionFleet(4, 12, energy=energy, **given)
    # One generator draws for the whole fleet, so only its first node equals a node run alone.
    alone = [Pronto(12, energy=energy, **given) for _ in range(1 if tracker == "power" else 4)]
    for step in range(90):
        rejects = fleet.observe(np.stack([stream[step] for stream in streams]))
        for node, each in enumerate(alone):
            reject = each.observe(streams[node][step])
            assert fleet.scores[node] == pytest.approx(each.fleet.scores[0], rel=1e-5, abs=1e-5)
            assert reject == rejects[node] or abs(fleet.scores[node] - 1.5) < 1e-5


@given(st.integers(0, 6), seeds)
@settings(max_examples=30, deadline=None)
def test_missing_or_extreme_metrics_do_not_break_a_node(kind, seed):
    stream = telemetry(120, seed=seed)
    broken = {
        0: lambda row, step: row * np.nan,
        1: lambda row, step: row * (np.nan if 40 < step < 70 else 1.0),
        2: lambda row, step: np.where(step % 2, row, np.inf),
        3: lambda row, step: row * 0.0,
        4: lambda row, step: row * 1e300,
        5: lambda row, step: row * (1e9 if step == 60 else 1.0),
        6: lambda row, step: np.concatenate([row[:3], row[3:] * np.nan]),
    }[kind]
    fleet = AdmissionFleet(2, 12, rank=3, block=10)
    sound = Pronto(12, rank=3, block=10)
    for step, row in enumerate(stream):
        with np.errstate(invalid="ignore"):
            rejects = fleet.observe(np.stack([broken(row, step), row]))
        # A node with broken metrics does not affect its neighbour.
        assert rejects[1] == sound.observe(row)
        assert np.isfinite(fleet.scores).all()
        for held, rank in zip(fleet.basis, fleet.ranks, strict=True):
            grams = held[:, :rank].T @ held[:, :rank]
            assert np.abs(grams - np.eye(rank)).max() < 1e-9 if rank else not held.any()
            assert (np.diff(fleet.singular_values[0]) <= 0.0).all()


def test_a_step_without_metrics_keeps_the_last_answer():
    node, rng = Pronto(6, rank=2, block=10), np.random.default_rng(1)
    for _ in range(21):
        node.observe(rng.normal(size=6))
    assert node.observe(np.full(6, 50.0))
    assert node.observe(np.full(6, np.nan))
    assert not node.observe(np.zeros(6))


def test_the_signal_equals_the_paper_s_after_the_filter_is_full():
    rng, node = np.random.default_rng(3), Pronto(8, rank=2, block=10, lag=10)
    # Ten steps of the first block, ten to fill the filter.
    for step in range(20):
        assert not node.observe(1000.0 * rng.normal(size=8)), step
    node.observe(np.full(8, 1e6))
    marks = node.fleet.spikes.spikes[0]
    assert node.fleet.scores[0] == pytest.approx(marks @ node.singular_values)


def test_rising_load_rejects_and_falling_load_does_not():
    # Would catch directions with the signs of the SVD: half of all nodes would reject when load falls.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        node = Pronto(8, rank=1, block=20)
        for _ in range(200):
            node.observe(np.ones(8) * rng.normal() + 0.1 * rng.normal(size=8))
        up, down = (Pronto.load(node.save()) for _ in range(2))
        assert up.observe(np.full(8, 30.0))
        assert not down.observe(np.full(8, -30.0))


@pytest.mark.slow
@given(seeds, st.sampled_from([0.02, 0.1, 0.3]), st.sampled_from(["normal", "bursts", "steps", "rare"]))
@settings(max_examples=30, deadline=None)
def test_the_downtime_is_kept_for_any_scores(seed, downtime, kind):
    rng, count = np.random.default_rng(seed), 6000
    scores = {
        "normal": rng.normal(size=count),
        "bursts": np.repeat(rng.exponential(size=count // 10), 10),
        "steps": rng.normal(size=count) + 30.0 * (np.arange(count) % 2000 > 1000),
        "rare": rng.normal(size=count) * (rng.random(count) < 0.05),
    }[kind]
    threshold = Threshold(1, downtime=downtime)
    share = np.mean([threshold.above(np.array([score]))[0] for score in scores])
    assert share == pytest.approx(downtime, abs=0.2 * downtime + 0.003)


@given(seeds, st.sampled_from([0.0002, 0.02, 0.3]), st.integers(1, 3000), st.integers(0, 3000))
@settings(max_examples=40, deadline=None)
def test_no_scores_exceed_the_downtime_budget(seed, downtime, count, begin):
    # Steadily rising scores would be above any threshold that follows them.
    scores = np.exp(np.linspace(0.0, 300.0, begin + count)) if seed % 2 else np.arange(begin + count) ** 2.0
    threshold = Threshold(1, downtime=downtime)
    high = [bool(threshold.above(np.array([score]))[0]) for score in scores]
    assert sum(high[begin:]) <= max(1.0, 1000.0 * downtime) + downtime * count + 1.0


def test_unknown_scores_do_not_change_a_threshold():
    threshold, known = Threshold(2, downtime=0.1), np.array([True, False])
    for score in range(30):
        threshold.above(np.full(2, float(score)), known)
    assert threshold.seen.tolist() == [30, 0]
    assert threshold.left[1] == 50.0


def test_equal_scores_are_not_above_the_threshold():
    threshold = Threshold(2, downtime=0.5)
    assert not any(threshold.above(np.full(2, 3.0)).any() for _ in range(100))


def test_a_new_node_starts_from_a_shared_subspace():
    rng = np.random.default_rng(1)
    old, new = Pronto(10, rank=2, block=20), Pronto(10, rank=2, block=20)
    for _ in range(100):
        old.observe(low_rank(10, 1, 2, seed=int(rng.integers(1e9)))[:, 0])
    new.start(old.basis, old.singular_values)
    assert np.allclose(new.basis @ new.basis.T, old.basis @ old.basis.T)
    # It does not wait for its first block, only for its filter.
    for _ in range(11):
        new.observe(rng.normal(size=10))
    assert new.fleet.spikes.ready[0]


def test_after_a_restart_the_filter_is_refilled():
    node, rng = Pronto(6, rank=2, block=10), np.random.default_rng(1)
    for _ in range(30):
        node.observe(rng.normal(size=6))
    node.restart()
    assert not node.observe(np.full(6, 50.0))


def test_current_answers_are_those_of_the_last_notification():
    current = CurrentAnswers(3)
    current.notify(np.array([True, False, True]))
    assert [current.accept(node, 1.0) for node in range(3)] == [False, True, False]
    assert (current.accepted, current.rejected) == (1, 2)


def test_weights_of_sum_1_reach_a_threshold_of_1():
    # A quarter of all spectra of four values sum to a little less than 1 after the division.
    fixed, rng = Threshold(1, 1.0), np.random.default_rng(1)
    for _ in range(200):
        singular = rng.random(4)
        assert fixed.above(np.array([(singular / singular.sum()).sum()])).all()
    assert not fixed.above(np.array([1.0 - 1e-9])).any()


def test_arrays_for_other_nodes_are_rejected():
    view = AdmitSiteView(0.0, np.zeros((3, 0)), np.zeros(3), np.zeros(3), np.ones(3, bool))
    for call in (
        lambda: Threshold(2).above(np.zeros(3)),
        lambda: Threshold(2).rest(np.zeros(3)),
        lambda: SpikeGate(2).closed(np.zeros(3)),
        lambda: Ready(nodes=2).decide_all(view),
        lambda: Utilisation().decide_all(view),
    ):
        with pytest.raises(InputError, match=r"[123] (scores|values|nodes), expected"):
            call()


def test_a_later_step_does_not_change_earlier_reasons():
    policy, here = Utilisation(0.5, nodes=2), np.ones(2, bool)
    busy = np.array([0.9, 0.1])
    first = policy.decide_all(AdmitSiteView(0.0, np.zeros((2, 0)), busy, busy, here))
    why, reject = list(first.why), first.reject.tolist()
    policy.decide_all(AdmitSiteView(1.0, np.zeros((2, 0)), 1.0 - busy, busy, here))
    assert (list(first.why), first.reject.tolist()) == (why, reject)
