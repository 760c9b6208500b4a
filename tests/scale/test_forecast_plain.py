"""Forecasters against plain loops over their definitions."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from tests.executed_again import executed_again
from windlass.model import InputError
from windlass.policy.registry import classes_in
from windlass.scale.forecast import Adapted, make
from windlass.scale.forecast.models.arima import Arima
from windlass.scale.forecast.models.ets import Ets
from windlass.scale.forecast.models.lightgbm import LightGbm
from windlass.scale.forecast.rows import filled

WINDOWED = {"window": 288, "horizon": 6}


TAUGHT = {"seasons": (144,), **WINDOWED, "anchored": True, "seed": 1}


DEFAULTS = {
    "naive": {},
    "seasonal-naive": {"seasons": (144,)},
    "ses": {"alpha": 0.5},
    "holt-winters": {"seasons": (144,), "alpha": 0.5, "beta": 0.001, "gamma": 0.3},
    "nlinear": WINDOWED,
    "dlinear": {**WINDOWED, "average": 25},
    "ets": {"seasons": (144,)},
    "arima": {"p": 7, "q": 7},
    "lightgbm": {"seasons": (144,), "rounds": 150, "leaves": 15, "seed": 1},
    "lstm": {**TAUGHT, "hidden": 51, "rate": 0.02, "steps": 1500, "batch": 32, "seconds": 300.0},
    "transformer": {
        **TAUGHT,
        **{"width": 32, "heads": 4, "layers": 6, "dropout": 0.2, "warmup": 5000},
        **{"steps": 2500, "batch": 16, "seconds": 420.0},
    },
}


def drawn(rows=60, columns=2, seed=1):
    rng = np.random.default_rng(seed)
    season = np.array([1.0, 4.0, 2.0, 7.0, 3.0])[np.arange(rows) % 5]
    return season[:, None] * np.arange(1, columns + 1) + rng.uniform(0, 2, (rows, columns))


def test_parameters_have_the_defaults_of_the_papers():
    found = {
        each.name: {
            name: parameter.default
            for name, parameter in inspect.signature(executed_again(each)).parameters.items()
        }
        for each in classes_in("windlass.scale.forecast.models", "forecast")
    }
    assert found == DEFAULTS


def test_the_longest_season_is_repeated():
    rows = drawn(23)
    found = make("seasonal-naive", [3, 5]).fit(rows)
    assert found.least == 5
    for now in (23, 24, 25):
        whole = drawn(25)[:now]
        want = [whole[now - 5 + step % 5] for step in range(12)]
        np.testing.assert_array_equal(found.forecast(12), want)
        if now < 25:
            found.update(drawn(25)[now])


def test_holt_winters_adds_a_season_to_the_level_and_trend_of_each_column():
    rows, more = drawn(30), drawn(37)
    found = make("holt-winters", [3, 5], alpha=0.4, beta=0.2, gamma=0.35).fit(rows)
    found.update(more[30:])
    for column in range(2):
        series = more[:, column]
        level, trend = series[:5].mean(), 0.0
        season = list(series[:5] - level)
        for place in range(5, 37):
            before = level
            level = 0.4 * (series[place] - season[place - 5]) + 0.6 * (level + trend)
            season.append(0.35 * (series[place] - before - trend) + 0.65 * season[place - 5])
            trend = 0.2 * (level - before) + 0.8 * trend
        want = [level + (step + 1) * trend + season[32 + step % 5] for step in range(8)]
        np.testing.assert_allclose(found.forecast(8)[:, column], want)


def features(name, window):
    """A window whose last value is 0, as a linear model sees it; ends are repeated where a mean reaches beyond."""
    if name == "nlinear":
        return list(window)
    last = len(window) - 1
    trend = [sum(window[min(max(at + by, 0), last)] for by in (-1, 0, 1, 2)) / 4 for at in range(len(window))]
    return trend + [value - mean for value, mean in zip(window, trend, strict=True)]


def cases(name, scaled, window, horizon):
    inputs, truths = [], []
    for column in scaled.T:
        for at in range(len(column) - window - horizon + 1):
            seen, then = column[at : at + window], column[at + window : at + window + horizon]
            inputs.append(features(name, seen - seen[-1]))
            truths.append(then - seen[-1])
    return np.array(inputs), np.array(truths)


def ridge(inputs, truths, penalty):
    """Least squares with more rows: the square root of the penalty for each weight."""
    size = inputs.shape[1]
    strength = penalty * (inputs**2).sum() / size
    more = np.vstack((inputs, math.sqrt(strength) * np.eye(size)))
    return np.linalg.lstsq(more, np.vstack((truths, np.zeros((size, truths.shape[1])))), rcond=None)[0]


@pytest.mark.parametrize("name", ["nlinear", "dlinear"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_linear_forecasts_equal_a_ridge_regression(name, seed):
    window, horizon = 6, 2
    # The more noise there is, the larger the penalty that forecasts the last fifth best.
    rows = drawn(50, 2, seed) + np.random.default_rng(seed).uniform(0, 4.0 ** (seed - 1), (50, 2))
    more = {"average": 4} if name == "dlinear" else {}
    made = make(name, window=window, horizon=horizon, **more).fit(rows)
    most = rows.max(axis=0)
    scaled = rows / most
    early, late = (
        cases(name, scaled[:40], window, horizon),
        cases(name, scaled[40 - window :], window, horizon),
    )
    errors = {
        penalty: np.mean((late[0] @ ridge(*early, penalty) - late[1]) ** 2)
        for penalty in (1e-6, 1e-4, 1e-2, 1e-1)
    }
    weights = ridge(*cases(name, scaled, window, horizon), min(errors, key=errors.get))
    for column in range(2):
        series = list(scaled[:, column])
        while len(series) < 50 + 6:
            seen = np.array(series[-window:])
            series += list(np.array(features(name, seen - seen[-1])) @ weights + seen[-1])
        want = np.maximum(np.array(series[50:55]) * most[column], 0.0)
        np.testing.assert_allclose(made.forecast(5)[:, column], want, rtol=1e-4, atol=1e-6)


def test_the_least_rows_hold_a_window_in_both_parts():
    assert make("nlinear", window=10, horizon=2).least == 22
    assert make("nlinear", window=2, horizon=9).least == 50
    assert make("nlinear", window=30, horizon=40).least == 205
    assert make("nlinear", window=50, horizon=11).least == 111
    assert make("holt-winters", [3, 7]).least == 14
    assert (make("naive").least, Arima(2, 3).least, Ets([5, 3]).least) == (2, 60, 7)
    assert (LightGbm([200]).least, LightGbm([20]).least) == (402, 290)


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("rows", [2, 3, 5, 40])
def test_quantiles_are_those_of_errors_in_the_last_third(rows, steps):
    series, levels = drawn(rows), (0.05, 0.3, 0.5, 0.8, 0.97)
    made = make("ses", alpha=0.3).fit(series)
    trials = max(1, rows // 3 - steps + 1)
    first = max(1, rows - trials - steps + 1)
    errors = []
    for now in range(first, rows - steps + 1):
        level = series[0]
        for row in series[1:now]:
            level = 0.3 * row + 0.7 * level
        errors.append(series[now : now + steps] - level)
    errors = np.array(errors).reshape(-1, steps, 2) if errors else np.zeros((1, steps, 2))
    count, later = len(errors), drawn(rows + 1)[-1]
    for mean in (made.forecast(steps), None):
        if mean is None:
            made.update(later)
            mean = made.forecast(steps)
        found = made.forecast(steps, levels)
        for place, level in enumerate(levels):
            rank = math.ceil((count + 1) * level) if level >= 0.5 else math.floor((count + 1) * level)
            of = np.sort(errors, axis=0)[min(max(rank - 1, 0), count - 1)]
            np.testing.assert_allclose(found[place], np.maximum(mean + of, 0.0))


@pytest.mark.parametrize("name", ["nlinear", "dlinear"])
@pytest.mark.parametrize("steps", [11, 13, 16, 21])
def test_a_window_before_the_first_row_repeats_that_row(name, steps):
    # One trial is made, after the rows that leave as many as are forecast; its window is not full.
    rows = drawn(22)
    made, again = (make(name, window=10, horizon=2).fit(rows) for _ in range(2))
    first = 22 - steps
    again.update(np.concatenate([np.repeat(rows[:1], 10, axis=0), rows[:first]]))
    off = rows[first:] - again.forecast(steps)
    want = np.maximum(made.forecast(steps) + off, 0.0)
    for level in (0.1, 0.5, 0.9):
        np.testing.assert_allclose(made.forecast(steps, [level])[0], want)


@pytest.mark.parametrize("name", ["naive", "ses", "seasonal-naive", "holt-winters"])
def test_integers_and_gaps_are_read_as_floats(name):
    season = {"seasons": [3]} if "season" in name or "holt" in name else {}
    rows = [[4, 0], [1, 7], [3, 3], [2, 9], [5, 8], [0, 6], [1, 2]]
    made, wanted = make(name, **season).fit(rows), make(name, **season).fit(np.array(rows, float))
    for new in ([2, 3], [[3, None], [None, 1]]):
        made.update(new)
        wanted.update(np.array(new, float))
        found = made.forecast(4)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, wanted.forecast(4))
    filled_up = filled([[None, 2], [3, None]])
    assert (filled_up.dtype, filled_up.tolist()) == (np.float64, [[3.0, 2.0], [3.0, 2.0]])


class RecordingModel:
    """A model that records its input."""

    def fit(self, series):
        self.rows = [series]

    def forecast(self, steps):
        return [[1] * self.rows[0].shape[1]] * steps

    def update(self, new_rows):
        self.rows.append(new_rows)


def test_an_adapted_object_receives_and_returns_floats():
    made = Adapted(recording := RecordingModel()).fit([[1, 2], [3, 4]])
    made.update([5, 6])
    made.update([[7, 8], [None, 9]])
    assert all(each.dtype == np.float64 for each in recording.rows)
    assert [each.shape for each in recording.rows] == [(2, 2), (1, 2), (2, 2)]
    assert made.forecast(2).dtype == np.float64


def test_at_most_two_thousand_trials_are_made():
    rng = np.random.default_rng(2)
    rows = 100.0 + np.cumsum(rng.normal(0, 0.01, 6600))
    rows[4500:4600] += 5.0
    made = make("naive").fit(rows)
    ordered = np.sort(np.diff(rows)[-2000:])
    for level in (0.9, 0.9994, 0.9996):
        rank = min(math.ceil(2001 * level), 2000)
        assert made.forecast(1, [level])[0, 0, 0] == pytest.approx(rows[-1] + ordered[rank - 1])


def test_forecasts_are_copies():
    made = make("naive").fit([[1.0], [2.0]])
    made.forecast(2)[:] = 9.0
    assert made.forecast(2).ravel().tolist() == [2.0, 2.0]
    assert made.forecast(3).ravel().tolist() == [2.0] * 3
    made.update([[np.nan], [5.0], [np.nan]])
    assert made.forecast(1).tolist() == [[5.0]]
    made.update(np.empty((0, 1)))
    assert made.forecast(1).tolist() == [[5.0]]
    for bad in (0.0, 1.0, -0.1, np.nan):
        with pytest.raises(InputError, match="expected numbers between 0 and 1"):
            made.forecast(1, [0.5, bad])


class BiasedModel:
    """A model that forecasts one more than the last row, without quantiles."""

    def fit(self, series):
        self.last = series[-1]
        return self

    def forecast(self, steps):
        return np.tile(self.last + 1.0, (steps, 1))

    def update(self, new_rows):
        self.last = new_rows[-1]


def test_quantiles_of_an_object_without_them_grow_with_the_root_of_the_steps():
    rows = drawn(40, 2) * 10.0
    made = Adapted(BiasedModel()).fit(rows[:5])
    np.testing.assert_array_equal(made.forecast(2, [0.2, 0.9]), np.tile(rows[4] + 1.0, (2, 2, 1)))
    for row in rows[5:]:
        made.update(row)
    errors = rows[5:] - rows[4:-1] - 1.0
    for place, level in enumerate((0.2, 0.9)):
        off = np.quantile(errors, level, axis=0)
        want = [np.maximum(rows[-1] + 1.0 + off * math.sqrt(step), 0.0) for step in (1, 2, 3)]
        np.testing.assert_allclose(made.forecast(3, [0.2, 0.9])[place], want)
