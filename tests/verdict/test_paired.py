"""Confidence intervals of paired differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ttest_rel

from windlass.results.verdict.paired import lag_one, neighbours_correlated, paired_interval

VALUES = arrays(
    np.float64, st.integers(2, 30), elements=st.floats(-1e3, 1e3).map(lambda value: round(value, 3))
)


@pytest.mark.parametrize("level", [0.95, 0.99])
def test_the_interval_equals_the_paired_t_test(level):
    rng = np.random.default_rng(1)
    for count in (2, 3, 20):
        first, second = rng.normal(1.0, 2.0, count), rng.normal(0.0, 1.0, count)
        oracle = ttest_rel(first, second).confidence_interval(level)
        found = paired_interval(first - second, level)
        assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))
        assert found.mean == pytest.approx((first - second).mean())
        assert found.count == count


@given(VALUES)
def test_the_interval_of_negated_values_is_negated(values):
    found, turned = paired_interval(values), paired_interval(-values)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))
    assert turned.excludes_zero == found.excludes_zero
    assert found.low <= found.mean <= found.high


@pytest.mark.parametrize("values", [[], [1.0], [1.0, np.nan], [1.0, np.inf]])
def test_fewer_than_two_or_unknown_values_have_no_interval(values):
    assert paired_interval(np.array(values)) is None


def test_equal_values_do_not_exclude_zero():
    found = paired_interval(np.zeros(20))
    assert (found.low, found.high, found.excludes_zero) == (0.0, 0.0, False)


def test_correlated_neighbours_are_detected_at_the_5_percent_level():
    rng = np.random.default_rng(1)
    assert neighbours_correlated(np.cumsum(rng.normal(size=20)))
    assert lag_one(np.zeros(5)) == 0.0
    correlated = [neighbours_correlated(rng.normal(size=20)) for _ in range(2000)]
    assert np.mean(correlated) < 0.06


@pytest.mark.slow
def test_blocks_that_are_long_against_the_correlation_cover_95_percent():
    """With neighbours correlated by 0.9, intervals over blocks of 200 jobs cover, and over single jobs do not."""
    rng = np.random.default_rng(2)
    jobs, keep, covered, naive = 4000, 0.9, [], []
    for _ in range(1000):
        noise = rng.normal(size=jobs)
        row = np.empty(jobs)
        state = rng.normal() / np.sqrt(1 - keep**2)
        for at in range(jobs):
            state = keep * state + noise[at]
            row[at] = state
        found, single = paired_interval(row.reshape(20, -1).mean(axis=1)), paired_interval(row)
        covered.append(found.low <= 0 <= found.high)
        naive.append(single.low <= 0 <= single.high)
    # Of 1,000, 95 % are 950 ± 21 (three standard deviations); slightly correlated blocks cost two more per cent.
    assert 0.91 < np.mean(covered) < 0.975
    assert np.mean(naive) < 0.6
