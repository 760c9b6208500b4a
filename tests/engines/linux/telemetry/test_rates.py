"""Counters as rates: wraps, resets, and clocks that do not advance."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.engines.linux.telemetry.rates import Counters, Summed, grown, rate


@given(bits=st.sampled_from([32, 64]), room=st.integers(0, 2**29), step=st.integers(0, 2**29))
def test_a_wrapped_counter_has_its_true_step(bits, room, step):
    whole = 2**bits
    before = whole - 1 - room
    assert grown(before, (before + step) % whole) == step


@given(before=st.integers(1, 2**31), after=st.integers(0, 2**31))
def test_a_small_counter_that_falls_was_reset(before, after):
    expected = after - before if after >= before else None
    assert grown(before, after) == expected


@given(before=st.integers(2**32, 2**62), after=st.integers(0, 2**31))
def test_a_wide_counter_that_falls_did_not_wrap_at_32_bits(before, after):
    assert grown(before, after) is None


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan])
def test_rates_over_no_time_are_nan(seconds):
    assert math.isnan(rate(1, 5, seconds))
    summed = Summed(1)
    summed.rates({"a": (1,)}, 1.0)
    assert math.isnan(summed.rates({"a": (5,)}, seconds)[0])


def test_rates_continue_after_a_step_without_time():
    counters = Counters()
    counters.rates([10], 1.0)
    counters.rates([20], 0.0)
    assert counters.rates([26], 2.0) == [3.0]


def test_a_reset_device_adds_nothing_and_the_others_do():
    summed = Summed(1)
    summed.rates({"a": (1000,), "b": (10,)}, 1.0)
    assert summed.rates({"a": (3,), "b": (14,)}, 2.0) == [2.0]
    assert summed.rates({"a": (5,)}, 1.0) == [2.0]


def test_after_an_unknown_step_the_next_has_no_rate():
    summed = Summed(1)
    summed.rates({"a": (1,)}, 1.0)
    assert math.isnan(summed.rates(None, 1.0)[0])
    assert math.isnan(summed.rates({"a": (9,)}, 1.0)[0])
    assert summed.rates({"a": (10,)}, 1.0) == [1.0]
