"""What a job did between two readings, and what classes use."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK
from windlass.share.usage import ClassUse, Interval, Reading


def test_nothing_is_known_of_an_interval_without_length() -> None:
    made = Interval.between(Reading(5.0, 1.0, 0.0), Reading(5.0, 9.0, 0.0), cores=1)
    assert made.seconds == 0.0
    assert all(map(math.isnan, (made.cpu, made.rate, made.waited)))


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ((math.nan, 0), (5.0, 0)),
        ((5.0, 0), (math.nan, 0)),
        ((0.0, 0), (5.0, 1)),
        ((math.nan, None), (math.nan, None)),
    ],
)
def test_a_rate_that_nobody_measured_is_not_0(
    first: tuple[float, int | None], last: tuple[float, int | None]
) -> None:
    # Would catch max(0, NaN), which is 0: a host of which nothing is known would seem to stand still.
    before = Reading(0.0, 0.0, 0.0, stage=first[1], done=first[0])
    after = Reading(10.0, 0.0, 0.0, stage=last[1], done=last[0])
    assert math.isnan(Interval.between(before, after, cores=1).rate)


def test_a_job_whose_stages_nobody_knows_has_a_rate_all_the_same() -> None:
    made = Interval.between(Reading(0.0, 0.0, 0.0, done=1.0), Reading(10.0, 0.0, 0.0, done=6.0), cores=1)
    assert made.rate == 0.5


def test_counters_that_went_back_are_taken_for_none() -> None:
    before = Reading(0.0, 9.0, 0.0, stage=0, done=9.0, waited=9.0)
    made = Interval.between(before, Reading(10.0, 1.0, 0.0, stage=0, done=1.0, waited=1.0), cores=2)
    assert (made.cpu, made.rate, made.waited) == (0.0, 0.0, 0.0)


def test_no_more_than_all_of_the_time_is_used() -> None:
    made = Interval.between(
        Reading(0.0, 0.0, 0.0, waited=0.0), Reading(10.0, 99.0, 0.0, waited=11.0), cores=2
    )
    assert (made.cpu, made.waited) == (100.0, 100.0)


_MEASURED = st.lists(
    st.tuples(st.sampled_from("ab"), st.floats(0.01, 1e6), st.floats(0, 100) | st.just(math.nan))
)


@CHECK
@given(_MEASURED)
def test_a_class_uses_the_mean_over_time(measured: list[tuple[str, float, float]]) -> None:
    use = ClassUse()
    for job_class, seconds, cpu in measured:
        use.take(job_class, seconds, cpu)
    for job_class in "ab":
        known = [(time, cpu) for name, time, cpu in measured if name == job_class and not math.isnan(cpu)]
        if known:
            mean = sum(time * cpu for time, cpu in known) / sum(time for time, _ in known)
            assert use.cpu(job_class) == pytest.approx(mean)
            assert use.cpu(job_class) <= 100.0
        else:
            assert math.isnan(use.cpu(job_class))
