"""The report's points of cost against wait equal means over seeds, and the front is that of a plain search."""

from __future__ import annotations

import dataclasses
import json
import math
import statistics
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.page import Page, page_of
from windlass.results import COST, LOWER, SOMETIMES, TRADED, Outcome, Results, VariantResult
from windlass.results.verdict.pareto import pareto_front

#: 97.5 % quantile of Student's distribution with two degrees of freedom.
STUDENT = 4.302652729696142


@dataclass(frozen=True)
class Priced:
    mean_job_wait_s: float = field(metadata={**LOWER, **SOMETIMES, **TRADED})
    p99_task_response_s: float = field(metadata={**LOWER, **TRADED})
    other_wait_s: float = field(metadata=LOWER)
    price_usd: float = field(metadata={**LOWER, **SOMETIMES, **COST})


def variant(
    name: str, cost: list[float], wait: list[float], response: float = 2.0, point: str = ""
) -> VariantResult:
    runs = tuple(
        Outcome(seed, Priced(own, response, 1.0, price), pl.DataFrame({"end_s": []}), 8)
        for seed, (price, own) in enumerate(zip(cost, wait, strict=True))
    )
    return VariantResult(name, (), runs, point)


A = variant("a", [10.0, 12.0, 14.0], [7200.0, 7200.0, 10800.0])
B = variant("b", [20.0, 22.0, 27.0], [3600.0, 3700.0, 3650.0])
C = variant("c", [30.0, 30.0, 30.0], [5000.0, 5000.0, 5000.0])


def plots(page: Page) -> dict[str, dict[str, object]]:
    found = json.loads(page.scripts["plots"])
    return {key: plot for key, plot in found.items() if key.startswith("trade-off")}


def shown(page: Page, variants: tuple[VariantResult, ...]) -> dict[str, dict[str, object]]:
    """Points of the first plot by name."""
    data = plots(page)["trade-off-0"]["data"]
    points = [
        each for each in data if each["mode"] == "markers" and each["marker"]["symbol"] != "circle-open"
    ]
    # The first variant is drawn last, on top of the others.
    assert [each["meta"] for each in points] == list(range(len(variants)))[::-1]
    return {each["name"]: each for each in points}


def test_points_are_means_and_bars_are_intervals_of_the_mean(tmp_path: Path) -> None:
    page = page_of(Results("s", "", (A, B, C)), tmp_path)
    assert list(plots(page)) == ["trade-off-0", "trade-off-1"]
    points = shown(page, (A, B, C))
    for each in (A, B, C):
        costs = [run.metrics.price_usd for run in each.outcomes]
        waits = [run.metrics.mean_job_wait_s / 3600 for run in each.outcomes]
        point = points[each.name]
        assert point["x"] == pytest.approx([statistics.mean(costs)])
        assert point["y"] == pytest.approx([statistics.mean(waits)])
        for bar, values in (("error_x", costs), ("error_y", waits)):
            half = STUDENT * statistics.stdev(values) / math.sqrt(3)
            assert point[bar]["array"] == pytest.approx([half])
            assert point[bar]["visible"] == (half > 0)
    layout = plots(page)["trade-off-0"]["layout"]
    assert (layout["xaxis"]["title"]["text"], layout["yaxis"]["title"]["text"]) == (
        "price, USD",
        "mean job wait, h",
    )
    for axis, at in (("xaxis", "x"), ("yaxis", "y")):
        low, high = layout[axis]["range"]
        assert all(low < point[at][0] < high for point in points.values())


def test_the_front_has_rings_a_line_and_names(tmp_path: Path) -> None:
    page = page_of(Results("s", "", (A, B, C)), tmp_path)
    data = plots(page)["trade-off-0"]["data"]
    rings = {
        each["meta"]: each["name"]
        for each in data
        if each["mode"] == "markers" and each["marker"]["symbol"] == "circle-open"
    }
    (line,) = [each for each in data if each["mode"] == "lines"]
    assert rings == {0: "a", 1: "b"}
    assert line["x"] == pytest.approx([12.0, 23.0])
    assert line["line"]["shape"] == "hv"
    assert "Mean job wait On the front: a, b. P99 task response On the front: a." in page.text()
    assert "Means of 3 seeds" in page.text()


def test_an_axis_of_equal_means_has_room_in_proportion_to_them(tmp_path: Path) -> None:
    same = (variant("a", [10.0] * 3, [7200.0] * 3), variant("b", [20.0] * 3, [7200.0] * 3))
    layout = plots(page_of(Results("s", "", same), tmp_path))["trade-off-0"]["layout"]
    assert layout["yaxis"]["range"] == pytest.approx([1.8, 2.2])


def test_each_point_of_a_sweep_has_a_front_of_its_own(tmp_path: Path) -> None:
    other = variant("c, load=2", [99.0], [99_999.0], point="load=2")
    page = page_of(Results("s", "", (variant("a, load=1", [1.0], [1.0], point="load=1"), other)), tmp_path)
    assert "On the front: a, load=1; c, load=2." in page.text()
    assert "confidence intervals" not in page.text()[page.text().index("Cost against wait") :]


@pytest.mark.parametrize(
    "variants",
    [
        (A,),
        (A, variant("none", [math.nan] * 3, [1.0] * 3)),
        (variant("none", [math.nan] * 2, [1.0] * 2), variant("no", [math.nan] * 2, [1.0] * 2)),
    ],
)
def test_without_costs_of_several_variants_there_is_no_section(
    variants: tuple[VariantResult, ...], tmp_path: Path
) -> None:
    assert "Cost against wait" not in page_of(Results("s", "", variants), tmp_path).text()


def test_a_metric_that_does_not_apply_has_no_plot(tmp_path: Path) -> None:
    one, other = (variant(name, [cost], [math.nan]) for name, cost in (("a", 1.0), ("b", 2.0)))
    page = page_of(Results("s", "", (one, other)), tmp_path)
    assert list(plots(page)) == ["trade-off-0"]
    assert plots(page)["trade-off-0"]["layout"]["yaxis"]["title"]["text"] == "p99 task response, s"


VALUES = st.lists(st.tuples(*[st.one_of(st.integers(0, 4).map(float), st.just(math.nan))] * 2), max_size=8)


@given(VALUES)
def test_the_front_is_that_of_a_search_over_all_pairs(values: list[tuple[float, float]]) -> None:
    def beaten(row: tuple[float, float]) -> bool:
        return any(each[0] <= row[0] and each[1] <= row[1] and each != row for each in values)

    expected = {k for k, row in enumerate(values) if not any(map(math.isnan, row)) and not beaten(row)}
    found = pareto_front([first for first, _ in values], [second for _, second in values])
    assert set(found) == expected
    assert len(found) == len(expected)
    assert [values[row][0] for row in found] == sorted(values[row][0] for row in found)


def test_bounds_are_not_on_the_front(tmp_path: Path) -> None:
    made = [variant("a", [5.0], [5.0]), variant("ahead", [1.0], [1.0]), variant("b", [6.0], [4.0])]
    made[1] = dataclasses.replace(made[1], bound=True)
    page = page_of(Results("", "", tuple(made)), tmp_path)
    assert "On the front: a, b." in "".join(page.texts)
