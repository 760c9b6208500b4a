"""The report's areas of cores by load equal plain means of the series, and one variant is shown at a time."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.report.made import random_outcome, results
from tests.report.page import page_of
from windlass.model.calendar import Calendar
from windlass.results import Outcome, Series

SITES, LOADS = ("iowa", "oslo"), ("batch", "web")
#: 1000 samples of 60 s, of which the last one lasts 30 s; a step of a plot covers 5 minutes.
TIME = np.append(60.0 * np.arange(1000), 59_970.0)
STEP = 300.0


def sampled(seed: int) -> Outcome:
    """An outcome with the cores of two loads at two sites; the second site has one load only."""
    rng = np.random.default_rng(seed)
    series = [Series("accuracy", np.array([0.0, 10.0]), np.array([1.0]))]
    for site in SITES:
        for load in LOADS[: 2 if site == "iowa" else 1]:
            series.append(Series(f"{load} at {site}", TIME, rng.integers(0, 50, 1000), False, site, load))
        series.append(Series(f"cores at {site}", TIME, rng.integers(90, 120, 1000), False, site))
    return replace(random_outcome(20, seed), series=tuple(series))


def plain_means(series: Series) -> list[float]:
    """Means over the steps of a plot, from the value at each half minute."""
    of_half = [float(value) for value in series.value for _ in range(2)][: int(TIME[-1] / 30)]
    size = int(STEP / 30)
    steps = [of_half[begin : begin + size] for begin in range(0, len(of_half), size)]
    return [sum(step) / len(step) for step in steps]


def drawn(values: list[float] | dict[str, str]) -> np.ndarray:
    """The values of a trace, which Plotly encodes if they are an array."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return np.array(values)


def test_each_area_is_the_mean_of_its_series_over_each_step(tmp_path: Path) -> None:
    outcomes = {"easy": sampled(1), "fcfs": sampled(2)}
    page = page_of(results(*((name, [each]) for name, each in outcomes.items())), tmp_path)
    plots = json.loads(page.scripts["plots"])
    assert {"cores-0", "cores-1", "series-0"} <= set(plots)
    assert "series-1" not in plots
    for number, site in enumerate(SITES):
        traces = plots[f"cores-{number}"]["data"]
        for position, outcome in enumerate(outcomes.values()):
            own = {each.load or "all cores": each for each in outcome.series if each.site == site}
            found = {trace["name"]: trace for trace in traces if trace["meta"] == position}
            assert set(found) == set(own)
            for load, series in own.items():
                values, expected = drawn(found[load]["y"]), plain_means(series)
                # The last value is repeated, because a step lasts to the next edge.
                np.testing.assert_allclose(values, [*expected, expected[-1]], atol=0.005)
                np.testing.assert_allclose(drawn(found[load]["x"]) * 3600, [*STEP * np.arange(200), 59_970.0])
                assert (found[load].get("stackgroup") is None) == (load == "all cores")


def test_areas_of_one_variant_are_one_stack_and_the_axis_has_room_for_all_variants(tmp_path: Path) -> None:
    outcomes = [sampled(1), sampled(2)]
    page = page_of(results(("easy", outcomes[:1]), ("fcfs", outcomes[1:])), tmp_path)
    for number, site in enumerate(SITES):
        plot = json.loads(page.scripts["plots"])[f"cores-{number}"]
        assert plot["layout"]["meta"] == {"one_variant": True}
        stacks = {(trace["meta"], trace["stackgroup"]) for trace in plot["data"] if "stackgroup" in trace}
        assert len(stacks) == 2
        highest = max(
            max(plain_means(each))
            for outcome in outcomes
            for each in outcome.series
            if each.site == site and not each.load
        )
        assert abs(plot["layout"]["yaxis"]["range"][1] / 1.05 - highest) < 1e-9


def test_loads_have_one_colour_at_all_sites_and_a_name_in_the_legend(tmp_path: Path) -> None:
    page = page_of(results(("easy", [sampled(1)]), ("fcfs", [sampled(2)])), tmp_path)
    plots = json.loads(page.scripts["plots"])
    colours: dict[str, set[str]] = {}
    for key in ("cores-0", "cores-1"):
        for trace in plots[key]["data"]:
            colours.setdefault(trace["name"], set()).add(trace.get("fillcolor") or trace["line"]["color"])
    assert all(len(each) == 1 for each in colours.values())
    assert len(set.union(*colours.values())) == 3
    assert "batch web all cores" in page.text()
    inks = json.loads(page.scripts["inks"])
    assert set.union(*colours.values()) <= set(inks)


@pytest.mark.matrix(0)
def test_the_menu_has_all_variants_and_is_left_out_for_one(tmp_path: Path) -> None:
    two = page_of(results(("easy", [sampled(1)]), ("fcfs", [sampled(2)])), tmp_path)
    options = [attributes["value"] for tag, attributes in two.elements if tag == "option"]
    assert options == ["0", "1"]
    assert "Variant easy fcfs" in two.text()
    one = page_of(results(("easy", [sampled(1)])), tmp_path)
    assert not [tag for tag, _ in one.elements if tag == "select"]
    assert "cores-0" in one.ids()


def test_a_load_with_the_ninth_colour_has_a_pattern(tmp_path: Path) -> None:
    many = tuple(Series(f"{k}", TIME, np.ones(1000), False, "iowa", f"load {k}") for k in range(9))
    page = page_of(results(("easy", [replace(random_outcome(20, 1), series=many)])), tmp_path)
    traces = json.loads(page.scripts["plots"])["cores-0"]["data"]
    assert [trace["fillpattern"]["shape"] for trace in traces] == [""] * 8 + ["/"]
    assert traces[0]["fillcolor"] == traces[8]["fillcolor"]
    assert len({trace["fillcolor"] for trace in traces}) == 8


def test_results_without_sites_have_no_section(tmp_path: Path) -> None:
    page = page_of(results(("easy", [random_outcome(20, 1)])), tmp_path)
    assert "Cores of each site" not in page.text()


@pytest.mark.matrix(0)
def test_the_axes_of_a_log_with_a_calendar_have_dates(tmp_path: Path) -> None:
    dated = replace(sampled(1), calendar=Calendar(1_700_000_123.0, "UTC"))
    plots = json.loads(page_of(results(("easy", [dated])), tmp_path).scripts["plots"])
    for key in ("cores-0", "cores-1"):
        axis = plots[key]["layout"]["xaxis"]
        assert axis["title"]["text"] == "date, UTC"
        assert axis["ticktext"][0] == "15 Nov"
        # The series begins at 22:15:23, and the axis counts hours.
        assert round(axis["tickvals"][0], 3) == round((104 * 60 + 37) / 3600, 3)


def test_the_axis_of_a_schedule_has_dates_that_count_from_its_first_submission(tmp_path: Path) -> None:
    dated = replace(random_outcome(200, 1), calendar=Calendar(1_700_000_123.0, "UTC"))
    plots = json.loads(page_of(results(("easy", [dated])), tmp_path).scripts["plots"])
    axis = plots["schedule"]["layout"]["xaxis"]
    low, high = axis["range"]
    assert "date" in axis["title"]["text"]
    assert all(low <= each <= high for each in axis["tickvals"])
