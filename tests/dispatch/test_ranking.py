"""The number of waiting tasks at which a slow worker takes one: against dynamic programming and in many digits."""

from __future__ import annotations

import math
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_pull import delays

from windlass.dispatch.lib.ranking import least_waiting

positive = st.floats(0.05, 20.0)


@given(saved=positive, together=positive, load=st.one_of(st.floats(0.02, 3.0), st.just(1.0)))
def test_no_other_number_has_a_smaller_delay_by_the_recursion_in_many_digits(saved, together, load):
    found = least_waiting(saved, together, load * together)
    of = list(islice(delays(saved, together, load * together), int(found) + 20))
    assert float(of[int(found) - 1]) == pytest.approx(float(min(of)), rel=1e-9)


@pytest.mark.parametrize("load", [0.1, 0.6, 0.95, 1.0, 1.2, 2.5])
@pytest.mark.parametrize("saved", [0.4, 1.0, 5.0, 20.0])
def test_the_number_is_that_of_dynamic_programming(saved, load):
    """Value iteration over all ways of handing a task over, not only those with a threshold."""
    together, most = 1.0, 120
    delay = [0.0] + [saved] * most
    moved = math.inf
    while moved > 1e-13:
        moved = 0.0
        for waiting in range(1, most):
            later = (1.0 + load * delay[waiting + 1] + together * delay[waiting - 1]) / (load + together)
            moved = max(moved, abs(min(saved, later) - delay[waiting]))
            delay[waiting] = min(saved, later)
    least = next(waiting for waiting in range(1, most) if delay[waiting] >= saved * (1.0 - 1e-9))
    assert least_waiting(saved, together, load * together) == least


def test_without_arrivals_the_number_is_the_tasks_that_faster_workers_end_meanwhile():
    assert least_waiting(2.5, 2.0, 0.0) == 5.0
    assert least_waiting(2.6, 2.0, 0.0) == 6.0


def test_a_worker_as_fast_as_the_others_takes_any_task():
    assert least_waiting(0.0, 2.0, 1.0) == 0.0
    assert least_waiting(-0.5, 2.0, 1.0) == 0.0


def test_the_only_worker_takes_any_task():
    assert least_waiting(1.0, 0.0, 1.0) == 0.0


def test_tasks_that_arrive_at_once_are_taken_by_any_worker():
    assert least_waiting(3.0, 2.0, math.inf) == 0.0


@pytest.mark.parametrize("faster", [1e3, 1e6])
def test_a_far_faster_worker_serves_alone_until_it_has_the_tasks_of_the_difference(faster):
    """With hardly any arrivals for its speed, and powers of r beyond all floating point numbers."""
    assert least_waiting(1.0, faster, 1e-3) == math.ceil(faster - 1e-3)
