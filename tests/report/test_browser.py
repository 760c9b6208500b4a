"""The page in a real browser: plots are drawn, controls work, and the console stays empty."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests.report.test_site_map import made
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.report import write_report

CHROMIUM = shutil.which("chromium")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=8000",
    "--enable-logging=stderr",
    "--v=0",
    "--dump-dom",
)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("world", ["batch", "dispatch", "cluster"])
def test_the_page_draws_its_plots_without_console_messages(tmp_path: Path, world: str) -> None:
    trees = {
        "batch": {"workload": {"lublin": {"jobs": 300}}, "policies": {"order": ["fcfs", "easy"]}},
        "dispatch": {
            "world": "dispatch",
            "cluster": {"groups": [{"workers": 4, "speed": 1.0}]},
            "workload": {"tasks": 2000},
            "policies": {"dispatch": ["pot", "jsq"]},
        },
        "cluster": {
            "world": "cluster",
            "seconds": 3600,
            "sites": {
                "iowa": {
                    "nodes": [{"count": 2, "cores": 8}],
                    "instances": {
                        "types": [{"name": "small", "cores": 4, "price": 0.4, "launch": 60, "most": 2}]
                    },
                },
                "oslo": {"nodes": [{"count": 2, "cores": 8}]},
            },
            "loads": {
                "web": {"tasks": {"tasks": 300}},
                "etl": {"staged": {"drawn": {"jobs": 4, "tasks": 20}}},
            },
            "without": [[], ["scale"]],
            "seeds": [1, 2],
        },
    }
    page = tmp_path / "report.html"
    write_report(run(make_scenario(trees[world])), page)
    assert len(re.findall(r'class="[^"]*js-plotly-plot', _opened(page, tmp_path))) >= 3


def _opened(page: Path, folder: Path) -> str:
    """Open a page, and return its elements after all scripts; the console stays empty."""
    command = [str(CHROMIUM), *_FLAGS, f"--user-data-dir={folder / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


#: What a reader does: choose the second variant for the map, hide it elsewhere, and sort flows by source and amount.
_CLICKS = """
<script>
const menu = document.querySelector(".choose select");
menu.value = "1";
menu.dispatchEvent(new Event("change"));
document.querySelectorAll(".legend button")[1].click();
const shown = (key) => document.getElementById(key).data.map((trace) => [trace.meta, trace.visible]);
const heads = document.querySelectorAll("table.sortable thead th");
const body = document.querySelector("table.sortable").tBodies[0];
const ways = () => [...body.rows].map((row) => `${row.cells[0].textContent} ${row.cells[1].textContent}`);
const orders = [];
for (const head of [heads[1], heads[4], heads[4]]) {
  head.querySelector("button").click();
  orders.push([ways(), head.getAttribute("aria-sort")]);
}
const sorted = document.querySelectorAll("[aria-sort]").length;
const menus = [...document.querySelectorAll(".choose select")].map((each) => each.value);
// The clicks come before the library of figures is decompressed.
const report = () => {
  if (!document.getElementById("site-map").data) return setTimeout(report, 10);
  document.title = JSON.stringify({ map: shown("site-map"), wait: shown("wait"), orders, sorted, menus });
};
report();
</script>
"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_menu_chooses_a_variant_and_a_click_sorts_the_flows(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_report(made(), page)
    page.write_text(
        page.read_text(encoding="utf-8").replace("</body>", f"{_CLICKS}</body>"), encoding="utf-8"
    )
    title = re.search("<title>(.*?)</title>", _opened(page, tmp_path))
    assert title is not None
    found = json.loads(unescape(title[1]))
    assert found["menus"] == ["1"]
    assert {(meta, visible) for meta, visible in found["map"]} == {(0, False), (1, True)}
    # A plot of all variants follows the buttons, and not the menu.
    assert {(meta, visible) for meta, visible in found["wait"]} == {(0, True), (1, False)}
    # Amounts: 4, 3, 0 and 15.
    by_source, by_amount = ["copy iowa", "etl iowa", "etl oslo", "web oslo"], [3, 0, 1, 2]
    assert found["orders"] == [
        [by_source, "ascending"],
        [[by_source[row] for row in by_amount], "descending"],
        [[by_source[row] for row in reversed(by_amount)], "ascending"],
    ]
    assert found["sorted"] == 1
