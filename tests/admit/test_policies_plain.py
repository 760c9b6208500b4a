"""Policies of one number, the default parameters of all policies, and the current answers."""

from __future__ import annotations

import inspect
import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.admission import PlainThreshold
from windlass.admit import (
    POLICIES,
    Admission,
    AdmissionFleet,
    AdmitView,
    Aggregator,
    AggregatorTree,
    Forewarn,
    Pronto,
)
from windlass.admit.compiled import CurrentAnswers
from windlass.admit.lib.arima import arima
from windlass.admit.lib.forecasts import FORECASTERS
from windlass.admit.lib.ridge import Ridge
from windlass.admit.lib.settings import Settings
from windlass.admit.lib.spike_rules import LEVELS, checked_level
from windlass.admit.lib.spikes import Spikes
from windlass.admit.lib.stream import Stream
from windlass.admit.lib.thresholds import SAVED, Threshold
from windlass.admit.policies.alarm import Alarm
from windlass.admit.policies.random import Random
from windlass.admit.policies.ready import Ready
from windlass.admit.policies.rising import Rising
from windlass.admit.policies.utilisation import Utilisation
from windlass.model import InputError

#: Default parameters of the gate of all policies.
GATE = {"between": False, "spike": None, "share": 0.05}

seeds = st.integers(0, 2**32 - 1)


def defaults(function):
    arguments = inspect.signature(function).parameters
    return {
        name: each.default for name, each in arguments.items() if each.default is not inspect.Parameter.empty
    }


def test_defaults_are_those_of_the_paper_and_the_documentation():
    pronto = {
        "rank": 4, "block": 20, "tracker": "fpca", "forget": 1.0, "energy": None, "lag": 10, "alpha": 3.5,
        "beta": 0.5, "weights": "raw", "spectrum": "decay", "signal": "spikes", "signs": "load", "threshold": 1.0,
        "downtime": None, "memory": 1000.0, "clip": 10.0, **GATE,
    }  # fmt: skip
    assert asdict(Settings()) == pronto
    assert defaults(Pronto) == {**pronto, "weights": None, "signal": None, "rng": None}
    assert asdict(Pronto(9).fleet.settings) == asdict(AdmissionFleet(2, 9).settings) == pronto
    # Spikes are too coarse to keep to a downtime; a given signal is used unchanged.
    scores = {**pronto, "downtime": 0.1, "weights": "equal", "signal": "scores"}
    assert asdict(Pronto(9, downtime=0.1).fleet.settings) == scores
    given = asdict(Pronto(9, downtime=0.1, signal="absolute").fleet.settings)
    assert given == {**pronto, "downtime": 0.1, "signal": "absolute"}
    assert defaults(Forewarn) == {
        "downtime": 0.05, "rank": 4, "block": 20, "forget": 0.99, "within": 10, "spike": None, "share": 0.05,
        "apart": 3, "slow": 5000.0, "memory": 1000.0, "clip": 10.0, "between": False,
    }  # fmt: skip
    assert defaults(Alarm) == {
        "forecaster": "smoothing", "level": "percentile", "value": 95.0, "series": "spikes", "window": 180,
        "downtime": None, **GATE,
    }  # fmt: skip
    assert defaults(Random) == {"downtime": 0.05, **GATE}
    assert defaults(Ready) == {"threshold": 0.05, "downtime": None, **GATE, "nodes": 1}
    assert defaults(Rising) == {"dim": 1, "downtime": 0.05, "rise": 1.0, **GATE, "between": True, "nodes": 1}
    assert defaults(Utilisation) == {"threshold": 0.9, "downtime": None, **GATE, "nodes": 1}
    assert defaults(Spikes) == {"lag": 10, "alpha": 3.5, "beta": 0.5, "signal": "spikes"}
    assert defaults(Stream) == {"memory": 1000.0, "clip": 10.0, "signs": "load"}
    assert defaults(Threshold) == {"value": 0.0, "downtime": None, "gain": 0.1}
    assert defaults(Ridge) == {"strength": 10.0, "forget": 1.0}
    assert (
        defaults(Aggregator)
        == defaults(AggregatorTree)
        == defaults(AggregatorTree.of)
        == {"forget": 1.0, "epsilon": 0.0}
    )
    assert SAVED == 1000.0


