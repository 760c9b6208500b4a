"""Forecast errors, and the base instance of a series of types, by plain loops over rows."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.model import InputError
from windlass.scale.accuracy import coverage, mase, mse, pmse, weighted_quantile_loss
from windlass.scale.backtest import QUANTILES, backtest
from windlass.scale.base_instance import base_instance
from windlass.scale.embedding import balance, embed
from windlass.scale.forecast import make

seeds = st.integers(0, 2**32 - 1)


def drawn(rng, shape, gaps=0.2):
    return np.where(rng.random(shape) < gaps, np.nan, rng.integers(0, 9, shape).astype(float))


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_scores_are_means_over_measured_values(seed):
    rng = np.random.default_rng(seed)
    truth, forecast = drawn(rng, (12, 2)), rng.integers(0, 9, (12, 2)).astype(float)
    truth[0] = 4.0
    pairs = [(a, b) for a, b in zip(truth.ravel(), forecast.ravel(), strict=True) if not math.isnan(a)]
    assert mse(truth, forecast) == pytest.approx(sum((b - a) ** 2 for a, b in pairs) / len(pairs))
    assert pmse(truth, forecast) == pytest.approx(sum((b - a) ** 2 for a, b in pairs if b > a) / len(pairs))
    assert coverage(truth, forecast) == pytest.approx(sum(b >= a for a, b in pairs) / len(pairs))
    levels, by = (0.2, 0.9), np.stack((forecast, forecast + 3.0))
    losses = []
    for level, row in zip(levels, by, strict=True):
        off = [(a, b) for a, b in zip(truth.ravel(), row.ravel(), strict=True) if not math.isnan(a)]
        losses.append(sum(level * (a - b) if a >= b else (1 - level) * (b - a) for a, b in off))
    want = 2 * np.mean(losses) / sum(a for a, _ in pairs)
    assert weighted_quantile_loss(truth, by, levels) == pytest.approx(want)


def test_mase_is_scaled_by_the_seasonal_error_of_each_column():
    train = np.array([[1.0, 5.0, 2.0], [2.0, 5.0, 2.0], [4.0, 5.0, 8.0], [3.0, 5.0, np.nan]])
    truth = np.array([[3.0, 9.0, 1.0], [np.nan, 9.0, 2.0]])
    forecast = np.array([[5.0, 1.0, 4.0], [5.0, 1.0, 1.0]])
    # A constant column is left out.
    assert mase(truth, forecast, train) == pytest.approx((2.0 / (4 / 3) + 2.0 / 3.0) / 2)
    assert mase(truth, forecast, train, season=2) == pytest.approx((2.0 / 2.0 + 2.0 / 6.0) / 2)
    with warnings.catch_warnings():
        # A mean of no column would give a warning.
        warnings.simplefilter("error")
        assert math.isnan(mase(truth[:, 1:2], forecast[:, 1:2], train[:, 1:2]))
    for season in (4, 5):
        with pytest.raises(InputError, match=f"4 training rows, expected more than a season of {season}"):
            mase(truth, forecast, train, season)
    assert math.isnan(weighted_quantile_loss(np.zeros((2, 1)), np.ones((1, 2, 1)), [0.5]))
    for score in (mse, pmse, coverage):
        with pytest.raises(InputError, match=r"the truth has shape \(2, 3\), the forecast \(1, 3\)"):
            score(truth, forecast[:1])


class Tick:
    """A clock that advances by one at each call."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("columns", [1, 2])
