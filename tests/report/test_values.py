"""Numbers on the page against values computed by hand from the results."""

import math
import re
from dataclasses import make_dataclass, replace

import numpy as np
import polars as pl
import pytest

from tests.report.made import outcome, results
from tests.report.test_timelines import plots
from windlass.report import breakdowns, distributions, overview
from windlass.report.columns import Cell, MetricColumn
from windlass.report.figures import DECADE_TICKS, TIME_TICKS, cumulative
from windlass.report.html_fragments import answer
from windlass.report.job_columns import has, lanes, times
from windlass.report.palette import GRID, INKS, PAPER, QUIET, RAISED, TEXT, stroke, stroke_in
from windlass.report.series import Distribution
from windlass.results.metrics.site import bounded_slowdown


def test_each_class_of_jobs_has_its_own_mean():
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


def test_up_to_seven_reasons_are_shown_and_further_ones_summed():
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


def test_distributions_pool_all_seeds():
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
    assert "Jobs without any wait: x\xa025.0\xa0%." in part.html
    assert "The axis starts at 1 s" in part.html
    (line,) = found["slowdown"].data
    slow = (waits + 100) / 100
    assert list(line.y) == pytest.approx([100 * (slow <= at + 1e-12).mean() for at in line.x])
    assert "Jobs with the minimum of 1: x\xa025.0\xa0%." in part.html
    assert "runs under 10 s count as 10 s" in part.html
    assert found["wait"].layout.xaxis.range == (0.0, pytest.approx(1.01 * np.log10(500)))
    assert list(found["wait"].layout.xaxis.tickvals) == list(TIME_TICKS.at)
    assert list(found["slowdown"].layout.xaxis.tickvals) == list(DECADE_TICKS.at)


def test_many_variants_have_the_range_of_their_shares():
    made = [
        (f"v{n}", [outcome([0.0] * 10, [0.0] * n + [5.0] * (10 - n), [100.0] * 10)]) for n in range(1, 10)
    ]
    caption = distributions.section(lanes(results(*made))).html
    assert "Jobs without any wait: from v1\xa010.0\xa0% to v9\xa090.0\xa0%." in caption
    caption = distributions.section(lanes(results(*made[:8]))).html
    assert "v1\xa010.0\xa0%, v2\xa020.0\xa0%, " in caption


def test_the_axis_of_rows_other_than_jobs_starts_below_nearly_all_values():
    def lowest(values):
        return distributions._lowest([np.array(values)], "task")

    assert lowest([0.02] * 50 + [0.5] * 50) == pytest.approx(0.01)
    assert lowest([1e-6] * 5) == 1e-3
    assert lowest([50.0] * 5) == 1.0
    assert lowest([0.0, 0.0]) == 1.0
    assert distributions._lowest([np.array([0.02] * 4 + [9.0] * 5)], "job") == 1.0
    assert distributions._lowest([np.array([0.02] * 5 + [9.0] * 4)], "job") == pytest.approx(0.01)
    # The lowest value of all variants counts; zeros are ignored.
    assert distributions._lowest([np.array([0.5]), np.array([0.0, 0.03])], "task") == pytest.approx(0.01)


def test_tick_labels_match_their_positions():
    units = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "y": 365 * 86400.0}
    for at, label in zip(TIME_TICKS.at, TIME_TICKS.text, strict=True):
        value, unit = label.split()
        assert at == pytest.approx(float(value) * units[unit])
    letters = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    for at, label in zip(DECADE_TICKS.at, DECADE_TICKS.text, strict=True):
        digits = label.rstrip("kMGT")
        assert at == pytest.approx(float(digits) * letters[label.removeprefix(digits)])


def test_an_axis_spans_at_least_a_decade():
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


def test_a_column_exists_if_all_seeds_have_it_and_one_has_a_row():
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