def test_pronto_passes_on_all_arguments():
    arguments = {
        "rank": 3, "block": 7, "tracker": "spirit", "forget": 0.8, "energy": (0.4, 0.6), "lag": 6, "alpha": 2.5,
        "beta": 0.25, "weights": "unit", "spectrum": "flat", "signal": "absolute", "signs": "printed",
        "threshold": 0.7, "downtime": 0.2, "memory": 50.0, "clip": 4.0, "between": True, "spike": 0.3, "share": 0.1,
    }  # fmt: skip
    node = Pronto(9, **arguments)
    assert asdict(node.fleet.settings) == arguments
    spikes, stream, threshold = node.fleet.spikes, node.fleet.stream, node.fleet.threshold
    assert (spikes.alpha, spikes.beta, spikes.window.shape, spikes.signal) == (2.5, 0.25, (1, 6, 6), 1)
    assert (stream.memory, stream.clip, stream.blocks.shape, stream.signs) == (
        50.0,
        4.0,
        (1, 7, 9),
        "printed",
    )
    assert (threshold.level.tolist(), threshold.downtime) == ([0.7], 0.2)
    assert node.fleet.gate.threshold.level.tolist() == [0.3]
    one, other = (Pronto(9, tracker="power", rng=np.random.default_rng(seed)) for seed in (1, 2))
    starts = [each.fleet.stream.tracker.trackers[0]._basis for each in (one, other)]
    assert np.abs(starts[0] - starts[1]).max() > 0.1


def test_printed_signs_are_those_of_the_tracker():
    rng = np.random.default_rng(1)
    printed, load = (AdmissionFleet(8, 5, rank=2, block=6, signs=signs) for signs in ("printed", "load"))
    for row in rng.normal(size=(6, 8, 5)):
        printed.observe(row)
        load.observe(row)
    assert (printed.basis == printed.stream.tracker.basis).all()
    sums = load.basis.sum(axis=1)
    assert (sums >= 0.0).all()
    assert load.basis == pytest.approx(printed.basis * np.sign(printed.basis.sum(axis=1))[:, None, :])
    assert (printed.basis.sum(axis=1) < 0.0).any()


def go(policy, values, gauge):
    return [policy.decide(AdmitView(0.0, np.zeros(1), **{gauge: value})) for value in values]


@pytest.mark.parametrize(("name", "gauge"), [("ready", "ready"), ("utilisation", "busy")])
def test_a_gauge_compares_its_number_with_the_threshold(name, gauge):
    other = {"ready": "busy", "busy": "ready"}[gauge]
    policy = POLICIES.make(name, np.random.default_rng(1), threshold=0.5)
    (unknown,) = go(policy, [0.9], other)
    assert not unknown.reject
    assert math.isnan(unknown.score)
    assert unknown.why.endswith("was never measured")
    found = go(policy, [0.5, 0.4, 0.6, math.nan, 0.1], gauge)
    assert [each.reject for each in found] == [True, False, True, True, False]
    assert found[3] == found[2]
    assert [each.score for each in found] == [0.5, 0.4, 0.6, 0.6, 0.1]
    assert [each.why.split(", ")[1] for each in found[:2]] == ["above 0.5", "below 0.5"]


@given(seeds)
@settings(max_examples=5, deadline=None)
def test_a_gauge_keeps_to_its_downtime_and_reports_its_threshold(seed):
    values = np.random.default_rng(seed).random(60)
    plain = PlainThreshold(0.05, 0.2)
    for value, found in zip(values, go(Ready(downtime=0.2), values, "ready"), strict=True):
        level = plain.level
        assert found.reject == plain.above(value)
        assert found.why.endswith(f" {level:.3g}")


