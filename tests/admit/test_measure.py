"""Recall, downtime and the recall by chance, counted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.admit.evaluation import intervals
from windlass.admit.measure import leads, onsets, quality
from windlass.model import InputError

flags = st.lists(st.booleans(), min_size=1, max_size=40)


@st.composite
def cases(draw):
    length = draw(st.integers(1, 40))
    up, spikes = (draw(st.lists(st.booleans(), min_size=length, max_size=length)) for _ in range(2))
    least = draw(st.integers(0, 3))
    return (
        np.array(up),
        np.array(spikes),
        draw(st.integers(least, 6) | st.sampled_from([40, 79, 10**9])),
        least,
    )


def seen(up, at, within, least):
    return [step for step in range(max(0, at - within), at - least + 1) if up[step]]


@given(cases())
@settings(max_examples=300, deadline=None)
def test_quality_equals_counting_one_by_one(case):
    up, spikes, within, least = case
    found = quality(up, spikes, within, least)
    at = np.flatnonzero(spikes)
    foreseen = [step for step in at if seen(up, step, within, least)]
    assert found.onsets == len(at)
    assert found.left == len(foreseen)
    assert found.recall == pytest.approx(len(foreseen) / len(at) if len(at) else np.nan, nan_ok=True)
    assert found.downtime == pytest.approx(up.mean())
    late = [step for step in at if step not in foreseen and up[step : step + within + 1].any()]
    assert found.right == len(late)
    raised = np.flatnonzero(up)
    good = [step for step in raised if spikes[step + least : step + within + 1].any()]
    assert found.precision == pytest.approx(len(good) / len(raised) if len(raised) else np.nan, nan_ok=True)
    first = [
        step - np.flatnonzero(up[max(0, step - within) :])[0] - max(0, step - within) for step in foreseen
    ]
    assert found.lead == pytest.approx(np.mean(first) if first else np.nan, nan_ok=True)
    each = leads(up, spikes, within, least)
    assert [bool(known) for known in ~np.isnan(each)] == [step in foreseen for step in at]
    assert each[~np.isnan(each)].tolist() == first


@given(cases())
@settings(max_examples=200, deadline=None)
def test_the_recall_of_shifted_signals_is_the_mean_over_all_shifts(case):
    up, spikes, within, least = case
    if not spikes.any():
        return
    around = [np.roll(up, shift) for shift in range(len(up))]
    at = np.flatnonzero(spikes)
    # Time is circular: the steps before the first are the last, and a round has all of them.
    backs = range(least, min(within + 1, least + len(up)))
    recalls = [
        np.mean([any(each[(step - back) % len(up)] for back in backs) for step in at]) for each in around
    ]
    assert quality(up, spikes, within, least).shifted == pytest.approx(np.mean(recalls))


@pytest.mark.matrix(0)
def test_recall_by_chance_is_that_of_random_steps():
    rng = np.random.default_rng(1)
    up, spikes = rng.random(200_000) < 0.05, rng.random(200_000) < 0.01
    found = quality(up, spikes, 10)
    assert found.by_chance == pytest.approx(1 - 0.95**10, abs=0.01)
    assert found.recall == pytest.approx(found.by_chance, abs=0.03)
    sure = intervals(up, spikes, 10)
    assert sure.recall[0] <= found.recall <= sure.recall[1]
    assert sure.over_chance[0] < 0.0 < sure.over_chance[1]
    assert sure.over_shifted[0] < 0.0 < sure.over_shifted[1]
    assert sure.lift[0] < 1.0 < sure.lift[1]


def test_a_signal_at_the_spike_counts_only_with_a_lead_of_zero():
    spikes = np.zeros(100, np.bool_)
    spikes[50] = True
    assert quality(spikes, spikes, 5).recall == 0.0
    assert quality(spikes, spikes, 5, least=0).recall == 1.0


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=1, max_size=30), st.integers(1, 5))
def test_an_onset_needs_enough_steps_below_the_threshold(values, apart):
    found = onsets(np.array(values), 1.0, apart)
    for at, value in enumerate(values):
        assert found[at] == (value == 1.0 and 1.0 not in values[max(0, at - apart) : at])


def test_recall_without_onsets_is_nan():
    nothing = np.zeros(50, np.bool_)
    found = quality(nothing, nothing, 5)
    assert np.isnan([found.recall, found.precision, found.lead]).all()
    assert np.isnan(intervals(nothing, nothing, 5).recall).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: quality(np.zeros(3), np.zeros(4), 1), r"signal has shape \(3,\) and spikes \(4,\)"),
        (lambda: quality(np.zeros(0), np.zeros(0), 1), r"shape \(0,\)"),
        (lambda: quality(np.zeros(3), np.zeros(3), 1, least=2), "within is 1, expected at least 2"),
        (lambda: onsets(np.zeros(3), np.nan), "threshold is nan"),
        (lambda: onsets(np.zeros(3), 1.0, 0), "apart is 0"),
    ],
)
def test_invalid_input_is_named_in_the_error(make, message):
    with pytest.raises(InputError, match=message):
        make()
