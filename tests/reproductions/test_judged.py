"""Criteria of rows: a part holds if every point of its interval does, and a claim depends on its parts."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windlass_reproductions.criteria import (
    SOMEWHERE,
    Judged,
    Within,
    at_least,
    at_most,
    exactly,
    over,
    printed,
)
from windlass_reproductions.verdicts import UNDECIDED, Interval, interval

# Sums and means of eighths are exact.
EIGHTHS = st.integers(-40, 40).map(lambda n: n / 8)
LIMITS = st.tuples(EIGHTHS, st.integers(1, 40).map(lambda n: n / 8)).map(lambda at: (at[0], at[0] + at[1]))
PARTS = st.builds(
    lambda mean, half, limits, sides, strict: Within(
        Interval(mean, half),
        low=limits[0] if sides != "high" else -math.inf,
        high=limits[1] if sides != "low" else math.inf,
        strict=strict,
    ),
    EIGHTHS,
    st.integers(0, 20).map(lambda n: n / 8),
    LIMITS,
    st.sampled_from(["low", "high", "both"]),
    st.booleans(),
)


@given(PARTS)
def test_a_part_holds_if_every_point_of_its_interval_does(part):
    points = np.linspace(part.found.low, part.found.high, 16 * 40 + 1)
    before = np.less if part.strict else np.less_equal
    within = before(part.low, points) & before(points, part.high)
    assert part.holds is (True if within.all() else None if within.any() else False)


@given(PARTS)
def test_inverting_an_exact_part_inverts_its_verdict(part):
    known = Within(Interval(part.found.mean, 0.0), part.low, part.high, part.strict)
    if known.found.mean not in (known.low, known.high):
        assert known.inverted().holds is (not known.holds)
        assert known.inverted().found.half == known.found.half


@given(st.lists(PARTS, min_size=1, max_size=4))
def test_a_claim_holds_with_all_parts_and_fails_with_one_or_if_unanimous_with_all(parts):
    verdicts = [part.holds for part in parts]
    each, all_of_them = Judged(tuple(parts), "").holds, Judged(tuple(parts), "", unanimous=True).holds
    assert (each is True) == (all_of_them is True) == (set(verdicts) == {True})
    assert (each is False) == (False in verdicts)
    assert (all_of_them is False) == (set(verdicts) == {False})


def test_the_reason_for_no_verdict_is_given():
    yes, no, open_one = (Within(Interval(mean, 0.5), low=0.0) for mean in (1.0, -1.0, 0.0))
    for unanimous, mixed in ((False, ""), (True, SOMEWHERE)):
        assert Judged((yes, no), "", unanimous).undecided == mixed
        assert Judged((yes, open_one), "", unanimous).undecided == UNDECIDED
        assert Judged((yes, yes), "", unanimous).undecided == Judged((), "", unanimous).undecided == ""


def test_no_parts_and_a_single_seed_leave_a_claim_undecided():
    assert Judged((), "").holds is Judged((), "", unanimous=True).holds is None
    assert Judged((Within(over([5.0]), low=0.0),), "").holds is None
    assert Judged((Within(over([math.nan, math.nan]), low=0.0),), "").holds is None


def test_seeds_without_a_value_are_left_out():
    assert over([1.0, math.nan, 2.0]) == interval(np.array([1.0, 2.0]))


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_printed_number_is_matched_if_ours_rounds_to_it(ours, theirs):
    # Ours is in tenths of the last printed digit, shifted so that no value lies halfway between two digits.
    value, digit = (10 * ours + 1) / 100, 0.1
    assert printed(exactly(value), theirs / 10, digit).holds is (round(value, 1) == theirs / 10)
    assert at_least(exactly(value), theirs / 10, digit).holds is (round(value, 1) >= theirs / 10)
    assert at_most(exactly(value), theirs / 10, digit).holds is (round(value, 1) <= theirs / 10)
