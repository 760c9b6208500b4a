"""The use of a job between two readings, and the mean use of classes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK
from windlass.share.usage import ClassUse, Interval, Reading


def test_an_interval_of_zero_length_has_no_rates() -> None:
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
def test_an_unmeasured_rate_is_nan(first: tuple[float, int | None], last: tuple[float, int | None]) -> None:
    # Would catch max(0, NaN), which is 0: an unmeasured host would seem to stand still.
    before = Reading(0.0, 0.0, 0.0, stage=first[1], done=first[0])
    after = Reading(10.0, 0.0, 0.0, stage=last[1], done=last[0])
    assert math.isnan(Interval.between(before, after, cores=1).rate)


def test_a_job_with_unknown_stages_has_a_rate() -> None:
    made = Interval.between(Reading(0.0, 0.0, 0.0, done=1.0), Reading(10.0, 0.0, 0.0, done=6.0), cores=1)
    assert made.rate == 0.5


def test_counters_that_decreased_count_as_zero_use() -> None:
    before = Reading(0.0, 9.0, 0.0, stage=0, done=9.0, waited=9.0)
    made = Interval.between(before, Reading(10.0, 1.0, 0.0, stage=0, done=1.0, waited=1.0), cores=2)
    assert (made.cpu, made.rate, made.waited) == (0.0, 0.0, 0.0)


def test_use_is_capped_at_100_percent() -> None:
    made = Interval.between(
        Reading(0.0, 0.0, 0.0, waited=0.0), Reading(10.0, 99.0, 0.0, waited=11.0), cores=2
    )
    assert (made.cpu, made.waited) == (100.0, 100.0)


_MEASURED = st.lists(
    st.tuples(st.sampled_from("ab"), st.floats(0.01, 1e6), st.floats(0, 100) | st.just(math.nan))
)


@CHECK
@given(_MEASURED)
def test_the_use_of_a_class_is_the_time_weighted_mean(measured: list[tuple[str, float, float]]) -> None:
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
