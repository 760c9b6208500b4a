"""The thesis' worked examples, to the digit where it gives digits."""

import functools

import pytest

from windlass.place import map_stage
from windlass_reproductions.tetrium.examples import example_rows


@functools.cache
def rows():
    """Return the rows by their names; computed by the first test and not when tests are collected."""
    return {row.what: row for row in example_rows()}


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("Example 1, Iridium, s", 88.5),
        ("Example 1, centralised, s", 93.0),
        ("Example 1, better approach, s", 59.83),
        ("Example 2, job 1 first, mean response, s", 1.7),
        ("Example 2, job 2 first, mean response, s", 2.65),
    ],
)
def test_rows_equal_the_published_numbers(what, value):
    row = rows()[what]
    assert row.ours == pytest.approx(value, abs=0.005)
    assert row.holds


def test_the_map_program_finds_its_optimum():
    plan = map_stage([20e9, 30e9, 50e9], [40, 10, 20], [5e9, 1e9, 2e9], [5e9, 1e9, 5e9], 1000, 2.0)
    assert plan.stage_s == pytest.approx(15.7142857142857 + 28.5714285714286, rel=1e-12)
