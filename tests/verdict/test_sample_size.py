"""Estimates of the jobs and seeds with which a difference would be significant."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t

from windlass.results.verdict.paired import ConfidenceInterval, paired_interval
from windlass.results.verdict.sample_size import MOST, needed_jobs, needed_seeds

MEANS = st.floats(-1e3, 1e3).filter(lambda mean: abs(mean) > 1e-3)
RATIOS = st.floats(1.0, 9.9)


@given(MEANS, RATIOS, st.integers(100, 100_000))
def test_with_the_needed_jobs_the_narrower_interval_just_excludes_0(mean, ratio, jobs):
    found = ConfidenceInterval(mean, mean - ratio * abs(mean), mean + ratio * abs(mean), 20)
    needed = needed_jobs(found, jobs)
    half = ratio * abs(mean)
    assert half * math.sqrt(jobs / needed) <= abs(mean) * (1 + 1e-9)
    assert half * math.sqrt(jobs / (needed - 1)) > abs(mean) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("ratio", "known"), [(math.sqrt(MOST) - 0.001, True), (math.sqrt(MOST) + 0.001, False)]
)
def test_more_than_100_times_as_many_jobs_are_not_estimated(ratio, known):
    found = ConfidenceInterval(1.0, 1.0 - ratio, 1.0 + ratio, 20)
    assert (needed_jobs(found, 300) is not None) == known


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=8))
def test_the_needed_seeds_are_the_fewest_with_which_students_interval_excludes_0(values):
    found = paired_interval(np.array(values, float))
    assume(found.low <= 0 <= found.high and np.ptp(values) > 0)
    needed, deviation = needed_seeds(found), np.std(values, ddof=1)
    excludes = [
        t.ppf(0.975, count - 1) * deviation / math.sqrt(count) <= abs(found.mean) * (1 + 1e-9)
        for count in range(len(values), MOST * len(values) + 1)
    ]
    assert needed == (len(values) + excludes.index(True) if any(excludes) else None)
