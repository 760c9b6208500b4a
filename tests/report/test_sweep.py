"""Curves over the axes of a sweep: one colour per policy, one point per variant."""

import json

import pytest

from tests.report.made import outcome, random_outcome
from tests.report.page import Page
from windlass.report.html import write_report
from windlass.report.job_columns import lanes
from windlass.report.sweep import section
from windlass.report.units import number
from windlass.results import RECORDED, At, Results, VariantResult

LOADS, SITES = (0.9, 0.5), (64, 128)


def swept(policies=("fcfs", "easy"), loads=LOADS, sites=SITES, runs=(1,)) -> Results:
    made, seed = [], 0
    for policy in policies:
        for site in sites:
            for load in loads:
                at = (At("cluster.processors", site), At("load", load))
                point = ", ".join(each.label for each in at)
                seed += 1
                outcomes = tuple(random_outcome(20, 100 * seed + run) for run in runs)
                recorded = policy == RECORDED
                made.append(VariantResult(f"{policy}, {point}", (), outcomes, point, at, recorded=recorded))
    return Results("a sweep", "", tuple(made))


def curves(results: Results, **more):
    return {plot.key: plot.figure for plot in section(results, lanes(results), **more).plots}


@pytest.mark.matrix(0)
def test_each_axis_has_curves_of_the_requested_metric_and_a_second_one():
    found = curves(swept(), by="mean_bounded_slowdown")
    assert list(found) == [
        "sweep-0-mean_bounded_slowdown",
        "sweep-0-p99_wait_s",
        "sweep-1-mean_bounded_slowdown",
        "sweep-1-p99_wait_s",
    ]
    assert next(iter(curves(swept(), by=None))) == "sweep-0-mean_wait_s"


@pytest.mark.matrix(0)
def test_a_curve_has_the_means_of_its_policy_in_order_of_the_axis():
    results = swept(runs=(1, 2, 3))
    figure = curves(results)["sweep-1-mean_wait_s"]
    assert len(figure.data) == 4
    for line, (policy, site) in zip(
        figure.data, [(policy, site) for site in SITES for policy in ("fcfs", "easy")], strict=True
    ):
        assert (line.name, list(line.x)) == (policy, sorted(LOADS))
        own = [each for each in results.variants if each.own_name == policy and each.at[0].value == site]
        means = {each.at[1].value: each.summaries()[1] for each in own}
        ratios = [value / means[load].mean for load, value in zip(line.x, line.y, strict=True)]
        assert ratios == pytest.approx([ratios[0]] * 2)
        assert [
            bar / means[load].half_width for load, bar in zip(line.x, line.error_y.array, strict=True)
        ] == (pytest.approx([ratios[0]] * 2))


def test_a_point_shows_its_mean_in_the_unit_of_the_axis():
    figure = curves(swept())["sweep-1-mean_wait_s"]
    unit = figure.layout.yaxis.title.text
    for line in figure.data:
        assert list(line.text) == [f"{number(value)} {unit}" for value in line.y]
        assert line.hovertemplate == f"<b>{line.name}</b><br>%{{x}}: %{{text}}<extra></extra>"
        assert line.error_y.visible is False
    assert [line.showlegend for line in figure.data] == [True, True, False, False]
    assert [line.legendgroup for line in figure.data] == ["fcfs", "easy"] * 2
    assert figure.layout.yaxis.rangemode == "tozero"
    assert figure.layout.xaxis2.title.text == "load"
    assert [each.text for each in figure.layout.annotations] == ["processors=64", "processors=128"]


def test_means_of_different_magnitude_have_a_logarithmic_axis():
    made = []
    for policy, waits in (("fcfs", (5000.0, 9000.0)), ("easy", (100.0, 200.0))):
        for load, wait in zip(LOADS, waits, strict=True):
            ends = outcome([0.0, 0.0], [0.0, 2 * wait], [60.0, 60.0])
            made.append(VariantResult(f"{policy}, {load}", (), (ends,), "", (At("load", load),)))
    results = Results("a sweep", "", tuple(made))
    part = section(results, lanes(results), by="mean_wait_s")
    assert part.plots[0].figure.layout.yaxis.type == "log"
    assert "The axis of values is logarithmic." in part.html
    near = Results("a sweep", "", tuple(made[:2]))
    part = section(near, lanes(near), by="mean_wait_s")
    assert part.plots[0].figure.layout.yaxis.type is None
    assert "logarithmic" not in part.html


@pytest.mark.matrix(0)
def test_each_policy_has_the_same_colour_in_all_figures():
    results = swept((*"abc", RECORDED))
    colours = {}
    for figure in curves(results).values():
        for line in figure.data:
            colours.setdefault(line.name, set()).add(line.line.color)
    assert all(len(each) == 1 for each in colours.values())
    assert len(set.union(*colours.values())) == 4
    dashes = {line.name: line.line.dash for line in curves(results)["sweep-1-mean_wait_s"].data}
    assert dashes == {**dict.fromkeys("abc", "solid"), RECORDED: "dash"}
    by_lane = {lane.name.split(",")[0]: lane.stroke.ink.light for lane in lanes(results)}
    assert {name: {colour} for name, colour in by_lane.items()} == colours


@pytest.mark.matrix(0)
def test_an_axis_with_values_that_are_not_numbers_is_categorical():
    figure = curves(swept(loads=("x1.2", 0.8, True)))["sweep-1-mean_wait_s"]
    assert figure.layout.xaxis.type == "category"
    assert list(figure.data[0].x) == ["x1.2", 0.8, "True"]


def test_an_axis_with_one_value_has_no_curves():
    assert section(swept(sites=(8,), loads=(0.5,)), lanes(swept(sites=(8,), loads=(0.5,)))).html == ""
    assert [key.split("-")[1] for key in curves(swept(sites=(8,)))] == ["1", "1"]
    nothing = Results("", "", ())
    assert section(nothing, lanes(nothing)).html == ""


@pytest.mark.matrix(0)
def test_only_six_combinations_on_other_axes_are_shown_and_the_rest_counted():
    results = swept(sites=tuple(range(1, 10)))
    part = section(results, lanes(results))
    assert "Not shown: 3 combinations of values on other axes" in part.html
    assert len({line.yaxis for line in part.plots[2].figure.data}) == 6


def test_the_page_has_the_curves(tmp_path):
    write_report(swept(), tmp_path / "report.html", by="p99_wait_s")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    plots = set(json.loads(page.scripts["plots"]))
    assert {"sweep-0-p99_wait_s", "sweep-1-p99_wait_s"} <= plots <= page.ids()
    assert "<h2>Metrics over swept parameters</h2>" in text
