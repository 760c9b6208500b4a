"""The report's map and table of flows equal plain sums over the outcomes of each variant."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.report.made import random_outcome, results
from tests.report.page import Page, page_of
from windlass.report.flows import byte_unit
from windlass.report.map_figure import in_lines, positions
from windlass.results import Outcome, Results, SiteFlow, SiteMap, SiteUse

NAMES = ("iowa", "oslo", "rome")


def ran(seed: int, *flows: SiteFlow) -> Outcome:
    rng = np.random.default_rng(seed)
    sites = tuple(SiteUse(name, float(rng.integers(10, 500)), float(rng.random())) for name in NAMES)
    return replace(random_outcome(20, seed), seed=seed, site_map=SiteMap(sites, flows))


EASY = (
    ran(1, SiteFlow("etl", "iowa", "oslo", 4e9), SiteFlow("web", "oslo", "rome", tasks=30)),
    ran(2, SiteFlow("etl", "iowa", "oslo", 2e9), SiteFlow("copy", "iowa", "oslo", 8e9)),
)
FCFS = (ran(3, SiteFlow("etl", "oslo", "iowa", 16e9)), ran(4, SiteFlow("web", "oslo", "rome", tasks=5)))


def made() -> Results:
    return results(("easy", EASY), ("fcfs", FCFS))


def traces(page: Page) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(page.scripts["plots"])["site-map"]["data"]
    return found


def test_a_line_is_as_wide_as_the_root_of_the_mean_of_what_moves(tmp_path: Path) -> None:
    lines = [each for each in traces(page_of(made(), tmp_path)) if each["mode"] == "lines"]
    widths = {(each["meta"], each["name"], each["line"]["dash"]): each["line"]["width"] for each in lines}
    # Means over two seeds: 7 GB of two loads, and 8 GB the other way in the other variant, which is the widest.
    assert widths == {
        (0, "iowa → oslo", "solid"): pytest.approx(7 * math.sqrt(7 / 8), abs=0.01),
        (1, "oslo → iowa", "solid"): 7.0,
        (0, "oslo → rome", "dot"): 3.0,
        (1, "oslo → rome", "dot"): pytest.approx(7 * math.sqrt(2.5 / 15), abs=0.01),
    }


def test_sites_use_half_of_the_width_and_leave_room_for_names(tmp_path: Path) -> None:
    layout = json.loads(page_of(made(), tmp_path).scripts["plots"])["site-map"]["layout"]
    low, high = layout["xaxis"]["range"]
    assert low == -high
    # The sites are on a circle of radius 1; names are up to 0.6 wide.
    assert 1.6 < high < 2.2


def test_a_line_leads_from_its_source_to_its_target_and_the_other_direction_is_apart(tmp_path: Path) -> None:
    spots = positions(NAMES)
    both = SiteFlow("etl", "iowa", "oslo", 1.0), SiteFlow("etl", "oslo", "iowa", 1.0)
    lines = traces(page_of(results(("easy", [ran(1, *both)])), tmp_path))
    middles = []
    for line, arrow in zip(lines[0:4:2], lines[1:4:2], strict=True):
        source, target = line["name"].split(" → ")
        for place, name in ((0, source), (-1, target)):
            assert (line["x"][place], line["y"][place]) == pytest.approx(spots[name], abs=1e-3)
        half = len(line["x"]) // 2
        middles.append((line["x"][half], line["y"][half]))
        assert (arrow["x"], arrow["y"]) == ([line["x"][half]], [line["y"][half]])
        # An upright triangle that is turned clockwise by the angle points from source to target.
        angle = math.radians(arrow["marker"]["angle"])
        (x0, y0), (x1, y1) = spots[source], spots[target]
        away = math.hypot(x1 - x0, y1 - y0)
        # The middle is at a tenth of the length from the straight line, to the right.
        aside = middles[-1][0] - (x0 + x1) / 2, middles[-1][1] - (y0 + y1) / 2
        assert aside == pytest.approx((0.1 * (y1 - y0), -0.1 * (x1 - x0)), abs=1e-3)
        assert (math.sin(angle), math.cos(angle)) == pytest.approx(
            ((x1 - x0) / away, (y1 - y0) / away), abs=1e-3
        )
    assert math.dist(*middles) > 0.2


def test_an_arrow_shows_the_amount_of_each_load(tmp_path: Path) -> None:
    arrows = [
        each["hovertemplate"]
        for each in traces(page_of(made(), tmp_path))
        if each["mode"] == "markers" and each["name"] != "sites" and each["meta"] == 0
    ]
    assert arrows == [
        "<b>iowa → oslo</b><br>etl: 3.000 GB<br>copy: 4.000 GB<extra></extra>",
        "<b>oslo → rome</b><br>web: 15 tasks<extra></extra>",
    ]


def test_circles_have_the_mean_cores_as_area_and_the_mean_use_as_shade(tmp_path: Path) -> None:
    circles = [each for each in traces(page_of(made(), tmp_path)) if each["mode"] == "markers+text"]
    assert [each["meta"] for each in circles] == [0, 1]
    cores, used = (
        np.array(
            [[[getattr(site, field) for site in run.site_map.sites] for run in runs] for runs in (EASY, FCFS)]
        )
        for field in ("cores", "used_share")
    )
    cores, used = cores.mean(axis=1), used.mean(axis=1)
    for own, share, circle in zip(cores, used, circles, strict=True):
        expected = 10 + 40 * np.sqrt(own / cores.max())
        assert circle["marker"]["size"] == pytest.approx(expected.tolist(), abs=0.01)
        opacity = [int(colour[7:], 16) for colour in circle["marker"]["color"]]
        assert opacity == [round(20 + 235 * each) for each in share]
        for name, text, each, part in zip(NAMES, circle["text"], own, share, strict=True):
            assert text == f"<b>{name}</b><br>{round(each)} cores<br>{100 * part:.1f} %"
        assert circle["textposition"] == ["top center", "middle right", "middle left"]


def test_the_table_has_a_row_for_each_load_and_pair_and_sums_by_load(tmp_path: Path) -> None:
    text = page_of(made(), tmp_path).text()
    table = text[text.index("load from to unit easy fcfs") :]
    assert table.startswith(
        "load from to unit easy fcfs "
        "copy iowa oslo GB 4.000 0 "
        "etl iowa oslo GB 3.000 0 "
        "etl oslo iowa GB 0 8.000 "
        "web oslo rome tasks 15 2.500 "
        "copy all all GB 4.000 0 "
        "etl all all GB 3.000 8.000 "
        "web all all tasks 15 2.500"
    )


def test_sites_are_on_a_circle_at_equal_distances() -> None:
    for count in range(2, 9):
        spots = list(positions([str(place) for place in range(count)]).values())
        assert all(math.hypot(*spot) == pytest.approx(1.0, abs=1e-5) for spot in spots)
        apart = [math.dist(one, other) for one, other in zip(spots, [*spots[1:], spots[0]], strict=True)]
        assert apart == pytest.approx([2 * math.sin(math.pi / count)] * count, abs=1e-5)


@pytest.mark.parametrize(
    ("amounts", "symbol"),
    [([999.0], "B"), ([1000.0], "kB"), ([5.0, 2e6], "MB"), ([3e19], "PB"), ([0.0], "B")],
)
def test_the_unit_of_data_is_the_largest_with_one_of_it(amounts: list[float], symbol: str) -> None:
    assert byte_unit(amounts).symbol == symbol


def test_sites_without_flows_are_drawn_and_results_without_sites_have_no_map(tmp_path: Path) -> None:
    page = page_of(results(("easy", [ran(1)])), tmp_path)
    assert "Nothing moves between the sites." in page.text()
    assert len(traces(page)) == 2
    assert "site-map" not in page_of(results(("easy", [random_outcome(20, 1)])), tmp_path).ids()


def test_names_of_sites_and_loads_are_escaped(tmp_path: Path) -> None:
    nasty = "<i>a</i>"
    sites = SiteMap((SiteUse(nasty, 4.0, 0.5), SiteUse("b", 4.0, 0.5)), (SiteFlow(nasty, nasty, "b", 5.0),))
    page = page_of(results(("easy", [replace(random_outcome(20, 1), site_map=sites)])), tmp_path)
    assert "<i>" not in page.scripts["plots"].replace("\\u003c", "<")
    assert f"{nasty} {nasty} b B" in page.text()


def test_the_smallest_of_many_sites_are_one_and_the_sums_stay_the_same(tmp_path: Path) -> None:
    names = [f"s{place}" for place in range(40)]
    sites = tuple(SiteUse(name, float(100 - place), place / 40) for place, name in enumerate(names))
    flows = tuple(
        SiteFlow("etl", source, target, 1e9 * (1 + place + other))
        for place, source in enumerate(names)
        for other, target in enumerate(names)
        if source != target
    )
    page = page_of(
        results(("easy", [replace(random_outcome(20, 1), site_map=SiteMap(sites, flows))])), tmp_path
    )
    circles = next(each for each in traces(page) if each.get("text"))
    assert len(circles["x"]) == 12
    assert circles["text"][-1].startswith("<b>29 smaller <br>sites</b>")
    assert len([each for each in traces(page) if each["mode"] == "lines"]) == 30
    assert "The 30 largest of 133 flows are shown; the sums are those of all." in page.text()
    total = sum(flow.sent_bytes for flow in flows) / 1e12
    assert f"all all TB {total:.2f}" in page.text()


def test_long_names_have_two_lines() -> None:
    assert in_lines("aws:us-east-1") == ["aws:us-", "east-1"]
    assert in_lines("a" * 30) == ["a" * 30]
