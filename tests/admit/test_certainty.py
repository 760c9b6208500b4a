"""Intervals have their claimed coverage for onsets of known recall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from windlass.admit.evaluation.certainty import by_shift, difference, episodes, intervals, share
from windlass.model import InputError

STEPS = 1300


def single(rng, recall, count=30):
    """Onsets at random steps, each foreseen independently: their steps, and whether each was foreseen."""
    return np.sort(rng.choice(STEPS, count, replace=False)), rng.random(count) < recall


def bursts(rng, recall, count=30):
    """Onsets in bursts of two on average, half of which are foreseen together."""
    when, hits = [], []
    for begin in np.sort(rng.integers(0, STEPS - 100, max(2, rng.poisson(count / 2)))):
        together, at = rng.random() < recall, begin
        for _ in range(min(rng.geometric(0.5), 6)):
            when.append(at)
            hits.append(together if rng.random() < 0.5 else rng.random() < recall)
            at += rng.integers(6, 15)
    order = np.argsort(when, kind="stable")
    return np.array(when)[order], np.array(hits)[order]


def ways(when, within=10):
    """Clusters of the evaluation: episodes, and twenty blocks of time."""
    apart = np.diff(when, prepend=-np.inf) > 2 * within
    return [np.cumsum(apart) - 1, when * 20 // STEPS]


@pytest.mark.parametrize("draw", [single, bursts])
@pytest.mark.parametrize("recall", [0.4, 0.8, 0.95])
def test_intervals_of_recall_have_95_percent_coverage(draw, recall):
    rng, inside, width = np.random.default_rng(1), [], []
    for _ in range(300):
        when, hits = draw(rng, recall)
        low, high = share(hits * 1.0, np.ones(len(hits)), ways(when))
        inside.append(low <= recall <= high)
        width.append(high - low)
    # Three deviations below 95 % of 300; what a bootstrap of blocks has here is 0.67 to 0.92.
    assert np.mean(inside) > 0.912
    assert np.mean(width) < 0.5


def test_many_independent_cases_have_the_wilson_interval():
    hits = np.random.default_rng(1).random(5000) < 0.3
    low, high = share(hits * 1.0, np.ones(5000), [np.arange(5000)])
    expected = binomtest(int(hits.sum()), 5000).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-3)


def test_duplicated_cases_do_not_narrow_the_interval():
    hits = np.random.default_rng(1).random(60) < 0.5
    once = share(hits * 1.0, np.ones(60), [np.arange(60)])
    twice = share(np.repeat(hits, 2) * 1.0, np.ones(120), [np.arange(120) // 2])
    assert twice == pytest.approx(once, abs=1e-9)
    wider = share(np.repeat(hits, 2) * 1.0, np.ones(120), [np.arange(120), np.arange(120) // 2])
    assert wider == pytest.approx(once, abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_the_p_value_by_shift_equals_counting_all_shifts(pairs):
    covered, spikes = (np.array(each) for each in zip(*pairs, strict=True))
    found = by_shift(covered, spikes)
    if not spikes.any():
        assert np.isnan(found)
        return
    around = [np.roll(covered, shift)[spikes].sum() for shift in range(len(covered))]
    assert found == pytest.approx(np.mean([each >= covered[spikes].sum() for each in around]))


def test_uninformed_bursts_rarely_count_as_foreseeing():
    rng, claimed, shifted = np.random.default_rng(2), [], []
    for _ in range(200):
        up, spikes = np.zeros(STEPS, np.bool_), np.zeros(STEPS, np.bool_)
        for begin in np.flatnonzero(rng.random(STEPS) < 0.008):
            up[begin : begin + rng.integers(2, 12)] = True
        spikes[bursts(rng, 0.5)[0]] = True
        found = intervals(up, spikes, 10)
        claimed.append(found.over_shifted[0] > 0.0)
        shifted.append(found.by_shift <= 0.05)
        assert found.recall[0] <= found.recall[1]
    # 5 % and three deviations.
    assert max(np.mean(claimed), np.mean(shifted)) < 0.097


def test_a_signal_that_foresees_is_recognised():
    spikes = np.zeros(STEPS, np.bool_)
    spikes[20::43] = True
    up = np.roll(spikes, -3)
    found = intervals(up, spikes, 10)
    assert found.over_shifted[0] > 0.5
    assert found.over_chance[0] > 0.5
    assert found.lift[0] > 2.0
    assert found.by_shift < 0.3
    nothing = intervals(np.zeros(STEPS, np.bool_), spikes, 10)
    assert nothing.recall[0] == 0.0 < nothing.recall[1] < 0.2
    assert np.isnan(nothing.lift).all()


def test_episodes_are_onsets_that_one_raise_may_foresee():
    spikes = np.zeros(200, np.bool_)
    spikes[[5, 25, 46, 100, 121]] = True
    assert episodes(spikes, 10).tolist() == [0, 0, 1, 2, 3]


def test_swapping_the_signals_negates_the_difference():
    rng = np.random.default_rng(3)
    ours, theirs = rng.random(40) < 0.8, rng.random(40) < 0.3
    clusters = [np.arange(40), np.arange(40) // 2]
    one, other = difference(ours, theirs, clusters), difference(theirs, ours, clusters)
    assert one.value == pytest.approx(-other.value) == pytest.approx(ours.mean() - theirs.mean())
    assert one.interval == pytest.approx((-other.interval[1], -other.interval[0]))
    low, high = difference(ours, ours, clusters).interval
    assert other.interval[1] < 0.0 < one.interval[0]
    assert low < 0.0 < high
    # The same pairs in fewer clusters give a wider interval.
    alike = difference(np.repeat(ours, 2), np.repeat(theirs, 2), [np.arange(80) // 2])
    assert alike.interval == pytest.approx(difference(ours, theirs, [np.arange(40)]).interval, abs=0.02)


@pytest.mark.parametrize(("ours", "theirs"), [(0.5, 0.5), (0.8, 0.6), (0.95, 0.9)])
def test_intervals_of_a_difference_have_95_percent_coverage(ours, theirs):
    rng, inside = np.random.default_rng(4), []
    for _ in range(300):
        when, hits = bursts(rng, ours)
        others = rng.random(len(hits)) < theirs
        low, high = difference(hits, others, ways(when)).interval
        inside.append(low <= ours - theirs <= high)
    assert np.mean(inside) > 0.912


@pytest.mark.parametrize("sizes", [(3, 4), (0, 0)])
def test_signals_of_different_onsets_cannot_be_compared(sizes):
    ours, theirs = (np.ones(size, np.bool_) for size in sizes)
    with pytest.raises(InputError, match=f"cover {sizes[0]} and {sizes[1]} onsets"):
        difference(ours, theirs, [np.arange(sizes[0])])
