"""Numbers on the page equal those worked out from the results by hand."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tests.report.made import outcome, results
from windlass.metrics.site import bounded_slowdown
from windlass.report import breakdowns, courses, distributions, overview, sweep
from windlass.report.columns import Cell, Column
from windlass.report.figures import DECADE_TICKS, TIME_TICKS, cumulative
from windlass.report.observed import has, lanes, times
from windlass.report.palette import GRID, INKS, PAPER, QUIET, RAISED, TEXT, stroke, stroke_in
from windlass.report.panels import _panel_ticks, _round_step, _short
from windlass.report.series import Distribution, bin_width
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
    """Mean and peak of a sum of weighted intervals over a bin, by looking at many instants."""
    values = [
        sum(weight for begin, end, weight in intervals if begin <= when < end)
        for when in np.arange(left, right, step)
    ]
    return np.mean(values), max(values)


def test_courses_are_means_and_peaks_since_the_first_submit(two):
    found = plots(courses.section(lanes(two)))
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
            "asked": list(zip(submit, start, procs, strict=True)),
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


def test_texts_say_the_mean_and_the_peak(two):
    found = plots(courses.section(lanes(two)))
    assert found["utilisation"].data[0].text[0] == "25 %"
    line, ceiling = found["asked"].data[:2]
    assert line.text[0] == "4 on average, at most 4"
    assert (line.fill, ceiling.fill, found["utilisation"].data[0].fill) == ("none", "tonexty", "tozeroy")
    html = courses.section(lanes(two)).html
    assert "Each step covers 2 min." in html
    assert "mean over each 2 min" in html


def test_a_crowd_has_a_logarithmic_axis():
    many = outcome([0.0] * 400, [10.0 * job for job in range(400)], [10.0] * 400)
    part = courses.section(lanes(results(("a", [many]))))
    found = {plot.key: plot for plot in part.plots}
    assert (found["waiting"].logarithmic, found["utilisation"].logarithmic) == (True, False)
    line, ceiling = found["waiting"].figure.data
    assert max(ceiling.y) == pytest.approx(np.log10(1 + 399))
    assert max(line.y) < max(ceiling.y)
    axis = found["waiting"].figure.layout.yaxis
    assert list(axis.ticktext) == ["0", "10", "100"]
    assert list(axis.tickvals) == pytest.approx([0.0, np.log10(11), np.log10(101)])
    assert "logarithmic from 0" in part.html


@pytest.mark.parametrize(
    ("top", "at", "said"),
    [
        (100.0, [0.0, 50.0, 100.0], ["0 %", "50 %", "100 %"]),
        (1.0, [0.0, 0.5, 1.0], ["0 %", "0.5 %", "1 %"]),
        (70.0, [0.0, 25.0, 50.0], ["0 %", "25 %", "50 %"]),
        (9.0, [0.0, 2.5, 5.0, 7.5], ["0 %", "2.5 %", "5 %", "7.5 %"]),
        (4.0, [0.0, 2.0, 4.0], ["0 %", "2 %", "4 %"]),
        (2500.0, [0.0, 1000.0, 2000.0], ["0 %", "1,000 %", "2,000 %"]),
    ],
)
def test_marks_are_at_round_values(top, at, said):
    ticks = _panel_ticks(top, " %", False)
    assert (list(ticks.at), list(ticks.text)) == (pytest.approx(at), said)


def test_marks_of_many_decades_are_thinned():
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
def test_bins_have_widths_that_read_well(span, most, width):
    assert bin_width(span, most) == pytest.approx(width)


def series(name, values, percent=False, begin=5.0):
    count = len(values)
    return Series(name, begin + 10.0 * np.arange(count), np.array(values, float), percent)


def test_what_a_world_has_over_time_is_plotted_a_figure_each():
    made = outcome([0.0], [0.0], [10.0])
    both = (
        series("queue length", [1.0, 3.0, 5.0, 5.0]),
        series("busy", [0.1, 0.5, 0.9, 0.9], percent=True),
    )
    part = courses.section_of_series(lanes(results(("a", [replace(made, series=both)]))))
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
    assert courses.section_of_series(lanes(results(("a", [lone])))).plots == ()


def test_classes_of_jobs_have_the_means_of_their_own():
    """Widths on and beyond each bound, and runs likewise."""
    widths = [1, 2, 8, 9, 64, 65, 512, 513]
    runs = [60.0, 61.0, 600.0, 601.0, 3600.0, 3601.0, 28800.0, 28801.0]
    made = outcome([0.0] * 8, [100.0 * n for n in range(1, 9)], runs, procs=widths)
    other = outcome([0.0] * 8, [50.0] * 8, runs, procs=widths)
    html = breakdowns.classes(lanes(results(("a", [made]), ("b", [other]))))
    heads = re.findall(r'<th scope="col">(.*?)</th>', html)
    assert heads == [
        "1",
        "2–8",
        "9–64",
        "65–512",
        "&gt; 512",
        "≤ 1 min",
        "≤ 10 min",
        "≤ 1 h",
        "≤ 8 h",
        "&gt; 8 h",
    ]
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in html.split("<tr")[3:]]
    assert rows[0] == ["12.5 %", *["25.0 %"] * 3, "12.5 %"] * 2
    groups = [[0], [1, 2], [3, 4], [5, 6], [7]] * 2
    slow = [
        bounded_slowdown(*(each.jobs[name].to_numpy() for name in ("submit_s", "start_s", "end_s")))
        for each in (made, other)
    ]
    for row, own, rival in zip(rows[1:3], slow, slow[::-1], strict=True):
        for cell, members in zip(row, groups, strict=True):
            value = float(re.sub("</?b>|,", "", cell))
            assert value == pytest.approx(own[members].mean(), rel=1e-3)
            shown, theirs = (f"{each[members].mean():.3e}" for each in (own, rival))
            assert ("<b>" in cell) == (shown != theirs and own[members].mean() < rival[members].mean())


def test_reasons_up_to_seven_are_shown_and_of_eight_two_are_summed():
    for count, others in ((7, None), (8, "2 other reasons 3 ")):
        why = [f"r{place}" for place in range(count) for _ in range(count - place)]
        made = outcome([0.0] * len(why), [0.0] * len(why), [60.0] * len(why), why=why)
        html = breakdowns.reasons(lanes(results(("x", [made]))))
        text = " ".join(re.sub("<[^>]*>", " ", html).split())
        assert f"r0 {count} " in text
        assert (f"r{count - 1} " in text) == (others is None)
        assert others is None or others in text
        assert f'<rect width="{100 * count / len(why):.2f}"' in html
        assert html.count("<tr class=same>") == 6
        assert f"{100 * count / len(why):.1f} %" in text
    made = outcome([0.0], [0.0], [60.0], why=[""])
    assert "none given" in breakdowns.reasons(lanes(results(("x", [made]))))


def test_distributions_are_of_all_seeds():
    runs = [
        outcome([0.0] * 4, waits, [100.0] * 4) for waits in ([0.0, 0.0, 5.0, 50.0], [1.0, 0.5, 500.0, 20.0])
    ]
    part = distributions.section(lanes(results(("x", runs))))
    found = plots(part)
    waits = np.array([0, 0, 5, 50, 1, 0.5, 500, 20.0])
    (line,) = found["wait"].data
    assert list(line.x) == [1.0, 5.0, 20.0, 50.0, 500.0]
    assert list(line.y) == pytest.approx([100 * (waits <= at).mean() for at in line.x])
    assert line.text[1] == "wait at most 5 s"
    assert "Did not wait at all: x\xa025.0\xa0%." in part.html
    assert "The axis starts at 1 s" in part.html
    (line,) = found["slowdown"].data
    slow = (waits + 100) / 100
    assert list(line.y) == pytest.approx([100 * (slow <= at + 1e-12).mean() for at in line.x])
    assert "Jobs with the least there is, 1: x\xa025.0\xa0%." in part.html
    assert "runs under 10 s count as 10 s" in part.html
    assert found["wait"].layout.xaxis.range == (0.0, pytest.approx(1.01 * np.log10(500)))
    assert list(found["wait"].layout.xaxis.tickvals) == list(TIME_TICKS.at)
    assert list(found["slowdown"].layout.xaxis.tickvals) == list(DECADE_TICKS.at)


def test_of_other_rows_the_axis_starts_below_nearly_all():
    def lowest(values):
        return distributions._lowest([np.array(values)], "task")

    assert lowest([0.02] * 50 + [0.5] * 50) == pytest.approx(0.01)
    assert lowest([1e-6] * 5) == 1e-3
    assert lowest([50.0] * 5) == 1.0
    assert lowest([0.0, 0.0]) == 1.0
    assert distributions._lowest([np.array([0.02])], "job") == 1.0
    # The lowest of several counts; zeros do not.
    assert distributions._lowest([np.array([0.5]), np.array([0.0, 0.03])], "task") == pytest.approx(0.01)


def test_all_marks_of_time_are_what_they_say():
    units = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "y": 365 * 86400.0}
    for at, said in zip(TIME_TICKS.at, TIME_TICKS.text, strict=True):
        value, unit = said.split()
        assert at == pytest.approx(float(value) * units[unit])
    letters = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    for at, said in zip(DECADE_TICKS.at, DECADE_TICKS.text, strict=True):
        digits = said.rstrip("kMGT")
        assert at == pytest.approx(float(digits) * letters[said.removeprefix(digits)])


def test_an_axis_spans_a_decade_at_least():
    (lane,) = lanes(results(("x", [outcome([0.0], [0.0], [1.0])])))
    curves = [(lane, Distribution(np.array([2.0, 5.0]), np.array([0.25, 1.0])))]
    plot = cumulative("key", curves, "title", TIME_TICKS, lambda value: f"at {value:g}", "tasks")
    assert plot.figure.layout.xaxis.range == (pytest.approx(np.log10(2)), pytest.approx(1.01 * np.log10(20)))
    (line,) = plot.figure.data
    assert (list(line.y), list(line.text)) == ([25.0, 100.0], ["at 2", "at 5"])
    assert (plot.key, plot.logarithmic, line.line.shape) == ("key", True, "hv")
    assert plot.figure.layout.yaxis.range == (0, 102)
    assert list(plot.figure.layout.yaxis.tickvals) == [0, 25, 50, 75, 100]
    assert list(plot.figure.layout.yaxis.ticktext) == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert "% of tasks" in line.hovertemplate
    assert plot.figure.layout.xaxis.title.text == "title"


def test_columns_are_there_where_all_seeds_have_them_and_one_a_row():
    full = outcome([0.0], [0.0], [1.0])
    empty = replace(full, jobs=full.jobs.clear())
    short = replace(full, jobs=full.jobs.drop("why"))

    def found(*runs, columns=("why", "end_s")):
        return has(lanes(results(("x", list(runs))))[0], *columns)

    assert (found(full), found(full, empty), found(empty)) == (True, True, False)
    assert (found(full, short), found(full, short, columns=("end_s",))) == (False, True)
    bare = replace(full, jobs=full.jobs.drop("procs"))
    assert times([bare]).procs.tolist() == [1.0]
    odd = full.jobs.with_columns(pl.lit(math.inf).alias("start_s"))
    known = times([full, replace(full, jobs=odd)])
    assert (known.lacking, known.submit.tolist(), known.wait.tolist()) == (1, [0.0], [0.0])


def test_the_head_says_how_much_was_run():
    small, large = outcome([0.0], [0.0], [1.0]), outcome([0.0] * 2000, [0.0] * 2000, [1.0] * 2000)
    html = overview.head(results(("a", [small, large]), ("b", [replace(large, processors=16)])))
    assert "2 variants · 1 to 2,000 jobs · 8 to 16 processors · 2 seeds" in html
    assert "1 variant · 1 job · 8 processors · 1 seed" in overview.head(results(("a", [small])))


def test_the_table_has_units_where_there_are_any_and_full_values():
    assert overview._head(Column("mean wait", "h", ())).endswith('</span><span class="unit">h</span></th>')
    assert "unit" not in overview._head(Column("jobs", "", ()))
    assert overview._cell(Cell("1.5", "5400 s", best=True)) == '<td title="5400 s"><b>1.5</b></td>'
    assert overview._cell(Cell("1.5", "5400 s", best=False)) == '<td title="5400 s">1.5</td>'
    assert overview.answer(()) == ""
    assert overview.answer(("one",)) == '<section class="answer"><p><b>one</b></p></section>'
    assert overview.answer(("one", "two")).endswith("<ul><li>two</li></ul></section>")


def test_words_of_the_table_are_of_several_variants_and_seeds():
    runs = [outcome([0.0], [float(seed)], [1.0], seed=seed) for seed in range(3)]
    one, many = results(("a", runs[:1])), results(("a", runs), ("b", runs))
    first, second = overview.metrics(one, lanes(one)), overview.metrics(many, lanes(many))
    assert ("Bold:" in first, "seeds" in first) == (False, False)
    assert ("Bold:" in second, "Mean of 3 seeds" in second) == (True, True)
    assert overview.legend(lanes(one)) == ""
    legend = overview.legend(lanes(many))
    assert re.findall(r'data-variant="(\d)"', legend) == ["0", "1"]


def test_after_seven_variants_colours_come_with_another_dash():
    drawn = [stroke(position) for position in range(22)]
    assert len({(each.ink.name, each.dash) for each in drawn}) == 21
    assert [drawn[place].dash for place in (0, 6, 7, 13, 14, 21)] == [
        "solid",
        "solid",
        "dash",
        "dash",
        "dot",
        "solid",
    ]
    assert drawn[7].ink == drawn[0].ink == stroke_in(7, 2).ink
    assert stroke_in(1, 2).dash == "dot"


def test_grounds_are_light_on_light_pages_and_text_is_dark():
    def light(colour):
        return sum(int(colour[at : at + 2], 16) for at in (1, 3, 5)) / 3 / 255

    for ink in (PAPER, GRID, RAISED):
        assert light(ink.light) > 0.85
        assert light(ink.dark) < 0.25
    for ink in (TEXT, QUIET):
        assert light(ink.light) < 0.5
        assert light(ink.dark) > 0.6
    assert all(light(ink.dark) > light(ink.light) for ink in INKS if ink.name.startswith("v"))


def test_bins_are_as_wide_as_clocks_have_it():
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
def test_panels_are_below_each_other_and_equally_high(count):
    made = outcome([0.0, 0.0], [0.0, 100.0], [HOUR, HOUR])
    part = courses.section(lanes(results(*((f"v{place}", [made]) for place in range(count)))))
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


def test_curves_of_a_sweep_have_a_panel_for_each_choice_on_other_axes():
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
