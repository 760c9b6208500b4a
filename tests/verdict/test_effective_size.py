"""The number of independent jobs that correlated ones are worth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from scipy.stats import skew

from windlass.results.verdict import effective_size
from windlass.results.verdict.blocks import BlockedLog
from windlass.results.verdict.effective_size import correlation_time, effective_jobs, required_jobs, skewness
from windlass.results.verdict.measures import measure_of


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.9, 0.98])
def test_the_correlation_time_of_an_autoregressive_series_is_known(keep):
    """With neighbours correlated by φ, τ = (1 + φ)/(1 − φ)."""
    series = lfilter([1.0], [1.0, -keep], np.random.default_rng(1).normal(size=200_000))
    true = (1 + keep) / (1 - keep)
    assert correlation_time(series) == pytest.approx(true, rel=0.1)
    assert effective_jobs(series) == pytest.approx(200_000 / true, rel=0.4)


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("count", [257, 900, 4096, 5000])
def test_short_transforms_give_the_correlation_time_of_whole_ones(keep, count, monkeypatch):
    series = lfilter([1.0], [1.0, -keep], np.random.default_rng(2).normal(size=count))
    whole = correlation_time(series)
    monkeypatch.setattr(effective_size, "_LONG", 256)
    monkeypatch.setattr(effective_size, "_FIRST_LAGS", 8)
    assert correlation_time(series) == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize("values", [[3.0] * 100, [0.0] * 100, [1.0, -1.0] * 4000])
def test_equal_and_alternating_jobs_are_all_independent(values):
    assert effective_jobs(np.array(values)) >= len(values)


def test_jobs_with_a_variance_of_one_are_judged_like_others():
    series = np.repeat([1.0, -1.0] * 100, 40)
    assert float(series.var()) == 1.0
    assert effective_jobs(series) < len(series) / 4


def test_slow_changes_reduce_the_number_of_independent_jobs():
    """A daily rhythm hides a trend from the first lags, but not from the means of blocks."""
    series = np.random.default_rng(1).normal(size=8000)
    with_trend = series + np.linspace(-0.5, 0.5, 8000)
    assert effective_jobs(series) > 4000
    assert correlation_time(with_trend) < 30
    assert effective_jobs(with_trend) < 400


@given(st.lists(st.integers(-20, 20), min_size=40, max_size=80), st.sampled_from([0.01, 3.0, 1e5]))
def test_the_unit_does_not_matter(values, unit):
    plain = np.array(values, float)
    assert effective_jobs(plain * unit) == pytest.approx(effective_jobs(plain), rel=1e-6)
    assert skewness(-plain * unit) == pytest.approx(-skewness(plain), rel=1e-6, abs=1e-9)
    assert skewness(plain) == pytest.approx(0.0 if np.ptp(plain) == 0 else skew(plain), abs=1e-9)
    assert 0 < effective_jobs(plain) <= len(plain)


def test_equal_values_are_independent():
    assert (correlation_time(np.ones(50)), effective_jobs(np.ones(50)), skewness(np.ones(50))) == (
        1.0,
        50.0,
        0.0,
    )


@pytest.mark.parametrize(
    ("skewed", "share", "required"),
    [
        (0.0, None, 400),
        (4.0, None, 400),
        (-8.0, None, 1600),
        (0.0, 0.5, 400),
        (9.0, 0.99, 2000),
        (0.0, 0.01, 2000),
    ],
)
def test_skewed_differences_and_extreme_percentiles_require_more_jobs(skewed, share, required):
    assert required_jobs(skewed, share) == pytest.approx(required)


def blocked(metric, *values):
    return BlockedLog(measure_of(metric), tuple(np.atleast_2d(each) for each in values))


def test_equal_values_have_an_interval_of_no_width():
    values = np.random.default_rng(1).exponential(size=200)
    found = blocked("mean_wait_s", values, values).evidence(0, 1, 0.0)
    assert (found.interval.low, found.interval.high, found.refusal, found.direction) == (0.0, 0.0, None, 0)


@pytest.mark.parametrize("metric", ["mean_wait_s", "p95_wait_s"])
def test_swapped_variants_swap_the_evidence(metric):
    rng = np.random.default_rng(3)
    first, second = rng.exponential(3.0, 4000), rng.exponential(2.5, 4000)
    log = blocked(metric, first, second)
    ahead, behind = log.evidence(0, 1, 0.5), log.evidence(1, 0, -0.5)
    assert (behind.interval.low, behind.interval.high) == pytest.approx(
        (-ahead.interval.high, -ahead.interval.low)
    )
    assert behind.signs == ahead.signs.reversed()
    assert (ahead.direction, behind.direction) == (1, -1)


def test_a_few_long_waits_refuse_an_interval_of_the_mean():
    rng = np.random.default_rng(3)
    first, second = rng.exponential(3.0, 4000), rng.exponential(3.0, 4000)
    assert blocked("mean_wait_s", first, second).evidence(0, 1, 0.0).refusal is None
    first[::500] = 3000.0
    found = blocked("mean_wait_s", first, second).evidence(0, 1, 6.0)
    assert found.refusal.reason == "few"
    assert found.refusal.required == pytest.approx(25 * skew(first - second) ** 2)


def test_correlated_blocks_refuse_an_interval_whatever_the_number_of_jobs():
    steps = np.repeat(np.linspace(-1.0, 1.0, 10), 20_000)
    found = blocked(
        "mean_wait_s", steps + 30 * np.random.default_rng(1).normal(size=200_000), np.zeros(200_000)
    )
    evidence = found.evidence(0, 1, 0.0)
    assert evidence.refusal.reason == "correlated"
    assert np.isnan(evidence.signs.p_value)


@pytest.mark.parametrize("metric", ["mean_wait_s", "p95_wait_s"])
@pytest.mark.parametrize("blocks", [3, 15, 16])
def test_variants_that_differ_in_few_blocks_have_no_interval(metric, blocks):
    """With two seeds, a difference in either counts."""
    rng = np.random.default_rng(3)
    first = rng.exponential(3.0, (2, 4000))
    second = first.copy()
    for block in range(blocks):
        second[block % 2, 200 * block : 200 * block + 160] += rng.normal(size=160)
    found = blocked(metric, first, second).evidence(0, 1, 0.0)
    rare = found.refusal is not None and found.refusal.reason == "rare"
    assert rare == (blocks < 16)
    if rare:
        assert (found.interval, found.refusal.effective, found.refusal.required) == (None, blocks, 16)


def test_a_percentile_needs_jobs_above_it():
    rng = np.random.default_rng(3)
    first, second = rng.exponential(3.0, 1500), rng.exponential(2.0, 1500)
    assert blocked("p95_wait_s", first, second).evidence(0, 1, 3.0).refusal is None
    assert blocked("p99_wait_s", first, second).evidence(0, 1, 4.0).refusal.required == pytest.approx(2000)


@pytest.mark.parametrize(
    ("jobs", "signs", "direction"),
    [
        (1000, [1] * 20, 1),
        (1000, [-1] * 20, -1),
        (1000, [0] + [1] * 19, 1),
        (1000, [0, 0] + [1] * 18, 0),
        (1000, [-1] + [1] * 19, 0),
        (980, [1] * 20, 0),
    ],
)
def test_unanimous_blocks_of_a_long_log_decide_although_they_are_correlated(jobs, signs, direction):
    # A slow rise: the blocks are correlated, and the jobs are worth few independent ones.
    rise = np.linspace(1.0, 20.0, jobs) * np.repeat(np.array(signs, float), jobs // 20)
    found = blocked("mean_wait_s", rise, np.zeros(jobs)).evidence(0, 1, float(rise.mean()))
    assert found.interval is None
    assert np.isnan(found.signs.p_value)
    assert found.direction == direction