@given(
    seeds,
    st.sampled_from([None, 0.2]),
    st.sampled_from(["spikes", "values"]),
    st.sampled_from(sorted(LEVELS)),
)
@settings(max_examples=25, deadline=None)
def test_an_alarm_forecasts_from_its_window(seed, downtime, series, level):
    values = np.random.default_rng(seed).choice([0.0, 0.1, 0.5, 0.5, 1.0], 40)
    value = {"fixed": 0.4, "percentile": 70.0, "sigma": 0.5}.get(level, 0.0)
    policy = Alarm("smoothing", level, value, series, window=7, downtime=downtime)
    threshold = PlainThreshold(0.0, downtime)
    for at, found in enumerate(go(policy, values, "ready")):
        past = values[max(0, at - 6) : at + 1]
        spike = LEVELS[level][0](past, value)
        # A level that all values reach marks no spike.
        marked = spike > past.min()
        shown, line = (past, spike) if series == "values" else ((past >= spike) * 1.0 * marked, 0.5)
        forecast = shown[0]
        for each in shown[1:]:
            forecast = 0.8 * forecast + 0.2 * each
        assert found.score == pytest.approx(forecast)
        if abs(forecast - line) < 1e-9:
            return
        expected = forecast > line and marked if downtime is None else threshold.above(found.score)
        assert found.reject == expected


def test_an_alarm_of_a_fixed_level_rejects_at_the_level():
    found = go(Alarm("naive", "fixed", 0.5, "values"), [0.1, 0.5, 0.4], "ready")
    assert [each.reject for each in found] == [False, True, False]
    assert found[1].why == "naive forecasts 0.5, a spike is 0.5"


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_random_rejects_by_its_generator_s_next_number(seed):
    policy, rng = Random(np.random.default_rng(seed), 0.3), np.random.default_rng(seed)
    for _ in range(20):
        found, drawn = policy.decide(AdmitView(0.0, np.zeros(1))), rng.random()
        assert (found.reject, found.score) == (drawn < 0.3, drawn)


def test_levels_accept_their_range_of_values():
    bounds = {"fixed": np.inf, "percentile": 100.0, "sigma": np.inf, "xbar": np.inf, "median": np.inf}
    assert {name: most for name, (_, _, most) in LEVELS.items()} == bounds
    for name in LEVELS:
        checked_level(name, 0.0)
        with pytest.raises(InputError, match="value"):
            checked_level(name, -0.5)
    # One value has no moving range.
    assert LEVELS["xbar"][0](np.array([2.0]), 0.0) == 2.0


def arima_plainly(history):
    """ARIMA by normal equations: orders by Akaike's criterion, coefficients in two steps."""
    last = history[-1]
    if len(history) < 12 or len(set(history)) == 1:
        return last
    best = None
    for d in (0, 1):
        series = np.diff(history, d)
        middle = np.mean(series) if d == 0 else 0.0
        centred = series - middle
        count = len(centred)
        lags = min(8, count // 4)
        long = np.array([[centred[t - k] for k in range(1, lags + 1)] for t in range(lags, count)])
        fit = np.linalg.pinv(long) @ centred[lags:]
        surprise = np.append(np.zeros(lags), centred[lags:] - long @ fit)
        for p in range(3):
            for q in range(3):
                rows = np.array(
                    [
                        [centred[t - k] for k in range(1, p + 1)] + [surprise[t - k] for k in range(1, q + 1)]
                        for t in range(2, count + 1)
                    ]
                )
                fit = np.linalg.pinv(rows[:-1]) @ centred[2:] if p + q else np.zeros(0)
                left = np.mean((centred[2:] - rows[:-1] @ fit) ** 2)
                criterion = (count - 2) * math.log(left) + 2 * (p + q + 1)
                if best is None or criterion < best[0]:
                    best = criterion, middle + rows[-1] @ fit + (last if d else 0.0)
    low, high = min(history), max(history)
    return min(max(best[1], low - (high - low)), high + (high - low))


@given(seeds, st.integers(10, 40), st.sampled_from(["noise", "walk", "wave", "growth"]))
@settings(max_examples=30, deadline=None)
def test_arima_equals_a_plain_computation(seed, count, kind):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=count)
    series = {
        "noise": noise + 3.0, "walk": np.cumsum(noise), "growth": np.exp(0.3 * np.arange(count) + 0.01 * noise),
        "wave": np.sin(0.7 * np.arange(count)) + 0.1 * noise,
    }[kind]  # fmt: skip
    assert arima(series) == pytest.approx(arima_plainly(series), rel=1e-5, abs=1e-6)


