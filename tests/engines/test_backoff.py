"""Delays between retries: doubled, limited, and drawn from the upper half where there is a generator."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windlass.engines.backoff import NO_FAILURES, Backoff, RetryState

SECONDS = st.floats(1e-3, 1e6)
FAILURES = st.integers(1, 10_000)


@given(SECONDS, SECONDS, FAILURES)
def test_a_delay_equals_a_plain_loop(first, most, failures):
    delay = first
    for _ in range(min(failures - 1, 60)):
        delay *= 2.0
    assert Backoff(first, most).delay(failures) == min(delay, most)


@given(SECONDS, FAILURES)
def test_without_a_limit_delays_grow_and_stay_finite(first, failures):
    backoff = Backoff(first)
    assert math.isfinite(backoff.delay(failures))
    assert backoff.delay(failures) <= backoff.delay(failures + 1)


@given(SECONDS, SECONDS, FAILURES, st.integers(0, 2**32))
def test_drawn_delays_are_in_the_upper_half(first, most, failures, seed):
    whole = Backoff(first, most).delay(failures)
    assert 0.5 * whole <= Backoff(first, most, np.random.default_rng(seed)).delay(failures) <= whole


def test_clients_that_failed_together_retry_at_different_times():
    delays = {Backoff(1.0, 300.0, np.random.default_rng(seed)).delay(5) for seed in range(1000)}
    assert len(delays) == 1000
    assert max(delays) - min(delays) > 7.9


def test_delays_of_the_same_generator_are_the_same():
    first, second = (Backoff(1.0, 300.0, np.random.default_rng(7)) for _ in range(2))
    assert [first.delay(each) for each in range(1, 9)] == [second.delay(each) for each in range(1, 9)]


@given(SECONDS, SECONDS, FAILURES)
def test_delays_do_not_depend_on_earlier_calls(first, most, failures):
    backoff = Backoff(first, most)
    assert backoff.delay(failures) == backoff.delay(failures)


@given(st.lists(st.floats(0.0, 1e3), min_size=1, max_size=12), st.integers(0, 6))
def test_attempts_are_at_once_up_to_a_number_of_failures_and_then_delayed(gaps, at_once):
    backoff, record, now = Backoff(5.0, 60.0), NO_FAILURES, 1000.0
    for count, gap in enumerate(gaps, 1):
        now += gap
        record = record.failed(now, backoff, at_once)
        due = now + backoff.delay(count - at_once) if count > at_once else -math.inf
        assert record == RetryState(count, due)
