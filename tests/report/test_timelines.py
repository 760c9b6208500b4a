"""Values, axes and panels of timelines and of the curves of a sweep."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.report.made import outcome, results
from windlass.report import sweep, timelines
from windlass.report.job_columns import lanes
from windlass.report.panels import _panel_ticks, _round_step, _short
from windlass.report.series import bin_width
from windlass.results import At, Results, Series, VariantResult

HOUR = 3600.0


def plots(part):
    return {plot.key: plot.figure for plot in part.plots}


@pytest.fixture
def two():
    """Jobs of an hour each on eight processors; variants whose waits differ, from 100 s on and later."""
    submit, run = [100.0, 100.0, 3700.0, 7300.0], [HOUR, 2 * HOUR, HOUR, HOUR]
    a = outcome(submit, [0.0, HOUR, 0.0, 1800.0], run, procs=[2, 4, 1, 4])
    b = outcome(submit, [0.0, 0.0, 0.0, 0.0], run, procs=[2, 4, 1, 4])
    return results(("a", [a]), ("b", [b]))


def sampled(intervals, left, right, step):
    """Mean and peak of a sum of weighted intervals over a bin, sampled at many instants."""
    values = [
        sum(weight for begin, end, weight in intervals if begin <= when < end)
        for when in np.arange(left, right, step)
    ]
    return np.mean(values), max(values)


def test_timelines_are_means_and_peaks_since_the_first_submission(two):
    found = plots(timelines.section(lanes(two)))
    for variant in two.variants:
        table = variant.outcomes[0].jobs
        submit, start, end, procs = (
            table[name].to_numpy() for name in ("submit_s", "start_s", "end_s", "procs")
        )
        span = end.max() - 100.0
        edges = np.append(np.arange(0.0, span, 120.0), span)
        kinds = {
            "utilisation": list(zip(start, end, 100.0 * procs / 8, strict=True)),
            "waiting": list(zip(submit, start, np.ones(4), strict=True)),
            "requested": list(zip(submit, start, procs, strict=True)),
        }
        for key, intervals in kinds.items():
            traces = [trace for trace in found[key].data if trace.name == variant.name]
            assert len(traces) == (1 if key == "utilisation" else 2)
            moved = [(one - 100.0, other - 100.0, weight) for one, other, weight in intervals]
            both = [sampled(moved, *pair, 20.0) for pair in itertools.pairwise(edges)]
            for trace, column in zip(traces, (0, 1), strict=False):
                values = [each[column] for each in both]
                np.testing.assert_allclose(trace.y, [*values, values[-1]], rtol=1e-9)
                np.testing.assert_allclose(trace.x, edges / HOUR)
    assert found["utilisation"].layout.xaxis.ticksuffix == " h"
    assert found["utilisation"].layout.yaxis.range[1] == pytest.approx(104.0)
    assert found["waiting"].layout.yaxis.range[1] == pytest.approx(1.04 * 1.0)


def test_hover_texts_show_the_mean_and_the_peak(two):
    found = plots(timelines.section(lanes(two)))
    assert found["utilisation"].data[0].text[0] == "25 %"
    line, ceiling = found["requested"].data[:2]
    assert line.text[0] == "4 on average, at most 4"
    assert (line.fill, ceiling.fill, found["utilisation"].data[0].fill) == ("none", "tonexty", "tozeroy")
    html = timelines.section(lanes(two)).html
    assert "Each step covers 2 min." in html
    assert "mean over each 2 min" in html


def test_many_waiting_jobs_have_a_logarithmic_axis():
    many = outcome([0.0] * 400, [10.0 * job for job in range(400)], [10.0] * 400)
    part = timelines.section(lanes(results(("a", [many]))))
    found = {plot.key: plot for plot in part.plots}
    assert (found["waiting"].logarithmic, found["utilisation"].logarithmic) == (True, False)
    line, ceiling = found["waiting"].figure.data
    assert max(ceiling.y) == pytest.approx(np.log10(1 + 399))
    assert max(line.y) < max(ceiling.y)
    axis = found["waiting"].figure.layout.yaxis
    assert list(axis.ticktext) == ["0", "10", "100"]
    assert list(axis.tickvals) == pytest.approx([0.0, np.log10(11), np.log10(101)])
    assert "logarithmic in 1 + n" in part.html


@pytest.mark.parametrize(
    ("top", "at", "text"),
    [
        (100.0, [0.0, 50.0, 100.0], ["0 %", "50 %", "100 %"]),
        (1.0, [0.0, 0.5, 1.0], ["0 %", "0.5 %", "1 %"]),
        (70.0, [0.0, 25.0, 50.0], ["0 %", "25 %", "50 %"]),
        (9.0, [0.0, 2.5, 5.0, 7.5], ["0 %", "2.5 %", "5 %", "7.5 %"]),
        (4.0, [0.0, 2.0, 4.0], ["0 %", "2 %", "4 %"]),
        (2500.0, [0.0, 1000.0, 2000.0], ["0 %", "1,000 %", "2,000 %"]),
    ],
)
def test_ticks_are_at_round_values(top, at, text):
    ticks = _panel_ticks(top, " %", False)
    assert (list(ticks.at), list(ticks.text)) == (pytest.approx(at), text)


def test_ticks_over_many_decades_are_thinned():
    assert _panel_ticks(2e3, "", True).text == ("0", "10", "100", "1k")
    assert _panel_ticks(2e6, "", True).text == ("0", "100", "10k", "1M")
    assert _panel_ticks(100.0, "", True).text == ("0", "10", "100")
    assert [_round_step(about) for about in (0.3, 1.0, 2.4, 49.0, 50.0)] == pytest.approx(
        [0.25, 1.0, 2.0, 25.0, 50.0]
    )
    assert [_short(value) for value in (99.94, 3.0, 100.4, 1234.0)] == ["99.9", "3", "100", "1,234"]


@pytest.mark.parametrize(
    ("span", "most", "width"),
    [
        (1.0, 5, 1.0),
        (0.4, 5, 0.08),
        (3601.0, 60, 120.0),
        (400 * 86400.0, 200, 2 * 86400.0),
        (15 * 86400.0, 2, 14 * 86400.0),
        (7 * 86400.0, 1, 7 * 86400.0),
        (16.0, 2, 10.0),
    ],
)
def test_bin_widths_are_round(span, most, width):
    assert bin_width(span, most) == pytest.approx(width)


def series(name, values, percent=False, begin=5.0):
    count = len(values)
    return Series(name, begin + 10.0 * np.arange(count), np.array(values, float), percent)


def test_each_series_of_a_world_has_its_own_figure():
    made = outcome([0.0], [0.0], [10.0])
    both = (
        series("queue length", [1.0, 3.0, 5.0, 5.0]),
        series("busy", [0.1, 0.5, 0.9, 0.9], percent=True),
    )
    part = timelines.section_of_series(lanes(results(("a", [replace(made, series=both)]))))
    queue, busy = part.plots
    assert (queue.key, busy.key) == ("series-0", "series-1")
    assert "<h3>Queue length</h3>" in part.html
    width = bin_width(30.0, 200)
    at = (np.arange(len(queue.figure.data[0].x) - 1) * width // 10).astype(int)
    assert list(queue.figure.data[0].y[:-1]) == pytest.approx([[1.0, 3.0, 5.0][place] for place in at])
    assert busy.figure.data[0].text[0] == "10 %"
    assert busy.figure.layout.yaxis.range[1] == pytest.approx(104.0)
    assert queue.figure.layout.yaxis.range[1] == pytest.approx(5.2)
    assert queue.figure.layout.xaxis.title.text == "time"
    lone = replace(made, series=(series("one", [1.0]),))
    assert timelines.section_of_series(lanes(results(("a", [lone])))).plots == ()


def test_bin_widths_are_usual_clock_intervals():
    minute, day = 60.0, 86400.0
    widths = [
        1.0,
        2.0,
        5.0,
        10.0,
        15.0,
        30.0,
        minute,
        2 * minute,
        5 * minute,
        10 * minute,
        15 * minute,
        30 * minute,
    ]
    widths += [HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, day, 2 * day, 7 * day]
    assert [bin_width(width, 1) for width in widths] == widths
    for width, wider in itertools.pairwise(widths):
        assert bin_width(1.001 * width, 1) == wider


@pytest.mark.parametrize("count", [1, 3])
def test_panels_are_stacked_and_equally_high(count):
    made = outcome([0.0, 0.0], [0.0, 100.0], [HOUR, HOUR])
    part = timelines.section(lanes(results(*((f"v{place}", [made]) for place in range(count)))))
    plot = {each.key: each for each in part.plots}["waiting"]
    inner = 76 * count + 30 * (count - 1)
    assert plot.height == 26 + inner + 46
    axes = [plot.figure.layout[f"yaxis{place or ''}"] for place in (0, *range(2, count + 1))]
    for place, axis in enumerate(axes):
        low, high = axis.domain
        assert high == pytest.approx(1 - place * 106 / inner)
        assert (high - low) * inner == pytest.approx(76)
    assert [each.yref for each in plot.figure.layout.annotations] == [
        f"y{place or ''} domain" for place in (0, *range(2, count + 1))
    ]
    assert [each.text for each in plot.figure.layout.annotations] == [
        f"<b>v{place}</b>" for place in range(count)
    ]
    assert plot.figure.layout.xaxis.anchor == f"y{count if count > 1 else ''}"


def test_curves_of_a_sweep_have_a_panel_for_each_value_of_other_axes():
    made = outcome([0.0, 0.0], [0.0, 100.0], [HOUR, HOUR])
    variants = tuple(
        VariantResult(f"easy, {at[0].label}, {at[1].label}", (), (made,), "point", at)
        for at in (
            (At("cluster.processors", site), At("load", load)) for site in (8, 16, 32) for load in (1, 2)
        )
    )
    swept = Results("", "", variants)
    plot = next(
        each for each in sweep.section(swept, lanes(swept)).plots if each.key == "sweep-1-mean_wait_s"
    )
    inner = 3 * 190 + 2 * 44
    assert plot.height == 56 + inner + 50
    domains = [plot.figure.layout[f"yaxis{place}"].domain for place in ("", 2, 3)]
    for place, (low, high) in enumerate(domains):
        assert high == pytest.approx(1 - place * 234 / inner)
        assert (high - low) * inner == pytest.approx(190)
    assert plot.figure.layout.legend.y == pytest.approx(1 + 24 / plot.height)


def test_a_variant_of_half_a_second_has_its_own_timeline():
    short = outcome([0.0], [0.0], [0.5], procs=[4])
    long = outcome([0.0], [0.0], [400.0], procs=[4])
    found = plots(timelines.section(lanes(results(("short", [short]), ("long", [long])))))
    line, _ = found["utilisation"].data
    assert (line.x[-1] > 0.0, list(line.y)) == (True, [50.0, 50.0])
    assert line.x[-1] < found["utilisation"].data[1].x[-1] / 100


def test_the_utilisation_of_jobs_that_share_processors_is_explained():
    def words(procs: int) -> str:
        made = results(("a", [outcome([0.0, 0.0], [0.0, 0.0], [HOUR, HOUR], procs=[4, procs])]))
        return timelines.section(lanes(made)).html

    alone, shared = words(4), words(5)
    assert "Processors of the running jobs, as a share of all processors. Mean over each" in alone
    assert "It exceeds 100 % while jobs share processors. Mean over each" in shared
