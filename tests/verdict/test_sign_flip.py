"""The sign-flip test of paired differences, against SciPy's permutation test and its invariants."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test, wilcoxon

from windlass.results.verdict.evidence import NoInterval, PairedEvidence
from windlass.results.verdict.paired import ConfidenceInterval, paired_interval
from windlass.results.verdict.sign_flip import LEVEL, SignFlip, sign_flip, sign_flip_p

WHOLE = st.lists(st.integers(-50, 50), min_size=1, max_size=9).map(lambda values: np.array(values, float))


@given(WHOLE)
def test_the_p_value_is_that_of_a_permutation_test_of_paired_samples(values):
    if len(values) < 2:
        assert sign_flip_p(values) == 1.0
        return
    oracle = permutation_test(
        (values,), lambda each, axis: np.abs(np.sum(each, axis=axis)), permutation_type="samples",
        alternative="greater", n_resamples=np.inf, vectorized=True,
    )  # fmt: skip
    assert sign_flip_p(values) == pytest.approx(oracle.pvalue)


@given(WHOLE, st.sampled_from([1e-3, 0.1, 7.0, 1e6]))
def test_another_unit_and_swapped_variants_change_nothing_but_the_sign(values, unit):
    found = sign_flip(values)
    assert sign_flip(values * unit) == found
    assert sign_flip(-values) == found.reversed()
    assert sign_flip(-values).direction == -found.direction


def test_heavy_tails_do_not_hide_a_difference_of_one_sign():
    """Student's interval contains 0 because of one large difference; all ten have the same sign."""
    values = np.array([1.0, 2.0, 1.5, 1.0, 2.5, 1.2, 1.8, 2.2, 1.1, 90.0])
    assert not paired_interval(values).excludes_zero
    assert sign_flip_p(values) == pytest.approx(2 / 2**10)
    assert sign_flip_p(values) == pytest.approx(wilcoxon(values).pvalue)
    assert sign_flip(values).direction == 1
    values[0] = -200.0
    assert sign_flip(values).direction == 0


def test_more_than_20_pairs_are_summed_in_20_groups():
    values = np.random.default_rng(1).normal(0.3, 1.0, 45)
    groups = np.array([each.sum() for each in np.array_split(values, 20)])
    assert sign_flip_p(values) == sign_flip_p(groups)
    assert sign_flip(values).pairs == 45


@pytest.mark.parametrize(
    ("found", "direction"),
    [
        (SignFlip(20, 0, 20, math.nan, unanimous=True), 1),
        (SignFlip(0, 20, 20, math.nan, unanimous=True), -1),
        (SignFlip(20, 0, 20, math.nan), 0),
        (SignFlip(9, 1, 10, LEVEL, toward=1), 1),
        (SignFlip(1, 9, 10, LEVEL, toward=-1), -1),
        (SignFlip(9, 1, 10, LEVEL + 1e-9, toward=1), 0),
        # The few differences above 0 are larger in total.
        (SignFlip(5, 5, 10, 0.0, toward=1), 0),
        # Most differences have the other sign than their sum.
        (SignFlip(9, 11, 20, 0.004, toward=1), 0),
    ],
)
def test_a_difference_counts_by_its_p_value_or_if_it_is_unanimous(found, direction):
    assert found.direction == direction
    assert found.reversed().direction == -direction


@pytest.mark.parametrize(
    ("low", "high", "signs", "direction"),
    [
        (1.0, 3.0, SignFlip(5, 5, 10, 0.9), 1),
        (-3.0, -1.0, SignFlip(5, 5, 10, 0.9), -1),
        (-1.0, 3.0, SignFlip(10, 0, 10, 0.002, toward=1), 1),
        (-3.0, 1.0, SignFlip(0, 10, 10, 0.002, toward=-1), -1),
        (0.0, 3.0, SignFlip(6, 4, 10, 0.5), 0),
    ],
)
def test_a_lead_counts_by_the_interval_or_by_the_signs(low, high, signs, direction):
    interval = ConfidenceInterval((low + high) / 2, low, high, 10)
    assert PairedEvidence(interval, signs).direction == direction
    refused = PairedEvidence(None, signs, NoInterval("few", 10.0, 400.0))
    assert refused.direction == signs.direction


def test_independent_differences_are_rarely_significant():
    """Of 2,000 series of ten differences without a tendency, at most 1 % count, also if tails are heavy."""
    rng = np.random.default_rng(2)
    for draw in (rng.normal, rng.standard_cauchy):
        assert np.mean([sign_flip(draw(size=10)).direction != 0 for _ in range(2000)]) <= 0.015
