"""Calibrated intervals contain the stated share of waits, also when the site changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.experiment.start_times.calibration import FEWEST, Calibration, ReplayedWait, WaitForecast


def of(low, median, high, procs=1, request=3600.0):
    return ReplayedWait(WaitForecast(low, median, high), procs, request)


def coverage(level, waits, spread=0.0):
    """Return which waits were in their interval, when each is scored before the next prediction."""
    calibration, inside = Calibration(level), []
    for wait in waits:
        replayed = of(max(1000 - spread, 0.0), 1000.0, 1000.0 + spread)
        (given_,) = calibration.corrected([replayed])
        if calibration.ready(replayed.forecast):
            inside.append(given_.contains(wait))
            calibration.miss(not inside[-1])
        calibration.score(replayed, wait)
    return np.array(inside)


@pytest.mark.matrix(0)
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("spread", [0.0, 500.0])
def test_the_coverage_is_the_stated_one(level, spread):
    waits = np.random.default_rng(1).lognormal(7, 1, 4000)
    assert coverage(level, waits, spread).mean() == pytest.approx(level, abs=0.02)


@pytest.mark.matrix(0)
def test_the_coverage_returns_after_a_change():
    rng = np.random.default_rng(2)
    waits = np.concatenate([rng.lognormal(7, 0.3, 2000), rng.lognormal(9, 1.5, 2000)])
    inside = coverage(0.9, waits)
    assert inside[2500:].mean() == pytest.approx(0.9, abs=0.02)


def test_similar_predictions_are_corrected_by_their_own_errors():
    calibration = Calibration(0.9)
    rng = np.random.default_rng(3)
    for wait in rng.uniform(0.9, 1.1, 400):
        calibration.score(of(100.0, 100.0, 100.0), 100 * wait)
    for wait in rng.uniform(4, 6, 400):
        calibration.score(of(90_000.0, 90_000.0, 90_000.0), 90_000 * wait)
    short, long = calibration.corrected([of(100.0, 100.0, 100.0), of(90_000.0, 90_000.0, 90_000.0)])
    assert 88 < short.low < short.median < short.high < 112
    assert 350_000 < long.low < long.median < long.high < 550_000
    # Wide jobs had other errors than narrow ones.
    for wait in rng.uniform(1.9, 2.1, 400):
        calibration.score(of(100.0, 100.0, 100.0, procs=512), 100 * wait)
    (wide,) = calibration.corrected([of(100.0, 100.0, 100.0, procs=512)])
    assert 180 < wide.low < wide.high < 220


def test_an_immediate_start_is_certain_until_such_starts_were_wrong():
    calibration = Calibration(0.9)
    for _ in range(FEWEST):
        calibration.score(of(0.0, 0.0, 0.0), 0.0)
    assert calibration.corrected([of(0.0, 0.0, 0.0)])[0].immediate
    for _ in range(FEWEST):
        calibration.score(of(0.0, 0.0, 0.0), 600.0)
    assert calibration.corrected([of(0.0, 0.0, 0.0)])[0].high == pytest.approx(600)


def test_too_few_predictions_correct_nothing():
    calibration = Calibration(0.9)
    for _ in range(FEWEST - 1):
        calibration.score(of(10.0, 20.0, 30.0), 500.0)
    assert not calibration.ready(WaitForecast(10.0, 20.0, 30.0))
    assert calibration.corrected([of(10.0, 20.0, 30.0)]) == [WaitForecast(10.0, 20.0, 30.0)]


@given(
    st.lists(st.tuples(st.floats(0, 1e7), st.floats(0, 1e7)), min_size=FEWEST, max_size=60),
    st.lists(st.floats(0, 1e7), min_size=1, max_size=90),
)
def test_an_interval_is_in_order_and_not_negative(scored, highs):
    calibration = Calibration(0.9)
    for high, wait in scored:
        calibration.score(of(high / 4, high / 2, high), wait)
    for found in calibration.corrected([of(high / 4, high / 2, high) for high in highs]):
        assert 0 <= found.low <= found.median <= found.high < np.inf


def test_predictions_of_immediate_starts_and_of_waits_are_counted_apart():
    calibration, immediate, waits = Calibration(), of(0.0, 0.0, 0.0), of(0.0, 10.0, 30.0)
    for number in range(3):
        calibration.score(waits, 20.0)
        if number:
            calibration.score(immediate, 0.0)
    assert calibration.scored(of(5.0, 6.0, 7.0).forecast) == 3
    assert calibration.scored(immediate.forecast) == 2


def test_a_forecast_is_corrected_once():
    calibration = Calibration(0.9)
    for _ in range(FEWEST):
        # Jobs that were expected to wait started at once, and the others waited.
        calibration.score(of(10.0, 20.0, 30.0), 0.0)
        calibration.score(of(0.0, 0.0, 0.0), 600.0)
    assert calibration.corrected([of(10.0, 20.0, 30.0)]) == [WaitForecast(0.0, 0.0, 0.0)]
