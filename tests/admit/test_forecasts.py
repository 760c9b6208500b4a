"""Forecasters and the rules for spikes, against what is known of the series."""

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
def test_smoothing_weighs_each_value_by_what_is_left(history):
    # Would catch 0.2 and 0.8 mixed up.
    weights = [0.2 * 0.8**age for age in range(len(history))]
    weights[-1] = 0.8 ** (len(history) - 1)
    assert smoothing(np.array(history)) == pytest.approx(np.dot(weights, history[::-1]), abs=1e-6)


def errors(series, forecaster, first=60):
    found = [forecaster(series[:at]) for at in range(first, len(series))]
    return float(np.sqrt(np.mean((np.array(found) - series[first:]) ** 2)))


@pytest.mark.parametrize(("kind", "best"), [("values", 1.0), ("surprises", 1.0), ("differences", 1.0)])
def test_arima_foresees_its_own_kind_as_well_as_can_be(kind, best):
    # The noise has deviation 1, so that nobody can be below; the naive forecast is far above.
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


def test_where_nothing_can_be_foreseen_arima_says_the_mean():
    # Would catch a criterion that does not charge for orders: the most would always fit best.
    series = np.random.default_rng(5).normal(size=(30, 150))
    assert np.mean([arima(each) == pytest.approx(each.mean()) for each in series]) > 0.25


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
@settings(max_examples=80, deadline=None)
def test_no_series_breaks_a_forecaster(history):
    series = np.array(history)
    room = np.ptp(series)
    for name in ("naive", "smoothing", "arima"):
        found = FORECASTERS[name](series)
        assert series.min() - room - 1e-6 <= found <= series.max() + room + 1e-6


def test_a_support_vector_machine_foresees_a_wave():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    wave = 5.0 + np.sin(0.5 * np.arange(120))
    assert errors(wave, svm) < 0.5 * errors(wave, FORECASTERS["naive"])


def test_levels_are_what_the_paper_says():
    history = np.array([1.0, 2.0, 3.0, 10.0])
    found = {name: checked_level(name, 90.0)(history, 90.0) for name in ("fixed", "percentile", "median")}
    assert found == {"fixed": 90.0, "percentile": np.percentile(history, 90), "median": 2.5}
    assert checked_level("sigma", 3.0)(history, 3.0) == pytest.approx(4.0 + 3.0 * np.std(history))
    # Moving ranges of 1, 1 and 7.
    assert checked_level("xbar", 0.0)(history, 0.0) == pytest.approx(4.0 + 3.267 * 3.0)


def answers(policy, values):
    return [policy.decide(AdmitView(0.0, np.zeros(1), ready=value)).reject for value in values]


def test_an_alarm_of_spikes_needs_more_than_one():
    # Smoothing reaches ½ after four spikes in a row: 1 - 0.8⁴ = 0.59.
    policy = Alarm("smoothing", level="fixed", value=1.0)
    assert answers(policy, [0.0, 2.0, 2.0, 2.0, 2.0, 0.0]) == [False, False, False, False, True, False]


def test_an_alarm_of_values_holds_forecasts_against_the_level():
    policy = Alarm("naive", level="median", series="values")
    assert answers(policy, [1.0, 3.0, 2.0, 0.0, 1.0]) == [False, True, True, False, True]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("series", ["spikes", "values"])
def test_a_node_on_which_nothing_ever_waits_is_never_down(level, series):
    # Would catch "at least the percentile" where all values are 0, which rejects for ever.
    value = 95.0 if level == "percentile" else 0.0
    policy = Alarm("naive", level=level, value=value, series=series)
    assert not any(answers(policy, [0.0] * 50))


def test_what_is_unknown_leaves_the_answer():
    policy = Alarm("naive", level="fixed", value=1.0)
    assert answers(policy, [0.0, 2.0, np.nan, 0.0]) == [False, True, True, False]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"forecaster": "oracle"}, "forecaster is 'oracle', expected one of naive, smoothing, arima, svm"),
        ({"level": "high"}, "level is 'high', expected one of fixed"),
        ({"level": "percentile", "value": 101.0}, "value is 101.0"),
        ({"series": "both"}, "series is 'both', expected one of spikes, values"),
        ({"window": 1}, "window is 1"),
        ({"downtime": 0.0}, "downtime is 0.0"),
    ],
)
def test_bad_input_is_named(given, said):
    with pytest.raises(InputError, match=said):
        POLICIES.make("alarm", np.random.default_rng(1), **given)


@pytest.mark.parametrize(
    ("name", "given"), [("random", {"downtime": 1.5}), ("utilisation", {"threshold": np.nan})]
)
def test_baselines_refuse_what_is_no_number_of_theirs(name, given):
    with pytest.raises(InputError, match=next(iter(given))):
        POLICIES.make(name, np.random.default_rng(1), **given)
