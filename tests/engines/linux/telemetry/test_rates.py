"""Counters as rates: wraps, counters that begin anew, and clocks that do not go on."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.engines.linux.telemetry.rates import Counters, Summed, grown, rate


@given(bits=st.sampled_from([32, 64]), room=st.integers(0, 2**29), step=st.integers(0, 2**29))
def test_a_counter_that_wraps_went_as_far_as_it_went(bits, room, step):
    whole = 2**bits
    before = whole - 1 - room
    assert grown(before, (before + step) % whole) == step


@given(before=st.integers(1, 2**31), after=st.integers(0, 2**31))
def test_a_small_counter_that_falls_has_begun_anew(before, after):
    expected = after - before if after >= before else None
    assert grown(before, after) == expected


@given(before=st.integers(2**32, 2**62), after=st.integers(0, 2**31))
def test_a_wide_counter_that_falls_did_not_wrap_at_32_bits(before, after):
    assert grown(before, after) is None


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan])
def test_over_no_time_nothing_has_a_rate(seconds):
    assert math.isnan(rate(1, 5, seconds))
    summed = Summed(1)
    summed.rates({"a": (1,)}, 1.0)
    assert math.isnan(summed.rates({"a": (5,)}, seconds)[0])


def test_after_a_step_without_time_rates_go_on_from_it():
    counters = Counters()
    counters.rates([10], 1.0)
    counters.rates([20], 0.0)
    assert counters.rates([26], 2.0) == [3.0]


def test_a_device_that_comes_back_smaller_adds_nothing_and_the_others_do():
    summed = Summed(1)
    summed.rates({"a": (1000,), "b": (10,)}, 1.0)
    assert summed.rates({"a": (3,), "b": (14,)}, 2.0) == [2.0]
    assert summed.rates({"a": (5,)}, 1.0) == [2.0]


def test_a_step_of_which_nothing_is_known_leaves_none_to_the_next():
    summed = Summed(1)
    summed.rates({"a": (1,)}, 1.0)
    assert math.isnan(summed.rates(None, 1.0)[0])
    assert math.isnan(summed.rates({"a": (9,)}, 1.0)[0])
    assert summed.rates({"a": (10,)}, 1.0) == [1.0]
