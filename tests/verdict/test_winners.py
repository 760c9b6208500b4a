"""The matrix of winners: each cell has the best and the second of its point."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.report.winners import section, winner_tables
from windlass.results import RECORDED, At, Outcome, Results, VariantResult
from windlass.results.metrics.site import BatchMetrics
from windlass.results.verdict import judge, parse_requirements
from windlass.results.winners import winner_matrices


def variant(name: str, values: dict, waits: list[float]) -> VariantResult:
    at = tuple(At(axis, value) for axis, value in values.items())
    point = ", ".join(each.label for each in at)
    made = [BatchMetrics(1, wait, wait, wait, wait, 1.0, 0.5, 9.0) for wait in waits]
    outcomes = tuple(Outcome(seed, each, pl.DataFrame(), 8) for seed, each in enumerate(made))
    return VariantResult(f"{name}, {point}", (), outcomes, point, at, recorded=name == RECORDED)


def swept(waits: dict[tuple, dict[str, list[float]]], axes: tuple[str, ...]) -> Results:
    """Results from the waits by seed of each policy at each point."""
    return Results(
        "",
        "",
        tuple(
            variant(name, dict(zip(axes, place, strict=True)), seeds)
            for place, policies in waits.items()
            for name, seeds in policies.items()
        ),
    )


def matrices(made: Results, **more):
    return winner_matrices(made, judge(made, **more))


@given(st.lists(st.tuples(*[st.integers(1, 50)] * 3), min_size=4, max_size=4))
def test_each_cell_has_the_best_and_the_second_of_its_point(waits):
    places = [(site, load) for site in (64, 128) for load in (0.5, 0.9)]
    made = swept(
        {
            place: dict(zip("abc", [[float(each)] for each in own], strict=True))
            for place, own in zip(places, waits, strict=True)
        },
        ("cluster.processors", "load"),
    )
    (found,) = matrices(made)
    assert (found.axes, found.rows, found.columns) == (("cluster.processors", "load"), (64, 128), (0.5, 0.9))
    for (site, load), own in zip(places, waits, strict=True):
        cell = found.cells[found.rows.index(site)][found.columns.index(load)]
        least, second, _ = sorted(own)
        assert cell.point == f"processors={site}, load={load}"
        assert (cell.mean, own["abc".index(cell.best)]) == (least, least)
        assert own["abc".index(cell.second)] == second
        assert cell.margin == pytest.approx((second - least) / second)
        assert not cell.significant


def test_a_third_axis_has_a_matrix_per_value():
    places = [(a, b, c) for a in (1, 2, 3) for b in (4, 5, 6) for c in (True, False)]
    made = swept({place: {"a": [1.0], "b": [sum(place) + 1.0]} for place in places}, ("x.n", "y", "z"))
    found = matrices(made)
    assert [each.point for each in found] == ["z=True", "z=False"]
    assert [[(len(each.cells), len(each.cells[0]))] for each in found] == [[(3, 3)]] * 2
    assert found[1].cells[2][0].point == "n=3, y=4, z=False"


def test_values_that_are_equal_but_differ_are_apart():
    made = [
        variant(name, {"x": value}, [wait]) for value in (1, True) for name, wait in (("a", 1.0), ("b", 2.0))
    ]
    (found,) = matrices(Results("", "", tuple(made)))
    assert [repr(value) for value in found.rows] == ["1", "True"]
    assert [row[0].point for row in found.cells] == ["x=1", "x=True"]


def test_significance_recorded_rows_and_requirements():
    noisy = np.array([0.0, 3.0, 1.0])
    made = swept(
        {
            (1,): {"a": [1.0, 2.0, 1.5], "b": [11.0, 12.1, 11.4], RECORDED: [0.0, 0.0, 0.0]},
            (2,): {"a": [5.0, 5.0, 5.0], "b": (4.5 + noisy).tolist(), RECORDED: [0.0, 0.0, 0.0]},
            (3,): {"a": [5.0, 5.0, 5.0], "b": [5.0, 5.0, 5.0]},
            # The second is significantly worse, the third is not.
            (4,): {"a": [1.0, 2.0, 1.5], "b": [11.0, 12.1, 11.4], "c": [1.1, 60.0, 0.9]},
        },
        ("load",),
    )
    (found,) = matrices(made)
    first, second, third, fourth = (row[0] for row in found.cells)
    assert (fourth.best, fourth.second, fourth.significant) == ("a", "b", False)
    assert (first.best, first.second, first.significant) == ("a", "b", True)
    assert (second.best, second.second, second.significant) == ("a", "b", False)
    assert (third.margin, third.significant) == (0.0, False)
    required = parse_requirements("mean_wait<=2s", ["a", "b"])
    (found,) = matrices(made, requirements=required)
    assert [None if row[0] is None else (row[0].best, row[0].second) for row in found.cells] == [
        ("a", None),
        None,
        None,
        ("a", None),
    ]
    assert math.isnan(found.cells[0][0].margin)


def test_without_a_sweep_or_rivals_there_is_no_matrix():
    one = swept({(1,): {"a": [1.0], "b": [2.0]}}, ("load",))
    alone = swept({(1,): {"a": [1.0]}, (2,): {"a": [2.0]}}, ("load",))
    assert matrices(one) == matrices(alone) == winner_matrices(alone, None) == ()
    assert winner_tables(()) == ()
    assert section(()).html == ""


def test_the_tables_show_winner_margin_and_significance():
    from rich.console import Console

    made = swept(
        {
            (64, 0.5): {"a": [1.0, 2.0, 1.5], "<b>": [11.0, 12.1, 11.4]},
            (64, 0.9): {"a": [5.0] * 3, "<b>": [5.0, 5.3, 5.0]},
            (128, 0.5): {"a": [5.0] * 3, "<b>": [5.0] * 3},
        },
        ("cluster.processors", "load"),
    )
    found = matrices(made)
    console = Console(width=100)
    with console.capture() as capture:
        for table in winner_tables(found):
            console.print(table)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    assert lines[0] == "Lowest mean wait, and margin over the second"
    assert lines[1].split() == ["processors", "load=0.5", "load=0.9"]
    assert lines[3].split("  ")[0] == "64"
    assert [each.strip() for each in lines[3].split("  ") if each.strip()] == ["64", "a 87 %", "a 2 % n.s."]
    assert [each.strip() for each in lines[4].split("  ") if each.strip()] == ["128", "a = <b>", "none"]
    html = section(found).html
    assert "<td><b>a 87 %</b></td><td>a 2 % n.s.</td>" in html
    assert "<td>a = &lt;b&gt;</td><td>none</td>" in html


def test_a_policy_that_knows_the_future_is_no_rival():
    made = swept(
        {(load,): {"ahead": [1.0], "a": [2.0], "b": [400.0]} for load in (0.5, 0.9)},
        ("load",),
    )
    bounded = replace(
        made, variants=tuple(replace(each, bound="ahead" in each.name) for each in made.variants)
    )
    (found,) = matrices(bounded)
    assert {(row[0].best, row[0].second) for row in found.cells} == {("a", "b")}


def test_a_margin_below_the_whole_is_not_printed_as_all_of_it():
    made = swept({(load,): {"a": [2.0], "b": [400.0]} for load in (0.5, 0.9)}, ("load",))
    assert "<td>a 99.5 % n.s.</td>" in section(matrices(made)).html
