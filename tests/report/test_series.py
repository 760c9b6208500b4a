"""Steps, bins and distributions against plain implementations of their definitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.report.series import Steps, bin_edges, bin_width, binned, distribution, steps

_TIME = st.integers(0, 40).map(lambda quarter: quarter / 4)
_INTERVAL = st.tuples(_TIME, _TIME, st.integers(1, 9)).map(lambda each: (*sorted(each[:2]), each[2]))
_INTERVALS = st.lists(_INTERVAL, min_size=1, max_size=30)


def _steps(intervals: list[tuple[float, float, int]]) -> Steps:
    begin, end, weight = (np.array(column, float) for column in zip(*intervals, strict=True))
    return steps(begin, end, weight)


def _sum_at(intervals: list[tuple[float, float, int]], when: float) -> float:
    return float(sum(weight for begin, end, weight in intervals if begin <= when < end))


@given(_INTERVALS)
def test_steps_are_the_sum_of_the_intervals(intervals: list[tuple[float, float, int]]) -> None:
    function = _steps(intervals)
    when = np.arange(-1, 12, 0.125)
    assert function.at(when).tolist() == [_sum_at(intervals, each) for each in when.tolist()]
    assert (np.diff(function.time) > 0).all()
    assert function.value[-1] == 0


@given(
    _INTERVALS,
    st.lists(st.integers(-8, 50).map(lambda eighth: eighth / 4), min_size=2, max_size=9, unique=True),
)
def test_bins_are_means_and_peaks(intervals: list[tuple[float, float, int]], edges: list[float]) -> None:
    edges = sorted(edges)
    bins = binned(_steps(intervals), np.array(edges))
    for row, (left, right) in enumerate(pairwise(edges)):
        # All times are multiples of a quarter: sampling at quarters misses nothing.
        values = [_sum_at(intervals, when) for when in np.arange(left, right, 0.25).tolist()]
        assert bins.mean[row] == pytest.approx(np.mean(values))
        assert bins.peak[row] == max(values)


def test_a_very_short_peak_is_kept() -> None:
    bins = binned(_steps([(0.0, 10.0, 1), (5.0, 5.0 + 1e-9, 50)]), np.array([0.0, 10.0]))
    assert bins.peak.tolist() == [51.0]
    assert bins.mean[0] == pytest.approx(1.0, abs=1e-7)


def test_an_interval_of_zero_length_is_ignored() -> None:
    function = _steps([(3.0, 3.0, 7)])
    assert function.at(np.array([2.0, 3.0, 4.0])).tolist() == [0.0, 0.0, 0.0]


def test_the_area_under_the_bins_is_the_work() -> None:
    rng = np.random.default_rng(1)
    begin = rng.uniform(0, 1e6, 2000)
    end = begin + rng.exponential(1e4, 2000)
    weight = rng.integers(1, 65, 2000).astype(float)
    edges = bin_edges(float(end.max()), 7200.0)
    bins = binned(steps(begin, end, weight), edges)
    assert (bins.mean * np.diff(edges)).sum() == pytest.approx(((end - begin) * weight).sum())
    assert (bins.mean <= bins.peak + 1e-9).all()


@given(
    st.lists(st.one_of(st.integers(0, 30), st.floats(0, 1e6)).map(float), min_size=1, max_size=200),
    st.integers(1, 40),
    st.sampled_from([0.5, 1.0, 10.0]),
)
def test_distribution_is_within_its_bound(values: list[float], levels: int, lowest: float) -> None:
    given_values = np.array(values)
    curve = distribution(given_values, lowest, levels)
    assert curve.value[0] == lowest
    assert curve.share[-1] == 1
    assert (np.diff(curve.value) > 0).all()
    assert len(curve.value) <= 2 * (levels + 1)
    for value, share in zip(curve.value, curve.share, strict=True):
        assert share == pytest.approx((given_values <= value).mean())
    for value in [each for each in values if each >= lowest]:
        drawn = curve.share[np.searchsorted(curve.value, value, side="right") - 1]
        assert abs(drawn - (given_values <= value).mean()) < 1 / levels


def test_distribution_keeps_a_jump_next_to_a_rare_value() -> None:
    curve = distribution(np.array([2.0] * 500 + [10.0] * 495 + [11.0] * 5), lowest=1.0, levels=10)
    assert curve.value.tolist() == [1.0, 2.0, 10.0, 11.0]


def test_distribution_keeps_the_first_and_the_last_point_of_each_step() -> None:
    curve = distribution(np.array([2.0, 3.0, 4.0, 5.0]), lowest=1.0, levels=1)
    assert curve.value.tolist() == [1.0, 2.0, 4.0, 5.0]


@given(st.floats(1e-6, 1e10), st.integers(1, 1000))
def test_bins_cover_the_span_within_the_maximum_count(span: float, most: int) -> None:
    edges = bin_edges(span, bin_width(span, most))
    assert len(edges) - 1 <= most
    assert edges[0] == 0
    assert edges[-1] == span
    assert (np.diff(edges) > 0).all()
