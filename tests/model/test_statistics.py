"""Student's confidence interval against SciPy's, and its coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from windlass.model.statistics import student_half_width, student_quantile

SAMPLES = arrays(np.float64, st.integers(2, 40), elements=st.integers(-10_000, 10_000).map(float))
LEVELS = st.floats(0.01, 0.999)


@given(st.integers(1, 10_000), LEVELS)
def test_the_quantile_equals_scipys(freedom, level):
    assert student_quantile(freedom, level) == pytest.approx(stats.t.ppf(0.5 + level / 2, freedom))


@given(SAMPLES, LEVELS)
def test_the_interval_equals_scipys(values, level):
    error = stats.sem(values)
    if error == 0.0:
        assert student_half_width(values, level) == 0.0
        return
    low, high = stats.t.interval(level, len(values) - 1, values.mean(), error)
    assert student_half_width(values, level) == pytest.approx((high - low) / 2, rel=1e-6, abs=1e-9)


@given(SAMPLES, st.floats(-1e6, 1e6))
def test_an_interval_around_another_centre_is_never_narrower(values, centre):
    rounding = 1e-9 * (1.0 + float(np.abs(values).max()))
    assert student_half_width(values, centre=centre) >= student_half_width(values) - rounding


def test_the_interval_covers_the_mean_in_95_percent_of_samples():
    samples = np.random.default_rng(1).normal(3.0, 2.0, size=(20_000, 5))
    covered = [abs(row.mean() - 3.0) <= student_half_width(row) for row in samples]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.005)