def test_the_header_counts_variants_jobs_processors_and_seeds():
    small, large = outcome([0.0], [0.0], [1.0]), outcome([0.0] * 2000, [0.0] * 2000, [1.0] * 2000)
    html = overview.head(results(("a", [small, large]), ("b", [replace(large, processors=16)])))
    assert "2 variants · 1 to 2,000 jobs · 8 to 16 processors · 2 seeds" in html
    assert "1 variant · 1 job · 8 processors · 1 seed" in overview.head(results(("a", [small])))


def test_table_headers_have_units_and_cells_have_full_values():
    assert overview._head(MetricColumn("mean wait", "h", ())).endswith(
        '</span><span class="unit">h</span></th>'
    )
    assert "unit" not in overview._head(MetricColumn("jobs", "", ()))
    assert overview._cell(Cell("1.5", "5400 s", best=True)) == '<td title="5400 s"><b>1.5</b></td>'
    assert overview._cell(Cell("1.5", "5400 s", best=False)) == '<td title="5400 s">1.5</td>'
    assert answer(()) == ""
    assert answer(("one",)) == '<section class="answer"><p><b>one</b></p></section>'
    assert answer(("one", "two")).endswith("<ul><li>two</li></ul></section>")


def test_notes_on_the_table_depend_on_the_numbers_of_variants_and_seeds():
    runs = [outcome([0.0], [float(seed)], [1.0], seed=seed) for seed in range(3)]
    one, many = results(("a", runs[:1])), results(("a", runs), ("b", runs))
    first, second = overview.metrics(one, lanes(one)), overview.metrics(many, lanes(many))
    assert ("Bold:" in first, "seeds" in first) == (False, False)
    assert ("Bold:" in second, "Mean of 3 seeds" in second) == (True, True)
    assert overview.legend(lanes(one)) == ""
    legend = overview.legend(lanes(many))
    assert re.findall(r'data-variant="(\d)"', legend) == ["0", "1"]


def test_metrics_that_are_the_same_in_all_variants_have_a_sentence_in_a_long_table():
    fields = ("mean_wait_s", *(f"m{place}" for place in range(12)))
    metrics_of = make_dataclass("Many", [(name, float) for name in fields], frozen=True)
    made = [
        (name, [replace(outcome([0.0], [wait], [1.0]), metrics=metrics_of(wait, *range(12)))])
        for name, wait in (("a", 5.0), ("b", 6.0))
    ]
    long = overview.metrics(results(*made), lanes(results(*made)))
    assert long.count('<th scope="col">') == 2  # the variant and the wait
    assert "The same in all variants: m0\xa00; m1\xa01; " in long
    assert "; m10\xa010; m11\xa011." in long
    alone = overview.metrics(results(*made[:1]), lanes(results(*made[:1])))
    assert ("The same" in alone, alone.count('<th scope="col">')) == (False, 14)


def test_after_eight_variants_colours_repeat_with_another_dash():
    drawn = [stroke(position) for position in range(25)]
    assert len({(each.ink.name, each.dash) for each in drawn}) == 24
    assert [drawn[place].dash for place in (0, 7, 8, 15, 16, 24)] == [
        "solid",
        "solid",
        "dash",
        "dash",
        "dot",
        "solid",
    ]
    assert {each.dash for each in drawn[:8]} == {"solid"}
    assert drawn[8].ink == drawn[0].ink == stroke_in(8, 2).ink
    assert stroke_in(1, 2).dash == "dot"


def test_on_light_pages_backgrounds_are_light_and_text_is_dark():
    def light(colour):
        return sum(int(colour[at : at + 2], 16) for at in (1, 3, 5)) / 3 / 255

    for ink in (PAPER, GRID, RAISED):
        assert light(ink.light) > 0.85
        assert light(ink.dark) < 0.25
    for ink in (TEXT, QUIET):
        assert light(ink.light) < 0.5
        assert light(ink.dark) > 0.6
    assert all(light(ink.dark) > light(ink.light) for ink in INKS if ink.name.startswith("v"))
