"""Forecasters are what plain loops make of their definitions; packages that find parameters are stood in for."""

from __future__ import annotations

import inspect
import math
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from windlass.model import InputError
from windlass.registry import classes_in
from windlass.scale.forecast import Adapted, make
from windlass.scale.forecast.models import arima as arima_module
from windlass.scale.forecast.models import ets as ets_module
from windlass.scale.forecast.models import lightgbm as lightgbm_module
from windlass.scale.forecast.models.arima import Arima
from windlass.scale.forecast.models.ets import Ets
from windlass.scale.forecast.models.lightgbm import LightGbm

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
        each.name: {name: parameter.default for name, parameter in inspect.signature(each).parameters.items()}
        for each in classes_in("windlass.scale.forecast.models", "forecast")
    }
    assert found == DEFAULTS


def test_of_several_seasons_the_longest_counts_and_it_goes_round():
    rows = drawn(23)
    found = make("seasonal-naive", [3, 5]).fit(rows)
    assert found.least == 5
    for now in (23, 24, 25):
        whole = drawn(25)[:now]
        want = [whole[now - 5 + step % 5] for step in range(12)]
        np.testing.assert_array_equal(found.forecast(12), want)
        if now < 25:
            found.update(drawn(25)[now])


def test_a_season_is_added_to_a_level_and_a_trend_of_each_column():
    rows, more = drawn(30), drawn(37)
    found = make("holt-winters", [3, 5], alpha=0.4, beta=0.2, gamma=0.3).fit(rows)
    found.update(more[30:])
    for column in range(2):
        series = more[:, column]
        level, trend = series[:5].mean(), 0.0
        season = list(series[:5] - level)
        for place in range(5, 37):
            before = level
            level = 0.4 * (series[place] - season[place - 5]) + 0.6 * (level + trend)
            season.append(0.3 * (series[place] - before - trend) + 0.7 * season[place - 5])
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
def test_linear_forecasts_are_those_of_a_ridge_regression(name, seed):
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


def test_as_many_rows_are_needed_as_windows_fit_into_both_parts():
    assert make("nlinear", window=10, horizon=2).least == 22
    assert make("nlinear", window=2, horizon=9).least == 50
    assert make("nlinear", window=30, horizon=40).least == 205
    assert make("nlinear", window=50, horizon=11).least == 111
    assert make("holt-winters", [3, 7]).least == 14
    assert (make("naive").least, Arima(2, 3).least, Ets([5, 3]).least) == (2, 60, 7)
    assert (LightGbm([200]).least, LightGbm([20]).least) == (402, 290)


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("rows", [2, 3, 5, 40])
def test_quantiles_are_errors_of_the_last_third(rows, steps):
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


def test_no_more_than_two_thousand_trials_are_made():
    rng = np.random.default_rng(2)
    rows = 100.0 + np.cumsum(rng.normal(0, 0.01, 6600))
    rows[4500:4600] += 5.0
    made = make("naive").fit(rows)
    ordered = np.sort(np.diff(rows)[-2000:])
    for level in (0.9, 0.9994, 0.9996):
        rank = min(math.ceil(2001 * level), 2000)
        assert made.forecast(1, [level])[0, 0, 0] == pytest.approx(rows[-1] + ordered[rank - 1])


def test_what_is_given_out_is_a_copy():
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


class FakeStats:
    """Stands in for statsforecast: gives coefficients, and keeps what it was asked."""

    def __init__(self, coefficients=(), seasons=None, par=()):
        self.asked, self.columns = [], []
        self.coefficients, self.seasons, self.par = iter(coefficients), seasons, iter(par)

    def Naive(self):  # noqa: N802
        return "naive"

    def ARIMA(self, **how):  # noqa: N802
        return self._fitted(how, lambda column: {"coef": next(self.coefficients)})

    def MSTL(self, known, trend_forecaster):  # noqa: N802
        return self._fitted((list(known), trend_forecaster), lambda column: self.seasons(len(column)))

    def AutoETS(self, model):  # noqa: N802
        return self._fitted(model, lambda column: {"par": next(self.par)})

    def _fitted(self, how, model):
        def fit(column):
            self.asked.append(how)
            self.columns.append(np.array(column))
            return SimpleNamespace(model_=model(column))

        return SimpleNamespace(fit=fit)


