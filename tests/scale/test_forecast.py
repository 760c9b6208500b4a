"""Every forecaster: no use of future values, and behaviour on unusual series."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.scale.models import SEASON, every, small, wavy
from windlass.model import InputError
from windlass.scale.accuracy import mse, pmse
from windlass.scale.backtest import backtest
from windlass.scale.forecast import Adapted, forecasters, make
from windlass.scale.forecast.model import offsets
from windlass.scale.forecast.rows import Tail, filled

LEVELS = (0.1, 0.5, 0.9)
#: Forecasters that are fitted for up to a minute in these tests.
NIGHTLY = ("transformer", "lstm")


@pytest.mark.parametrize("name", every(NIGHTLY))
def test_future_rows_change_no_forecast(name):
    """Shuffling later rows of the test part does not change earlier forecasts or learned parameters."""
    rows, split = wavy(), 380
    mixed = rows.copy()
    mixed[split + 5 :] = np.random.default_rng(1).permutation(mixed[split + 5 :]) * 100
    one, other = (
        backtest(small(name), each, len(rows) - split, (1, 2), LEVELS, SEASON) for each in (rows, mixed)
    )
    # The forecasts from the first six rows have seen five rows of the test part, which are the same.
    assert np.array_equal(one.made[1].mean[:6], other.made[1].mean[:6])
    assert np.array_equal(one.made[1].quantiles[:, :6], other.made[1].quantiles[:, :6])


@pytest.mark.parametrize("name", every())
def test_updating_at_once_equals_updating_row_by_row(name):
    rows = wavy()
    one, other = small(name).fit(rows[:300]), small(name).fit(rows[:300])
    one.update(rows[300:])
    for row in rows[300:]:
        other.update(row[None])
    assert np.allclose(one.forecast(3), other.forecast(3), rtol=1e-5)


@pytest.mark.parametrize("name", every())
def test_forecasts_have_the_expected_shapes_and_ordered_quantiles(name):
    made = small(name).fit(wavy())
    assert made.forecast(5).shape == (5, 2)
    low, middle, high = made.forecast(5, LEVELS)
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert np.array_equal(made.forecast(5, LEVELS[::-1]), np.stack([high, middle, low]))
    assert (low >= 0).all()


@pytest.mark.parametrize("name", every())
def test_a_history_that_is_too_short_is_an_error(name):
    made = small(name)
    with pytest.raises(
        InputError, match=rf"{name}: {made.least - 1} rows of history, expected at least {made.least}"
    ):
        made.fit(wavy(made.least - 1))
    assert small(name).fit(wavy(made.least)).forecast(1).shape == (1, 2)


@pytest.mark.parametrize("name", every())
@pytest.mark.parametrize("value", [0.0, 7.0])
def test_the_forecast_of_a_constant_series_is_constant(name, value):
    made = small(name).fit(np.full((300, 2), value))
    assert np.allclose(made.forecast(4), value, atol=1e-6)
    assert np.allclose(made.forecast(4, LEVELS), value, atol=1e-6)


@pytest.mark.parametrize("name", every())
def test_gaps_are_filled_with_the_value_before_them(name):
    rows = wavy()
    holes = rows.copy()
    holes[[50, 51, 200], 0] = np.nan
    filled_in = holes.copy()
    filled_in[[50, 51], 0], filled_in[200, 0] = rows[49, 0], rows[199, 0]
    assert np.array_equal(small(name).fit(holes).forecast(2), small(name).fit(filled_in).forecast(2))


@pytest.mark.parametrize("name", every())
def test_forecasts_after_a_thousandfold_jump_are_finite_and_follow_it(name):
    """After the jump the forecast is still a number of at least 0, although earlier rows do not help."""
    made = small(name).fit(wavy())
    made.update(wavy(30) * 1000)
    for found in (made.forecast(3), made.forecast(3, LEVELS)):
        assert np.isfinite(found).all()
        assert (found >= 0).all()
    learned = small(name).fit(np.concatenate([wavy(), wavy(100) * 1000]))
    assert np.isfinite(learned.forecast(3)).all()
    if name not in ("transformer", "lstm"):
        assert (learned.forecast(1) > 1000).all()


@pytest.mark.parametrize("name", every(NIGHTLY))
def test_seasonal_forecasters_beat_the_naive_one(name):
    """On a seasonal series, all seasonal forecasters have a smaller error than the naive one."""
    rows, blind = wavy(600, 1), {"naive", "ses", "arima", "holt-winters"}
    # Networks need more steps; in the twenty steps of the other tests they learn nothing.
    longer = {"lstm": {"steps": 400}, "transformer": {"steps": 400, "warmup": 100}}.get(name, {})
    found = backtest(small(name, **longer), rows, 48, (1,), LEVELS, SEASON).scores[0]
    naive = backtest(small("naive"), rows, 48, (1,), LEVELS, SEASON).scores[0]
    assert found.pmse <= found.mse
    assert found.mse < (3 if name in blind else 0.5) * naive.mse


def test_invalid_values_are_named_in_the_error():
    with pytest.raises(
        InputError, match=r"series: row 1, column 0 is -1\.0, expected 0 or more, or NaN for a gap"
    ):
        make("naive").fit([[1.0], [-1.0]])
    with pytest.raises(InputError, match=r"series: column 1 has no value"):
        make("naive").fit([[1.0, np.nan], [1.0, np.nan]])
    with pytest.raises(InputError, match=r"row 0, column 0 is inf"):
        make("naive").fit([[np.inf], [1.0]])
    made = make("naive").fit([[1.0], [2.0]])
    with pytest.raises(InputError, match=r"new rows has shape \(1, 2\), expected \(rows, 1\)"):
        made.update([[1.0, 2.0]])
    with pytest.raises(InputError, match="steps is 0"):
        made.forecast(0)
    with pytest.raises(InputError, match="quantiles are"):
        made.forecast(1, [1.0])
    with pytest.raises(InputError, match=r"forecast\(\) called before fit\(\)"):
        make("ses").forecast(1)
    with pytest.raises(InputError, match="naive has no parameter 'alpha', it takes none"):
        make("naive", alpha=1)


def test_the_error_names_the_missing_extra(monkeypatch):
    def missing(name, *rest, **more):
        if name.partition(".")[0] in ("lightgbm", "statsforecast", "jax", "equinox", "optax"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])
        return real(name, *rest, **more)

    real = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", missing)
    for name in ("ets", "arima", "lightgbm", "lstm", "transformer"):
        with pytest.raises(
            InputError,
            match=rf"^{name} needs \w+, which is not installed: pip install 'windlass\[forecast\]'$",
        ):
            make(name, [SEASON]).fit(wavy(2500, 1))


def test_every_forecaster_is_in_the_docstring_of_the_package():
    import windlass.scale.forecast as package

    assert all(f"``{name}``" in (package.__doc__ or "") for name in forecasters())


def test_an_object_with_the_same_methods_is_a_forecaster():
    class Mean:
        def fit(self, series):
            self.rows = np.asarray(series)
            return self

        def forecast(self, steps):
            return np.tile(self.rows.mean(axis=0), (steps, 1))

        def update(self, new_rows):
            self.rows = np.concatenate([self.rows, new_rows])

    rows = wavy()
    found = backtest(Adapted(Mean()), rows, 50, (1,), LEVELS, SEASON)
    assert found.made[0].mean[0] == pytest.approx(rows[:350].mean(axis=0))
    assert (np.diff(found.made[0].quantiles[:, -1], axis=0) > 0).all()


def test_invalid_forecasts_of_an_object_are_rejected():
    class Wrong:
        def fit(self, series):
            return self

        def forecast(self, steps, quantiles=None):
            return np.full((steps, 1), np.nan)

        def update(self, new_rows):
            pass

    with pytest.raises(InputError, match=r"Wrong.forecast\(\) returned a value that is not finite"):
        Adapted(Wrong()).fit([[1.0], [2.0]]).forecast(1)
    with pytest.raises(InputError, match=r"Wrong.forecast\(\) returned shape \(1, 1\)"):
        Adapted(Wrong()).fit([[1.0, 2.0], [2.0, 1.0]]).forecast(1)
    with pytest.raises(InputError, match=r"int has no method fit\(\)"):
        Adapted(3)


@settings(deadline=None)
@given(st.integers(1, 60), st.lists(st.integers(1, 9), max_size=30))
def test_the_tail_holds_the_last_rows(most, pieces):
    rows = np.arange(float(most))[:, None]
    tail, whole = Tail(rows, most), rows
    for count in pieces:
        more = len(whole) + np.arange(float(count))[:, None]
        tail.add(more)
        whole = np.concatenate([whole, more])
        assert np.array_equal(tail.last(most), whole[-most:])


@settings(deadline=None)
@given(arrays(np.float64, (9, 2), elements=st.one_of(st.just(np.nan), st.floats(0, 9))))
def test_filled_keeps_known_values_and_repeats_them(rows):
    if np.isnan(rows).all(axis=0).any():
        with pytest.raises(InputError):
            filled(rows)
        return
    found = filled(rows)
    for column, full in zip(rows.T, found.T, strict=True):
        value = next(x for x in column if not np.isnan(x))
        for x, y in zip(column, full, strict=True):
            value = value if np.isnan(x) else x
            assert y == value


def test_conformal_quantiles_have_their_stated_coverage():
    """Of many samples of 19 errors, the next one is below the quantile of 0.9 in at least nine of ten."""
    draws = np.random.default_rng(5).normal(size=(4000, 20))
    below = [draw[-1] <= offsets(draw[:-1].reshape(-1, 1, 1), [0.9])[0, 0, 0] for draw in draws]
    assert 0.885 < np.mean(below) < 0.915


@settings(deadline=None)
@given(arrays(np.float64, 8, elements=st.floats(0, 100)), arrays(np.float64, 8, elements=st.floats(0, 100)))
def test_pmse_is_never_above_mse(truth, forecast):
    assert pmse(truth, forecast) <= mse(truth, forecast) + 1e-12
    assert mse(truth, forecast) == pytest.approx(pmse(truth, forecast) + pmse(forecast, truth))


def test_ses_and_holt_winters_equal_the_textbook():
    rows = wavy(100, 1)[:, 0]
    level = rows[0]
    for row in rows[1:]:
        level = 0.3 * row + 0.7 * level
    assert make("ses", alpha=0.3).fit(rows).forecast(1)[0, 0] == pytest.approx(level)
    made = make("holt-winters", [4], alpha=0.4, beta=0.2, gamma=0.3).fit(rows)
    level, trend, season = rows[:4].mean(), 0.0, list(rows[:4] - rows[:4].mean())
    for place, row in enumerate(rows[4:], start=4):
        old = level
        level = 0.4 * (row - season[place - 4]) + 0.6 * (level + trend)
        season.append(0.3 * (row - old - trend) + 0.7 * season[place - 4])
        trend = 0.2 * (level - old) + 0.8 * trend
    expected = [level + (h + 1) * trend + season[96 + h] for h in range(4)]
    assert made.forecast(4)[:, 0] == pytest.approx(expected)


def test_ridge_finds_the_weights_of_a_linear_series():
    """x(t) = x(t-1) + 0.5 (x(t-1) - x(t-2)), which a naive forecast misses."""
    rng = np.random.default_rng(2)
    rows = [50.0, 50.0]
    for _ in range(600):
        rows.append(50 + 0.97 * (rows[-1] - 50) + 0.5 * (rows[-1] - rows[-2]) * 0.9 + rng.normal(0, 0.1))
    found = backtest(make("nlinear", window=6, horizon=1), np.abs(rows), 100, (1,), LEVELS, 1).scores[0]
    naive = backtest(make("naive"), np.abs(rows), 100, (1,), LEVELS, 1).scores[0]
    assert found.mse < 0.9 * naive.mse
