"""Results as one page that needs nothing but itself."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from plotly.offline import get_plotlyjs

from windlass.report import breakdowns, courses, distributions, overview
from windlass.report.figures import Plot
from windlass.report.observed import lanes
from windlass.report.palette import INKS
from windlass.report.parts import Part, text
from windlass.results import Results

#: The browser itself sees to it that the page loads nothing.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def write_report(results: Results, path: Path) -> None:
    """Write results as one HTML file, which opens from disk and loads nothing.

    It has the metrics, the distributions of wait and bounded slowdown, utilisation and queue over time, the
    reasons for which jobs started, and the scenario. What needs columns that the jobs tables lack is left
    out. The same results give the same bytes.

    Parameters
    ----------
    results
        Of any world.
    path
        The file; its folder is made.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from windlass.metrics import BatchMetrics
    >>> from windlass.results import Outcome, Results, VariantResult
    >>> metrics = BatchMetrics(1.0, 0.0, 0.0, 0.0, 60.0, 1.0, 0.5, 60.0)
    >>> jobs = pl.DataFrame({"submit_s": [0.0], "start_s": [0.0], "end_s": [60.0], "procs": [4]})
    >>> easy = VariantResult("easy", (), (Outcome(1, metrics, jobs, processors=8),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Results("one job", "", (easy,)), Path(folder) / "report.html")
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_page(results), encoding="utf-8")


def _page(results: Results) -> str:
    shown = lanes(results)
    parts = (
        Part(overview.head(results) + overview.notes(results)),
        Part(overview.metrics(results, shown) + overview.legend(shown)),
        distributions.section(shown),
        courses.section(shown),
        Part(breakdowns.reasons(shown) + breakdowns.classes(shown)),
        Part(overview.scenario(results) + overview.foot()),
    )
    plots = [plot for part in parts for plot in part.plots]
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{text(results.scenario)}</title>",
            f"<style>\n{_colours()}\n{_asset('page.css')}</style>\n</head>\n<body>",
            *(part.html for part in parts),
            _scripts(plots) if plots else "",
            "</body>\n</html>\n",
        )
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _colours() -> str:
    light = " ".join(f"--{ink.name}: {ink.light};" for ink in INKS)
    dark = " ".join(f"--{ink.name}: {ink.dark};" for ink in INKS)
    return f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"


def _scripts(plots: list[Plot]) -> str:
    figures = ",".join(f"{json.dumps(plot.key)}:{plot.figure.to_json()}" for plot in plots)
    inks = json.dumps({ink.light: ink.dark for ink in INKS})
    return (
        f'<script type="application/json" id="plots">{_inert("{" + figures + "}")}</script>\n'
        f'<script type="application/json" id="inks">{inks}</script>\n'
        f"<script>{get_plotlyjs()}</script>\n<script>\n{_asset('page.js')}</script>"
    )


def _inert(json_text: str) -> str:
    """JSON in which no text can end the script that holds it."""
    return json_text.replace("<", "\\u003c")
