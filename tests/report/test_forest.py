"""Forest plots show the changes and intervals of an ablation in percent, and mark what is significant."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.report.page import Page, page_of
from tests.verdict.test_ablation import NEITHER, NO_ORDER, NO_SHARE, WHOLE, four, results, variant

#: 97.5 % quantile of Student's distribution with two degrees of freedom.
STUDENT = 4.302652729696142


def plots(page: Page) -> list[dict[str, Any]]:
    found = json.loads(page.scripts.get("plots", "{}"))
    return [plot for key, plot in found.items() if key.startswith("without-")]


def test_a_row_is_the_paired_difference_in_percent_with_its_interval(tmp_path: Path) -> None:
    wait = plots(page_of(four(), tmp_path))[0]
    bars = [trace for trace in wait["data"] if trace["mode"] == "lines"]
    (points,) = [trace for trace in wait["data"] if trace["mode"] == "markers"]
    base = statistics.mean(WHOLE)
    for place, (waits, bar) in enumerate(zip((NO_ORDER, NO_SHARE, NEITHER), bars, strict=True)):
        differences = [without - own for without, own in zip(waits, WHOLE, strict=True)]
        change = statistics.mean(differences)
        half = STUDENT * statistics.stdev(differences) / math.sqrt(3)
        assert (points["y"][place], bar["y"]) == (place, [place, place])
        assert points["x"][place] == pytest.approx(100 * change / base)
        assert bar["x"] == pytest.approx([100 * (change - half) / base, 100 * (change + half) / base])
    low, high = wait["layout"]["xaxis"]["range"]
    assert low < 0 < high
    assert all(low < change < high for change in points["x"])


def test_significant_rows_are_filled_and_named_by_their_direction(tmp_path: Path) -> None:
    page = page_of(four(), tmp_path)
    wait, _ = plots(page)
    assert wait["layout"]["yaxis"]["ticktext"] == ["order ✓", "share ✓", "order and share ✓"]
    assert "Wait (less is better)" in page.text()
    assert "Accuracy (more is better)" in page.text()
    unsure = results(
        variant((), NO_SHARE), variant(("share",), WHOLE), variant(("order",), [9.0, 14.0, 15.0])
    )
    (wait,) = plots(page_of(unsure, tmp_path / "unsure"))
    assert wait["layout"]["yaxis"]["ticktext"] == ["share ✗", "order"]
    (points,) = [trace for trace in wait["data"] if trace["mode"] == "markers"]
    filled, hollow = points["marker"]["color"]
    assert (filled, hollow) == (points["marker"]["line"]["color"][0], "#ffffff")


def test_rows_are_from_top_to_bottom(tmp_path: Path) -> None:
    first, last = plots(page_of(four(), tmp_path))[0]["layout"]["yaxis"]["range"]
    assert first > 2 > 0 > last


def test_one_seed_has_points_without_bars(tmp_path: Path) -> None:
    made = results(variant((), [10.0]), variant(("order",), [15.0]))
    wait = plots(page_of(made, tmp_path))[0]
    assert wait["data"][0]["x"] == [50.0, 50.0]
    assert wait["data"][-1]["x"] == [50.0]
    assert "50 %" in wait["data"][-1]["text"][0]
    assert wait["layout"]["yaxis"]["ticktext"] == ["order"]


def test_a_change_from_zero_is_marked_and_not_drawn_and_a_metric_without_changes_has_no_plot(
    tmp_path: Path,
) -> None:
    made = results(variant((), [0.0]), variant(("order",), [5.0]), variant(("share",), [0.0]))
    assert plots(page_of(made, tmp_path)) == []
    mixed = results(variant((), [0.0], 0.5), variant(("order",), [5.0], 0.6))
    (accuracy,) = plots(page_of(mixed, tmp_path / "mixed"))
    assert accuracy["data"][-1]["x"] == pytest.approx([20.0])
    page = page_of(made, tmp_path / "again")
    assert "What each decision is worth" in page.text()
    assert "+∞" in page.text()


def test_a_metric_that_does_not_apply_without_a_decision_has_a_row_without_a_point(tmp_path: Path) -> None:
    made = results(variant((), [10.0]), variant(("order",), [math.nan]), variant(("share",), [15.0]))
    (wait,) = plots(page_of(made, tmp_path))
    assert wait["layout"]["yaxis"]["ticktext"] == ["order", "share"]
    assert (wait["data"][-1]["x"], wait["data"][-1]["y"]) == ([50.0], [1])


def test_a_long_bar_is_cut_off_at_the_axis_and_not_in_the_data(tmp_path: Path) -> None:
    made = results(variant((), [10.0, 10.0]), variant(("order",), [10.0, 13.0]))
    wait = plots(page_of(made, tmp_path))[0]
    low, high = wait["layout"]["xaxis"]["range"]
    bar = wait["data"][0]["x"]
    assert bar[1] - bar[0] > 300
    assert bar[0] < low < 0
    assert 15 < high < bar[1]
    assert high - low < 60


def test_each_point_of_a_sweep_has_plots_of_its_own(tmp_path: Path) -> None:
    made = results(
        *(
            variant(out, waits, point=point)
            for point in ("load=1", "load=2")
            for out, waits in (((), WHOLE), (("order",), NO_ORDER))
        )
    )
    page = page_of(made, tmp_path)
    assert len(plots(page)) == 2
    assert "What each decision is worth (load=2)" in page.text()