def test_arima_needs_twelve_values_that_are_not_all_equal():
    rising = np.arange(12.0) ** 2
    assert arima(rising[:11]) == 100.0
    assert arima(rising) > 121.0
    assert arima(np.full(30, 4.0)) == 4.0


def test_a_support_vector_machine_uses_five_lags_and_needs_ten_values():
    machines = pytest.importorskip("sklearn.svm", reason="scikit-learn is not installed")
    series = np.random.default_rng(1).normal(size=30) * 3.0 + 7.0
    low, high = series.min(), series.max()
    unit = (series - low) / (high - low)
    rows = np.array([unit[at : at + 5] for at in range(25)])
    expected = machines.SVR().fit(rows, unit[5:]).predict(unit[None, -5:])[0]
    assert FORECASTERS["svm"](series) == pytest.approx(low + (high - low) * expected)
    assert FORECASTERS["svm"](series[:9]) == series[8]
    assert FORECASTERS["svm"](series[:10]) != series[9]
    assert FORECASTERS["svm"](np.full(20, 2.0)) == 2.0


def test_the_current_answer_of_a_node_is_its_own_and_the_clock_is_kept():
    current = CurrentAnswers(3)
    assert [current.accept(node, -5.0) for node in range(3)] == [True] * 3
    current.notify(np.array([False, True, False]))
    for node, now in ((1, 2.0), (0, 3.5), (1, 4.25), (2, 4.5)):
        assert current.accept(node, now) == (node != 1)
        assert current.now == now
    assert (current.accepted, current.rejected) == (5, 2)
    current.notify(np.zeros(3, np.bool_))
    assert current.accept(1, 5.0)
    for node in (-1, 3):
        with pytest.raises(InputError, match="expected 0 to 2"):
            current.accept(node, 5.0)


def test_a_view_accepts_values_in_range_only():
    view = AdmitView(-3.0, np.zeros(1), 1.0, 7.0)
    assert (view.now, view.busy, view.ready) == (-3.0, 1.0, 7.0)
    empty = AdmitView(0.0, np.zeros(1))
    assert np.isnan([empty.busy, empty.ready]).all()
    AdmitView(0.0, np.zeros(1), 0.0, 0.0)
    for given_ in ({"busy": -0.1}, {"busy": 1.1}, {"busy": np.inf}, {"ready": np.inf}, {"ready": -0.1}):
        with pytest.raises(InputError, match=next(iter(given_))):
            AdmitView(0.0, np.zeros(1), **given_)
    assert math.isnan(Admission(True, "why").score)
    Admission(np.bool_(True), "why").check(view)


def test_pronto_reports_its_score_and_threshold():
    node, rng = Pronto(4, rank=1, block=5, lag=2, signal="scores", downtime=0.3), np.random.default_rng(1)
    for row in rng.normal(size=(30, 4)):
        level = node.fleet.threshold.level[0]
        found = node.decide(AdmitView(0.0, row))
        assert found.score == node.fleet.scores[0]
        assert found.why == f"weighted spikes are {found.score:.3g}, the threshold is {level:.3g}"
        assert found.reject == node.fleet.rejects[0]


def test_a_constant_projection_is_at_most_twenty_deviations_away():
    detector, one = Spikes(1, 1, lag=3, beta=0.0), np.ones(1, np.int64)
    found = []
    for value in (2.0, 2.0, 2.0, 2.0, 2.0 + 1e-12, 9.0, -9.0, 2.0):
        detector.step(np.array([[value]]), np.ones((1, 1)), one, one)
        found.append((float(detector.scores[0, 0]), int(detector.spikes[0, 0])))
    # A rounding error is not a spike, and with a beta of 0 no spike enters the filter.
    assert found[3:] == [(0.0, 0), (0.0, 0), (20.0, 1), (-20.0, -1), (pytest.approx(0.0, abs=1e-9), 0)]
    detector.restart()
    assert detector.filled.tolist() == [[0]]
    for bad in ({"alpha": -1.0}, {"beta": -0.1}, {"lag": 1}):
        with pytest.raises(InputError, match=next(iter(bad))):
            Spikes(1, 1, **bad)
