"""Verdicts do not depend on the unit of a metric, on the order of the variants, or on the direction of a metric."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.made import outcome, results
from tests.verdict.test_plain import served
from windlass.report.sentence import sentences
from windlass.results import Results
from windlass.results.verdict import compare, judge

VALUES = st.lists(st.lists(st.integers(-40, 40).map(float), min_size=4, max_size=4), min_size=2, max_size=4)


def outcome_of(found):
    return [(found.direction(row), found.equals_best(row)) for row in range(len(found.means))]


@given(VALUES, st.sampled_from([0.001, 0.5, 60.0, 1e4]), st.sampled_from([-1, 1]))
def test_another_unit_changes_only_the_numbers(values, unit, better):
    plain, scaled = (
        compare(
            [served(f"p{row}", [factor * one for one in each]) for row, each in enumerate(values)],
            "quality",
            better,
        )
        for factor in (1.0, unit)
    )
    assert plain.best == scaled.best
    assert outcome_of(plain) == outcome_of(scaled)
    assert scaled.means == pytest.approx([unit * mean for mean in plain.means])
    for one, other in zip(plain.evidence, scaled.evidence, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.signs == other.signs


@given(VALUES)
def test_swapped_variants_swap_their_roles(values):
    first = [served(f"p{row}", each) for row, each in enumerate(values[:2])]
    ahead, behind = (judge(Results("", "", tuple(each))) for each in (first, first[::-1]))
    assert ahead.winners() == behind.winners()
    (one,), (other,) = ahead.points, behind.points
    assert one.leading == other.leading
    if not one.equal:
        assert one.names[one.comparison.best] == other.names[other.comparison.best]
        assert sentences(ahead) == sentences(behind)


@given(VALUES)
def test_lower_is_better_of_negated_values_is_higher_is_better(values):
    higher = compare([served(f"p{row}", each) for row, each in enumerate(values)], "quality", 1)
    lower = compare(
        [served(f"p{row}", [-one for one in each]) for row, each in enumerate(values)], "quality", -1
    )
    assert (higher.best, outcome_of(higher)) == (lower.best, outcome_of(lower))


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0.1, 3600.0]), st.sampled_from(["mean_wait_s", "p95_wait_s"])
)
def test_another_unit_of_time_changes_only_the_numbers_of_a_log(seed, unit, metric):
    rng = np.random.default_rng(seed)
    submit, runs = np.arange(500.0), np.full(500, 10.0)
    waits = [rng.exponential(100.0, 500), rng.exponential(120.0, 500)]
    plain, scaled = (
        compare(
            results(
                *(
                    (name, [outcome(factor * submit, factor * each, factor * runs)])
                    for name, each in zip("ab", waits, strict=True)
                )
            ).variants,
            metric,
            -1,
        )
        for factor in (1.0, unit)
    )
    assert (plain.best, outcome_of(plain), plain.jobs) == (scaled.best, outcome_of(scaled), 500)
    row = 1 - plain.best
    assert (plain.against[row] is None) == (scaled.against[row] is None)
    assert replace(plain.evidence[row].signs, p_value=0.0) == replace(scaled.evidence[row].signs, p_value=0.0)