@pytest.mark.parametrize(("p", "q"), [(2, 1), (1, 3), (2, 0), (0, 2)])
def test_steps_follow_from_steps_and_errors_before(monkeypatch, p, q):
    rows = np.column_stack((drawn(90, 2), np.full(90, 3.0)))
    ar, ma = [[0.3, -0.2], [-0.4, 0.1]], [[0.5, 0.2, -0.1], [-0.3, 0.1, 0.2]]
    coefficients = [
        {**{f"ar{x + 1}": ar[k][x] for x in range(p)}, **{f"ma{x + 1}": ma[k][x] for x in range(q)}}
        for k in range(2)
    ]
    stats = FakeStats(coefficients)
    monkeypatch.setattr(arima_module, "need", lambda module, who: stats)
    made = Arima(p, q).fit(rows[:80])
    # One that never changes has no coefficients to be found.
    assert stats.asked == [{"order": (p, 1, q), "method": "CSS"}] * 2
    np.testing.assert_allclose(stats.columns[1], rows[:80, 1] / rows[:80, 1].max())
    made.update(rows[80:84])
    made.update(rows[84])
    made.update(rows[85:86])
    for column in range(2):
        series = rows[:86, column]
        steps, errors = list(np.diff(series)), []
        for at, step in enumerate(steps):
            told = sum(ar[column][x] * steps[at - 1 - x] for x in range(p) if at > x)
            errors.append(step - told - sum(ma[column][x] * errors[at - 1 - x] for x in range(q) if at > x))
        want, value = [], series[-1]
        for _ in range(6):
            step = sum(ar[column][x] * steps[-1 - x] for x in range(p))
            step += sum(ma[column][x] * errors[-1 - x] for x in range(q))
            steps.append(step)
            errors.append(0.0)
            value += step
            want.append(max(value, 0.0))
        np.testing.assert_allclose(made.forecast(6)[:, column], want)
    assert made.forecast(2)[:, 2].tolist() == [3.0, 3.0]


