"""Happiness and slowdowns, and their edge cases."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.share.cases import host
from windlass.model import InputError
from windlass.share.lib.state import MEASURES, happiness, loss_of, slowdown


@given(st.floats(1, 1e6), st.floats(0, 1), st.floats(1, 1e4), st.floats(1e-3, 1e3))
def test_a_job_is_happy_when_it_will_make_its_walltime(walltime, part, left, rate):
    # Would catch the printed product in the place of the ratio, which has no threshold at 1.
    one = host(walltime=walltime, elapsed=part * walltime, tasks_left=left, rate=rate)
    makes_it = one.elapsed + left / rate
    if abs(makes_it - walltime) > 1e-6 * walltime:
        assert (happiness(one) >= 1.0) == (makes_it <= walltime)


def test_edge_cases_of_happiness():
    assert happiness(host(tasks_left=0.0, rate=0.0)) == math.inf
    assert happiness(host(rate=0.0)) == 0.0
    assert math.isnan(happiness(host(rate=math.nan)))
    # Would catch the absolute value of the time left: a job an hour late is not as happy as one an hour early.
    assert happiness(host(walltime=3600.0, elapsed=7200.0)) == 0.0


def test_each_measure_computes_its_slowdown():
    one = host(walltime=1000.0, elapsed=600.0, tasks_left=60.0, rate=0.1, rate_alone=0.15, waited=50.0)
    assert slowdown(one, "walltime") == pytest.approx(0.2)
    assert slowdown(one, "walltime", ended=True) == 0.0
    assert slowdown(one, "progress") == pytest.approx(0.5)
    assert slowdown(one, "wait") == pytest.approx(1.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_job_killed_at_its_walltime_is_a_full_loss(measure):
    # Would catch runtime / walltime - 1, which is 0 for a job that was killed on the dot.
    one = host(elapsed=3600.0, walltime=3600.0)
    assert loss_of(slowdown(one, measure, ended=True, killed=True), full=0.5) == 1.0


def test_the_loss_of_an_unmeasured_job_is_nan():
    blind = host(rate=math.nan, rate_alone=math.nan, tasks_left=math.nan)
    for measure in MEASURES:
        assert math.isnan(loss_of(slowdown(blind, measure), 0.5))


def test_a_job_with_a_zero_rate_has_an_infinite_slowdown():
    still = host(rate=0.0, waited=100.0)
    assert [slowdown(still, measure) for measure in MEASURES] == [math.inf] * 3
    assert slowdown(host(rate=0.0, rate_alone=0.0), "progress") == 0.0


def test_an_unknown_measure_is_named_in_the_error():
    with pytest.raises(InputError, match="measure is 'mood', expected one of walltime, progress, wait"):
        slowdown(host(), "mood")
