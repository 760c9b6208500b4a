"""Forecasters fitted by a package, with a stand-in for it, against plain loops."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.scale.test_forecast_plain import drawn
from windlass.model import InputError
from windlass.scale.forecast import make
from windlass.scale.forecast.models import arima as arima_module
from windlass.scale.forecast.models import ets as ets_module
from windlass.scale.forecast.models import lightgbm as lightgbm_module
from windlass.scale.forecast.models.arima import Arima
from windlass.scale.forecast.models.ets import Ets
from windlass.scale.forecast.models.lightgbm import LightGbm


class FakeStats:
    """A stand-in for statsforecast: it returns given coefficients and records its arguments."""

    def __init__(self, coefficients=(), seasons=None, par=()):
        self.calls, self.columns = [], []
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
            self.calls.append(how)
            self.columns.append(np.array(column))
            return SimpleNamespace(model_=model(column))

        return SimpleNamespace(fit=fit)


@pytest.mark.parametrize(("p", "q"), [(2, 1), (1, 3), (2, 0), (0, 2)])
def test_arima_forecasts_from_past_steps_and_errors(monkeypatch, p, q):
    rows = np.column_stack((drawn(90, 2), np.full(90, 3.0)))
    ar, ma = [[0.3, -0.2], [-0.4, 0.1]], [[0.5, 0.2, -0.1], [-0.3, 0.1, 0.2]]
    coefficients = [
        {**{f"ar{x + 1}": ar[k][x] for x in range(p)}, **{f"ma{x + 1}": ma[k][x] for x in range(q)}}
        for k in range(2)
    ]
    stats = FakeStats(coefficients)
    monkeypatch.setattr(arima_module, "need", lambda module, who: stats)
    made = Arima(p, q).fit(rows[:80])
    # A constant column has no coefficients.
    assert stats.calls == [{"order": (p, 1, q), "method": "CSS"}] * 2
    np.testing.assert_allclose(stats.columns[1], rows[:80, 1] / rows[:80, 1].max())
    # Three rows at once, two, and one in either shape.
    made.update(rows[80:83])
    made.update(rows[83:85])
    made.update(rows[85])
    made.update(rows[86:87])
    for column in range(2):
        series = rows[:87, column]
        steps, errors = list(np.diff(series)), []
        for at, step in enumerate(steps):
            predicted = sum(ar[column][x] * steps[at - 1 - x] for x in range(p) if at > x)
            errors.append(
                step - predicted - sum(ma[column][x] * errors[at - 1 - x] for x in range(q) if at > x)
            )
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


def test_quantiles_beyond_the_number_of_rows_equal_the_forecast(monkeypatch):
    # No forecast of this many steps could be tried on the known rows, so no error is known.
    monkeypatch.setattr(arima_module, "need", lambda module, who: FakeStats([{"ar1": 0.5}] * 2))
    rows = drawn(20)
    for made, least in (
        (Arima(1, 0), 20),
        (make("holt-winters", [3]), 6),
        (make("ses"), 2),
        (make("naive"), 2),
    ):
        for count in (least, 20):
            made.fit(rows[:count])
            for steps in (count, count + 1, 25):
                mean = made.forecast(steps)
                assert np.isfinite(mean).all()
                np.testing.assert_array_equal(made.forecast(steps, [0.1, 0.9]), [mean, mean])


def test_a_non_invertible_average_is_made_invertible():
    invertible = arima_module._invertible
    assert invertible([]).tolist() == []
    assert invertible([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert invertible([0.5]) == pytest.approx([0.5])
    assert invertible([-2.0]) == pytest.approx([-0.999 / 2])
    assert invertible([1.0]) == pytest.approx([0.999])
    # Roots -4 and 0.5: the first becomes -0.999 / 4.
    assert invertible([3.5, -2.0]) == pytest.approx([0.999 / 4 - 0.5, -0.999 / 8])


def test_two_orders_of_zero_are_rejected():
    with pytest.raises(InputError, match="p and q are both 0"):
        Arima(0, 0)


@pytest.mark.parametrize("seasons", [[5], [3, 5], [5, 40]])
def test_seasons_are_fixed_and_level_and_trend_are_updated(monkeypatch, seasons):
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
    assert stats.calls == [(known, "naive"), "ZZN"] * 2
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
    """A stand-in for LightGBM: its prediction is a weighted sum of the inputs."""

    def __init__(self):
        self.grown = []

    def Dataset(self, inputs, truths):  # noqa: N802
        return inputs, truths

    def train(self, how, data, rounds):
        self.grown.append((how, *data, rounds))
        weights = np.cos(1.0 + np.arange(data[0].shape[1])) * (1.0 + how.get("alpha", 2.0))
        return SimpleNamespace(predict=lambda inputs, num_threads: inputs @ weights)


def seen_by_trees(column, at, step, place, seasons):
    """Return the inputs of the trees for a column at a row, as listed in the class."""
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


def test_trees_use_lags_means_and_seasons(monkeypatch):
    trees, seasons = FakeTrees(), (7, 160)
    monkeypatch.setattr(lightgbm_module, "need", lambda module, who: trees)
    rows = drawn(340)
    made = LightGbm(seasons, rounds=9, leaves=5, seed=4).fit(rows[:330])
    made.update(rows[330:339])
    made.update(rows[339])
    # The library prints nothing, and its result depends neither on the number of threads nor on timing.
    grown_by = {"deterministic": True, "force_row_wise": True, "num_threads": 1, "verbosity": -1}
    # Learning rate 0.05, four fifths of the inputs per tree, and at least 50 rows per leaf.
    grown_by |= {"learning_rate": 0.05, "feature_fraction": 0.8, "min_data_in_leaf": 50}
    most = rows[:330].max(axis=0)
    scaled = rows / most
    found = made.forecast(8)
    assert len(trees.grown) == 8
    for step in (1, 3, 8):
        how, inputs, truths, rounds = trees.grown[step - 1]
        assert rounds == 9
        assert how == {**grown_by, "objective": "l2", "num_leaves": 5, "seed": 4}
        at = range(160, 330 - step)
        want = [seen_by_trees(scaled[:330, k], row, step, k, seasons) for k in range(2) for row in at]
        np.testing.assert_allclose(inputs, want, atol=1e-9)
        grown = [scaled[row + step, k] - scaled[row, k] for k in range(2) for row in at]
        np.testing.assert_allclose(truths, grown)
        for k in range(2):
            shown = seen_by_trees(scaled[:, k], 339, step, k, seasons)
            predicted = scaled[339, k] + np.array(shown) @ (3.0 * np.cos(1.0 + np.arange(len(shown))))
            assert found[step - 1, k] == pytest.approx(max(0.0, predicted * most[k]))
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
