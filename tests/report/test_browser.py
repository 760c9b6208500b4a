"""The page in a real browser: the plots are drawn, and the console stays empty."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

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
@pytest.mark.parametrize("world", ["batch", "dispatch"])
def test_the_page_draws_its_plots_without_console_messages(tmp_path: Path, world: str) -> None:
    trees = {
        "batch": {"workload": {"lublin": {"jobs": 300}}, "policies": {"order": ["fcfs", "easy"]}},
        "dispatch": {
            "world": "dispatch",
            "cluster": {"groups": [{"workers": 4, "speed": 1.0}]},
            "workload": {"tasks": 2000},
            "policies": {"dispatch": ["pot", "jsq"]},
        },
    }
    page = tmp_path / "report.html"
    write_report(run(make_scenario(trees[world])), page)
    command = [str(CHROMIUM), *_FLAGS, f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert len(re.findall(r'class="[^"]*js-plotly-plot', done.stdout)) >= 3
    assert "CONSOLE" not in done.stderr, done.stderr
