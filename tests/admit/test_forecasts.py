"""Forecasters and the rules for spikes, on series with known properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.admit import POLICIES, AdmitView
from windlass.admit.lib.arima import arima
from windlass.admit.lib.forecasts import FORECASTERS, smoothing, svm
from windlass.admit.lib.spike_rules import LEVELS, checked_level
from windlass.admit.policies.alarm import Alarm
from windlass.model import InputError

seeds = st.integers(0, 2**32 - 1)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40))
def test_smoothing_weights_decay_geometrically(history):
    # Would catch 0.2 and 0.8 mixed up.
    weights = [0.2 * 0.8**age for age in range(len(history))]
    weights[-1] = 0.8 ** (len(history) - 1)
    assert smoothing(np.array(history)) == pytest.approx(np.dot(weights, history[::-1]), abs=1e-6)


def errors(series, forecaster, first=60):
    found = [forecaster(series[:at]) for at in range(first, len(series))]
    return float(np.sqrt(np.mean((np.array(found) - series[first:]) ** 2)))


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize(("kind", "best"), [("values", 1.0), ("surprises", 1.0), ("differences", 1.0)])
def test_arima_forecasts_its_own_kind_of_series_near_the_noise_floor(kind, best):
    # The noise has deviation 1, the lower bound of the error; the naive forecast is far above it.
    rng = np.random.default_rng(3)
    noise = rng.normal(size=400)
    series = np.zeros(400)
    for at in range(2, 400):
        past = {
            "values": 0.6 * series[at - 1] - 0.7 * series[at - 2],
            "surprises": -0.8 * noise[at - 1],
            "differences": series[at - 1] + 0.7 * (series[at - 1] - series[at - 2]),
        }[kind]
        series[at] = past + noise[at]
    assert errors(series, arima) < 1.15 * best
    assert errors(series, FORECASTERS["naive"]) > 1.25


def test_arima_forecasts_the_mean_of_white_noise():
    # Would catch a criterion without a penalty for orders: the highest would always fit best.
    series = np.random.default_rng(5).normal(size=(30, 150))
    assert np.mean([arima(each) == pytest.approx(each.mean()) for each in series]) > 0.25


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
@settings(max_examples=80, deadline=None)
def test_forecasts_of_any_series_are_within_its_range(history):
    series = np.array(history)
    room = np.ptp(series)
    for name in ("naive", "smoothing", "arima"):
        found = FORECASTERS[name](series)
        assert series.min() - room - 1e-6 <= found <= series.max() + room + 1e-6


def test_a_support_vector_machine_forecasts_a_wave():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    wave = 5.0 + np.sin(0.5 * np.arange(120))
    assert errors(wave, svm) < 0.5 * errors(wave, FORECASTERS["naive"])


def test_levels_equal_those_of_the_paper():
    history = np.array([1.0, 2.0, 3.0, 10.0])
    found = {name: checked_level(name, 90.0)(history, 90.0) for name in ("fixed", "percentile", "median")}
    assert found == {"fixed": 90.0, "percentile": np.percentile(history, 90), "median": 2.5}
    assert checked_level("sigma", 3.0)(history, 3.0) == pytest.approx(4.0 + 3.0 * np.std(history))
    # Moving ranges of 1, 1 and 7.
    assert checked_level("xbar", 0.0)(history, 0.0) == pytest.approx(4.0 + 3.267 * 3.0)


def answers(policy, values):
    return [policy.decide(AdmitView(0.0, np.zeros(1), ready=value)).reject for value in values]


def test_an_alarm_of_spikes_needs_several_spikes():
    # Smoothing reaches ½ after four spikes in a row: 1 - 0.8⁴ = 0.59.
    policy = Alarm("smoothing", level="fixed", value=1.0)
    assert answers(policy, [0.0, 2.0, 2.0, 2.0, 2.0, 0.0]) == [False, False, False, False, True, False]


def test_an_alarm_of_values_compares_forecasts_with_the_level():
    policy = Alarm("naive", level="median", series="values")
    assert answers(policy, [1.0, 3.0, 2.0, 0.0, 1.0]) == [False, True, True, False, True]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("series", ["spikes", "values"])
def test_a_node_with_zero_ready_time_never_rejects(level, series):
    # Would catch "at least the percentile" where all values are 0, which rejects for ever.
    value = 95.0 if level == "percentile" else 0.0
    policy = Alarm("naive", level=level, value=value, series=series)
    assert not any(answers(policy, [0.0] * 50))


def test_an_unknown_value_keeps_the_last_answer():
    policy = Alarm("naive", level="fixed", value=1.0)
    assert answers(policy, [0.0, 2.0, np.nan, 0.0]) == [False, True, True, False]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"forecaster": "oracle"}, "forecaster is 'oracle', expected one of naive, smoothing, arima, svm"),
        ({"level": "high"}, "level is 'high', expected one of fixed"),
        ({"level": "percentile", "value": 101.0}, "value is 101.0"),
        ({"series": "both"}, "series is 'both', expected one of spikes, values"),
        ({"window": 1}, "window is 1"),
        ({"downtime": 0.0}, "downtime is 0.0"),
    ],
)
def test_invalid_input_is_named_in_the_error(given, message):
    with pytest.raises(InputError, match=message):
        POLICIES.make("alarm", np.random.default_rng(1), **given)


@pytest.mark.parametrize(
    ("name", "given"), [("random", {"downtime": 1.5}), ("utilisation", {"threshold": np.nan})]
)
def test_baselines_reject_invalid_parameters(name, given):
    with pytest.raises(InputError, match=next(iter(given))):
        POLICIES.make(name, np.random.default_rng(1), **given)