def test_each_forecast_of_the_test_part_is_made_from_the_rows_before_it(columns):
    rng = np.random.default_rng(1)
    rows, forecast = drawn(rng, (40, columns), gaps=0.1), []
    rows[0] = rows[25] = 5.0
    steps, levels, test = (1, 3), (0.8, 0.1), 12
    found = backtest(
        make("ses", alpha=0.3),
        rows[:, 0] if columns == 1 else rows,
        test,
        steps,
        levels,
        season=5,
        notify=lambda done, of: forecast.append((done, of)),
        clock=Tick(),
    )
    filled = rows.copy()
    for column in filled.T:
        for at in range(1, 40):
            column[at] = column[at - 1] if math.isnan(column[at]) else column[at]
    for place, step in enumerate(steps):
        made, score = found.made[place], found.scores[place]
        assert made.steps == score.steps == step
        one = make("ses", alpha=0.3).fit(filled[:28])
        mean, by = [], []
        for at in range(28, 40 - step + 1):
            mean.append(one.forecast(step)[-1])
            # Errors are measured over as many steps as are forecast at once.
            by.append(one.forecast(max(steps), levels)[:, step - 1])
            one.update(filled[at])
        by = np.array(by).swapaxes(0, 1)
        truth = rows[28 + step - 1 :]
        np.testing.assert_array_equal(made.truth, truth)
        np.testing.assert_allclose(made.mean, mean)
        np.testing.assert_allclose(made.quantiles, by)
        most = filled[:28].max(axis=0)
        assert score.mse == pytest.approx(mse(truth / most, np.array(mean) / most))
        assert score.pmse == pytest.approx(pmse(truth / most, np.array(mean) / most))
        assert score.mase == pytest.approx(mase(truth, np.array(mean), filled[:28], 5))
        assert score.wql == pytest.approx(weighted_quantile_loss(truth, made.quantiles, levels))
        # The highest quantile is the first here.
        assert score.covered == pytest.approx(coverage(truth, made.quantiles[0]))
        assert (made.quantiles[0] >= made.quantiles[1]).all()
    assert forecast == [(done, 12) for done in range(1, 13)]
    # The clock is read before and after each of them.
    assert (found.fit, found.forecast) == (1.0, 1.0)


def test_a_season_longer_than_the_training_part_is_cut():
    rows = np.arange(12.0)
    found = backtest(make("naive"), rows, 6, (1,), (0.5,), season=100)
    assert found.scores[0].mase == pytest.approx(1.0 / 5.0)
    assert QUANTILES == (0.1, 0.25, 0.5, 0.75, 0.9)
    assert [each.steps for each in backtest(make("naive"), np.arange(9.0), 4).scores] == [1, 2]
    # A season is a day of ten-minute rows unless another one is given.
    day = np.tile(np.arange(144.0), 3)
    day[-1] += 1.0
    assert backtest(make("naive"), day + np.arange(432) // 144, 3, (1,)).scores[0].mase == pytest.approx(
        4.0 / 3.0
    )


@pytest.mark.parametrize(
    ("rows", "test", "steps", "forecast"),
    [
        (9, 3, (0, 1), "3 test rows and 0 to 1 steps"),
        (9, 3, (1, 4), "3 test rows and 1 to 4 steps"),
        (9, 8, (1,), "9 rows of which 8 are test rows, expected at least 2 more"),
    ],
)
def test_a_test_part_that_is_too_short_or_too_long_is_rejected(rows, test, steps, forecast):
    with pytest.raises(InputError, match=forecast):
        backtest(make("naive"), np.arange(float(rows)), test, steps)
    backtest(make("naive"), np.arange(9.0), 7, (7,))
    backtest(make("naive"), np.arange(9.0), 3, (3,))