def test_an_average_whose_errors_would_grow_is_turned_into_one_whose_errors_do_not():
    invertible = arima_module._invertible
    assert invertible([]).tolist() == []
    assert invertible([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert invertible([0.5]) == pytest.approx([0.5])
    assert invertible([-2.0]) == pytest.approx([-0.999 / 2])
    assert invertible([1.0]) == pytest.approx([0.999])
    # Roots -4 and 0.5: the first becomes -0.999 / 4.
    assert invertible([3.5, -2.0]) == pytest.approx([0.999 / 4 - 0.5, -0.999 / 8])


def test_both_orders_of_none_are_refused():
    with pytest.raises(InputError, match="p and q are 0"):
        Arima(0, 0)


@pytest.mark.parametrize("seasons", [[5], [3, 5], [5, 40]])
def test_seasons_stay_and_level_and_trend_follow(monkeypatch, seasons):
    rows = np.column_stack((drawn(66, 2), np.full(66, 3.0)))
    known = [each for each in seasons if each < 30]

    def cycle(season, row):
        return 0.01 * season * (row % season)

    def parts(count):
        names = ["seasonal"] if len(known) == 1 else [f"seasonal{season}" for season in known]
        return {n: [cycle(s, row) for row in range(count)] for n, s in zip(names, known, strict=True)}

    par = [[0.4, 0.1, np.nan, 0.9, 1.0], [0.7, np.nan, np.nan, np.nan]]
    stats = FakeStats(seasons=parts, par=par)
    monkeypatch.setattr(ets_module, "need", lambda module, who: stats)
    made = Ets(seasons).fit(rows[:60])
    assert stats.asked == [(known, "naive"), "ZZN"] * 2
    made.update(rows[60:65])
    made.update(rows[65])
    for column, (alpha, beta, phi) in enumerate([(0.4, 0.1, 0.9), (0.7, 0.0, 1.0)]):
        most = rows[:60, column].max()
        left = [row / most - sum(cycle(s, at) for s in known) for at, row in enumerate(rows[:, column])]
        np.testing.assert_allclose(stats.columns[2 * column + 1], left[:60])
        level, trend = left[0], 0.0
        for value in left:
            expected = level + phi * trend
            level, trend = expected + alpha * (value - expected), phi * trend + beta * (value - expected)
        want, damp = [], 0.0
        for step in range(7):
            damp += phi ** (step + 1)
            season = sum(cycle(s, 66 + step) for s in known)
            want.append(max(0.0, (level + damp * trend + season) * most))
        np.testing.assert_allclose(made.forecast(7)[:, column], want)
    np.testing.assert_allclose(made.forecast(2)[:, 2], 3.0)


class FakeTrees:
    """Stands in for LightGBM: its trees are a weighted sum of what they see."""

    def __init__(self):
        self.grown = []

    def Dataset(self, inputs, truths):  # noqa: N802
        return inputs, truths

    def train(self, how, data, rounds):
        self.grown.append((how, *data, rounds))
        weights = np.cos(1.0 + np.arange(data[0].shape[1])) * (1.0 + how.get("alpha", 2.0))
        return SimpleNamespace(predict=lambda inputs, num_threads: inputs @ weights)


def seen_by_trees(column, at, step, place, seasons):
    """What trees see of a column at a row, by the list on the class."""
    now = column[at]
    found = [now, float(place)]
    found += [column[at - lag] - now for lag in (1, 2, 3, 4, 5, 6, 9, 12, 18, 24)]
    found += [np.mean(column[at - mean + 1 : at + 1]) - now for mean in (6, 36, 144)]
    for season in seasons:
        then = at + step
        back = next(then - season * times for times in range(1, 99) if then - season * times <= at)
        found += [column[back] - now, column[at - season] - now]
        phase = 2 * math.pi * (then % season) / season
        found += [math.sin(phase), math.cos(phase)]
    return found


def test_trees_see_lags_means_and_seasons(monkeypatch):
    trees, seasons = FakeTrees(), (7, 160)
    monkeypatch.setattr(lightgbm_module, "need", lambda module, who: trees)
    rows = drawn(340)
    made = LightGbm(seasons, rounds=9, leaves=5, seed=4).fit(rows[:330])
    made.update(rows[330:339])
    made.update(rows[339])
    most = rows[:330].max(axis=0)
    scaled = rows / most
    found = made.forecast(8)
    assert len(trees.grown) == 8
    for step in (1, 3, 8):
        how, inputs, truths, rounds = trees.grown[step - 1]
        assert rounds == 9
        assert (how["objective"], how["num_leaves"], how["seed"]) == ("l2", 5, 4)
        at = range(160, 330 - step)
        want = [seen_by_trees(scaled[:330, k], row, step, k, seasons) for k in range(2) for row in at]
        np.testing.assert_allclose(inputs, want, atol=1e-9)
        grown = [scaled[row + step, k] - scaled[row, k] for k in range(2) for row in at]
        np.testing.assert_allclose(truths, grown)
        for k in range(2):
            shown = seen_by_trees(scaled[:, k], 339, step, k, seasons)
            told = scaled[339, k] + np.array(shown) @ (3.0 * np.cos(1.0 + np.arange(len(shown))))
            assert found[step - 1, k] == pytest.approx(max(0.0, told * most[k]))
    made.forecast(3)
    assert len(trees.grown) == 8
    levels = (0.9, 0.1, 0.5)
    by_quantile = made.forecast(2, levels)
    assert [each[0].get("alpha") for each in trees.grown[8:]] == [0.9, 0.9, 0.1, 0.1, 0.5, 0.5]
    assert {each[0]["objective"] for each in trees.grown[8:]} == {"quantile"}
    ordered = np.sort(by_quantile, axis=0)
    np.testing.assert_array_equal(by_quantile, ordered[[2, 0, 1]])
    for k in range(2):
        shown = np.array(seen_by_trees(scaled[:, k], 339, 2, k, seasons))
        of = [
            scaled[339, k] + shown @ ((1 + q) * np.cos(1.0 + np.arange(len(shown)))) for q in sorted(levels)
        ]
        np.testing.assert_allclose(ordered[:, 1, k], np.maximum(np.sort(of) * most[k], 0.0))


class Recorded:
    """Stands in for what teaches networks: says the mean of the window, the row's number and the step."""

    def __init__(self, monkeypatch):
        self.taught, self.made = [], []
        train = ModuleType("train")
        train.Course = lambda *numbers, seconds: (*numbers, seconds)
        train.teach = lambda *given: self.taught.append(given) or "taught"
        train.adam = lambda rate: ("adam", rate)
        train.adam_by_noam = lambda width, warmup: ("noam", width, warmup)
        windowed = ModuleType("windowed")
        windowed.Taught = self._taught
        for name, module in (("train", train), ("windowed", windowed)):
            monkeypatch.setitem(sys.modules, f"windlass.scale.forecast.neural.{name}", module)
        monkeypatch.setattr("windlass.scale.forecast.network.need", lambda module, who: None)

    def _taught(self, network, window):
        assert network == "taught"

        def ahead(rows, first, steps):
            assert len(rows) == window
            return np.array([rows.mean(axis=0) + 0.001 * first + 0.1 * step for step in range(steps)])

        def many(rows, first, steps):
            starts = range(len(rows) - window + 1)
            return np.array([ahead(rows[at : at + window], first + at, steps) for at in starts])

        return SimpleNamespace(ahead=ahead, many=many)


@pytest.fixture
def network(monkeypatch):
    """An LSTM whose weights are nowhere needed."""
    from windlass.scale.forecast.models.lstm import Lstm

    recorded = Recorded(monkeypatch)
    monkeypatch.setattr(Lstm, "_network", lambda self, columns: ("untaught", columns))
    monkeypatch.setattr(Lstm, "_how", lambda self: ("loss", "optimizer"))
    return recorded, Lstm


def test_a_network_is_taught_by_all_but_the_last_tenth(network):
    recorded, lstm = network
    rows = drawn(75)
    made = lstm(window=6, horizon=2, steps=11, batch=3, seconds=5.0, seed=8).fit(rows[:70])
    ((untaught, loss, optimizer, early, late, course, seed),) = recorded.taught
    assert (untaught, loss, optimizer, course, seed) == (
        ("untaught", 2),
        "loss",
        "optimizer",
        (11, 3, 6, 2, 5.0),
        8,
    )
    most = rows[:70].max(axis=0)
    np.testing.assert_allclose(early, (rows[:63] / most).astype(np.float32))
    np.testing.assert_allclose(late, (rows[63:70] / most).astype(np.float32))
    made.update(rows[70:74])
    made.update(rows[74])
    mean = [((rows[69:75] / most).mean(axis=0) + 0.069 + 0.1 * step) * most for step in range(3)]
    np.testing.assert_allclose(made.forecast(3), mean)
    errors = []
    for first in range(57, 70 - 6 - 3 + 1):
        told = [
            ((rows[first : first + 6] / most).mean(axis=0) + 0.001 * first + 0.1 * x) * most for x in range(3)
        ]
        errors.append(rows[first + 6 : first + 9] - told)
    ordered = np.sort(errors, axis=0)
    np.testing.assert_allclose(
        made.forecast(3, [0.5])[0], mean + ordered[math.ceil(0.5 * (len(errors) + 1)) - 1]
    )


def test_a_network_of_a_series_that_never_changes_is_not_taught(network):
    recorded, lstm = network
    made = lstm(window=6, horizon=2).fit(np.full((50, 2), 4.0))
    made.update([[5.0, 6.0]])
    assert recorded.taught == []
    assert made.forecast(2).tolist() == [[5.0, 6.0]] * 2
    assert made.forecast(2, [0.1, 0.9]).tolist() == [[[5.0, 6.0]] * 2] * 2
    assert lstm(window=6, horizon=2).least == 20


@pytest.mark.parametrize(("rows", "held"), [(20, 4), (39, 4), (50, 5), (99, 9)])
def test_no_fewer_rows_are_held_back_than_two_horizons(network, rows, held):
    recorded, lstm = network
    lstm(window=6, horizon=2).fit(drawn(rows))
    assert len(recorded.taught[0][4]) == held


class Off:
    """Forecasts one more than the last row, without quantiles."""

    def fit(self, series):
        self.last = series[-1]
        return self

    def forecast(self, steps):
        return np.tile(self.last + 1.0, (steps, 1))

    def update(self, new_rows):
        self.last = new_rows[-1]


def test_quantiles_of_an_object_without_them_grow_with_the_root_of_the_steps():
    rows = drawn(40, 2) * 10.0
    made = Adapted(Off()).fit(rows[:5])
    np.testing.assert_array_equal(made.forecast(2, [0.2, 0.9]), np.tile(rows[4] + 1.0, (2, 2, 1)))
    for row in rows[5:]:
        made.update(row)
    errors = rows[5:] - rows[4:-1] - 1.0
    for place, level in enumerate((0.2, 0.9)):
        off = np.quantile(errors, level, axis=0)
        want = [np.maximum(rows[-1] + 1.0 + off * math.sqrt(step), 0.0) for step in (1, 2, 3)]
        np.testing.assert_allclose(made.forecast(3, [0.2, 0.9])[place], want)
