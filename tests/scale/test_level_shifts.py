"""Linear forecasters after a shift of the level: the pattern remains, and the error stays that of ordinary rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.scale.forecast import make
from windlass.scale.forecast.level_shifts import LevelShifts
from windlass.scale.forecast.rows import Tail

DAY = 24
LINEAR = ("nlinear", "dlinear")


def daily(rows, seed=1):
    """A daily cycle between 10 and 50 with noise, in two columns of different size."""
    at = np.arange(rows)
    one = 30 + 20 * np.sin(2 * np.pi * at / DAY)
    return np.stack((one, 10 * one), axis=1) + np.random.default_rng(seed).normal(0, 2, (rows, 2))


def mean_errors(name, rows, split):
    """Mean absolute error of the first column, one to six rows ahead, from each row after ``split``."""
    options = {} if name == "naive" else {"window": 48}
    made = make(name, **options).fit(rows[:split])
    found = []
    for at in range(split, len(rows) - 6):
        made.update(rows[at])
        found.append(np.abs(made.forecast(6)[:, 0] - rows[at + 1 : at + 7, 0]).mean())
    return np.mean(found)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("at", [500, 700, 770, 799, 800, 803])
@pytest.mark.parametrize("change", [60.0, 1000.0])
def test_a_shift_of_the_level_costs_no_accuracy(name, at, change):
    """A shift in the training rows, at their end, or shortly after; the forecasts begin with the row after it."""
    split, rows = 800, daily(900)
    shifted = rows.copy()
    shifted[at:, 0] += change
    after = max(at, split)
    plain, ours, last = (
        mean_errors(name, np.concatenate((each[:split], each[split:after], each[after:])), split)
        for name, each in ((name, rows), (name, shifted), ("naive", shifted))
    )
    if at <= split:
        assert ours == pytest.approx(plain, rel=0.1)
    assert ours < last


@pytest.mark.parametrize("name", LINEAR)
def test_an_outlier_is_forgotten(name):
    """Its two steps cancel up to the errors of two forecasts; uncorrected, the error is several times as large."""
    split, rows = 800, daily(900)
    spiked = rows.copy()
    spiked[790, 0] += 1000
    assert mean_errors(name, spiked, split) == pytest.approx(mean_errors(name, rows, split), rel=0.2)


@pytest.mark.parametrize("name", LINEAR)
def test_a_shift_in_one_column_leaves_the_other(name):
    rows = daily(400)
    one, other = (make(name, window=48).fit(rows[:300]) for _ in range(2))
    shifted = rows.copy()
    shifted[320:, 0] += 1000
    one.update(rows[300:])
    other.update(shifted[300:])
    assert np.array_equal(one.forecast(3)[:, 1], other.forecast(3)[:, 1])
    np.testing.assert_allclose(one.forecast(3)[:, 0] + 1000, other.forecast(3)[:, 0], rtol=1e-9)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("last", [0.0, 1.0, 80.0])
def test_an_outage_in_the_last_row_leaves_the_other_column(name, last):
    """The levelled rows of the first column are then near 0, which must not give it all the weight."""
    rows = daily(900)[:, ::-1].copy()
    rows[:, 0] = 100.0 - np.random.default_rng(2).exponential(5.0, 900)
    failed = rows.copy()
    failed[799, 0] = last
    errors = []
    for each in (rows, failed):
        made = make(name, window=48).fit(each[:800])
        found = []
        for at in range(800, 890):
            made.update(rows[at])
            found.append(np.abs(made.forecast(3)[:, 1] - rows[at + 1 : at + 4, 1]).mean())
        errors.append(np.mean(found))
    assert errors[1] == pytest.approx(errors[0], rel=0.1)


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(0, 99), st.sampled_from(LINEAR))
def test_rows_may_come_in_any_pieces(pieces, seed, name):
    """The same forecast, however the rows with two shifts are divided among updates and the rows to learn from."""
    rows = daily(300 + sum(pieces), seed)
    rows[300 + sum(pieces) // 2 :, 0] += 900.0
    rows[300 + sum(pieces) // 3 :, 1] += 4000.0
    at_once, in_pieces = (make(name, window=24).fit(rows[:300]) for _ in range(2))
    at_once.update(rows[300:])
    begin = 300
    for count in pieces:
        in_pieces.update(rows[begin : begin + count])
        begin += count
    assert np.array_equal(at_once.forecast(4), in_pieces.forecast(4))


def test_recurring_large_steps_are_no_shifts():
    """Five steps of a size are ordinary; four among smaller ones are shifts."""
    for batches, shifts in ((4, 4), (5, 0)):
        rows = np.zeros(400)
        rows[np.arange(400) % 2 == 0] = 1.0
        for at in range(batches):
            rows[50 * (at + 1) :] += 100.0
        found = LevelShifts.of(rows[:, None])
        assert np.count_nonzero(found.among(rows[:, None])) == shifts
        assert np.ptp(found.levelled(rows[:, None])) == pytest.approx(5.0 if shifts else rows.max())


def test_a_step_of_three_times_the_fifth_largest_is_no_shift():
    steps = np.array([1.0, -1.0] * 10 + [5.0, 5.0, 2.0, -2.0, 2.0, 6.0])
    rows = np.concatenate(([10.0], 10.0 + np.cumsum(steps)))[:, None]
    assert LevelShifts.of(rows).limit == [6.0]
    assert not LevelShifts.of(rows).among(rows).any()
    rows[-1] += 0.5
    assert LevelShifts.of(rows).among(rows)[-1] == [6.5]


def test_few_rows_have_no_shift():
    rows = np.array([[0.0], [1.0]] * 10 + [[50.0]])
    assert np.array_equal(LevelShifts.of(rows[1:]).levelled(rows[1:]), rows[1:])
    assert LevelShifts.of(rows).levelled(rows)[0] == 49.0


def test_a_tail_that_is_shifted_keeps_the_rows_that_follow():
    tail = Tail(np.array([[1.0], [2.0]]), most=2)
    for value in range(3, 90):
        tail.shift(np.array([1.0]))
        tail.add(np.array([[float(value)]]))
        assert tail.last(2).ravel().tolist() == [value, value]