@settings(max_examples=20, deadline=None)
@given(seeds, st.booleans())
def test_the_base_equals_that_of_a_plain_search(seed, priced):
    rng = np.random.default_rng(seed)
    types = [tuple(row) for row in {tuple(row) for row in rng.integers(0, 5, (4, 3)).tolist()} if any(row)]
    types += [] if (5, 5, 5) in types else [(5, 5, 5)]
    prices = rng.uniform(0.5, 4.0, len(types)) if priced else None
    snapshots = [rng.integers(0, 6, (int(rng.integers(1, 5)), 3)) for _ in range(3)]
    found = base_instance(snapshots, types, prices)
    largest = [max(of[r] for of in types) or 1 for r in range(3)]
    weights = prices if priced else [max(h / m for h, m in zip(of, largest, strict=True)) for of in types]
    order = sorted(range(len(types)), key=lambda place: types[place])
    scales = []
    for dropped in range(len(types)):
        kept = order[dropped:]
        jobs = [job for of in snapshots for job in of]
        hosted = [any(all(types[k][r] > 0 or job[r] == 0 for r in range(3)) for k in kept) for job in jobs]
        if dropped and not all(hosted):
            break
        counts = [embed(of, [types[k] for k in kept]) for of in snapshots]
        scales.append(
            sum(math.ceil(c - 1e-9) * weights[k] for of in counts for c, k in zip(of, kept, strict=True))
        )
    np.testing.assert_allclose(found.scale, scales)
    last = next((at for at in range(len(scales) - 1) if scales[at + 1] > scales[at] + 1e-9), len(scales) - 1)
    assert found.smallest == order[last]


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, np.inf], [1.0, np.nan], [[1.0, 1.0]]])
def test_weights_of_types_must_be_positive(weights):
    with pytest.raises(InputError, match="expected 2 finite numbers above 0"):
        base_instance([[(0, 1, 1)]], [(0, 1, 1), (0, 2, 2)], weights)


def test_members_go_to_groups_in_turn_from_the_given_first():
    assert balance([1, 1, 9], 4).tolist() == [0, 1, 2]
    assert balance([2, 1, 1, 1], 3, first=2).tolist() == [2, 0, 1, 2]
    assert balance([1], 1).tolist() == [0]


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(0, 2))
def test_one_resource_may_be_counted_alone(seed, resource):
    rng = np.random.default_rng(seed)
    types = [(0, 2, 4), (1, 3, 3), (2, 8, 0)]
    jobs = rng.integers(0, 3, (5, 3)) * np.array([1, 1, 1])
    jobs = [
        job for job in jobs.tolist() if any(all(j <= t for j, t in zip(job, of, strict=True)) for of in types)
    ]
    sums = np.zeros((3, 3))
    for job in jobs:
        place = min(k for k in range(3) if all(j <= t for j, t in zip(job, types[k], strict=True)))
        sums[place] += job
    want = [
        s[resource] / of[resource] if of[resource] else max(a / b for a, b in zip(s, of, strict=True) if b)
        for s, of in zip(sums, types, strict=True)
    ]
    np.testing.assert_allclose(embed(np.array(jobs).reshape(-1, 3), types, resource), want)


class Slow:
    """A forecaster that takes 2 s to fit, 5 s for quantiles, 1 s for a mean forecast, and 0 s for an update."""

    least = 2

    def __init__(self):
        self.now = 0.0

    def fit(self, series):
        self.now += 2.0
        return self

    def forecast(self, steps, quantiles=None):
        self.now += 1.0 if quantiles is None else 5.0
        shape = (steps, 1) if quantiles is None else (len(quantiles), steps, 1)
        return np.ones(shape)

    def update(self, new_rows):
        pass


def test_the_fit_time_includes_the_first_quantiles():
    slow = Slow()
    found = backtest(slow, np.arange(1.0, 10.0), 4, (1, 2), clock=lambda: slow.now)
    assert (found.fit, found.forecast) == (7.0, 1.0)


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_the_mean_of_the_squared_errors_by_row_is_the_mse_also_with_gaps(seed):
    rng = np.random.default_rng(seed)
    rows = drawn(rng, (60, 3), gaps=0.4)
    rows[0] = rows[-1] = 5.0
    found = backtest(make("naive"), rows, test=20, steps=(1, 3), season=1)
    for score, squared in zip(found.scores, found.squared, strict=True):
        assert np.nanmean(squared) == pytest.approx(score.mse)


def test_a_test_part_without_a_value_is_refused():
    rows = np.tile([[1.0], [2.0]], (20, 1))
    rows[30:] = np.nan
    with pytest.raises(InputError, match="no value is measured 1 or more rows after the 30 rows of history"):
        backtest(make("naive"), rows, test=10, season=1)
    rows[30] = 1.0
    with pytest.raises(InputError, match="no value is measured 2 or more rows after the 30 rows of history"):
        backtest(make("naive"), rows, test=10, steps=(1, 2), season=1)
