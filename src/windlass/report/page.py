"""The frame of a page: styles, scripts and colours, in one file that loads no other files."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from plotly.offline import get_plotlyjs

from windlass.report import PAGE_PREFIX
from windlass.report.figures import Plot
from windlass.report.html_fragments import PageSection, text
from windlass.report.palette import INKS
from windlass.report.script import scatter_only

#: Content security policy with which the browser blocks all requests of the page.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def page(title: str, parts: Iterable[PageSection]) -> str:
    """Return the parts as one HTML document.

    >>> page("a < b", [PageSection("<p>c</p>")]).count("a &lt; b")
    1
    """
    shown = tuple(parts)
    plots = [plot for part in shown for plot in part.plots]
    return "\n".join(
        (
            PAGE_PREFIX.decode(),
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{text(title)}</title>",
            f"<style>\n{_colours()}\n{_asset('page.css')}</style>\n</head>\n<body>",
            *(part.html for part in shown),
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
        f'<script type="text/plain" id="plots">{_compressed("{" + figures + "}")}</script>\n'
        f'<script type="application/json" id="inks">{inks}</script>\n'
        f'<script type="text/plain" id="library">{_library()}</script>\n<script>\n{_asset("page.js")}</script>'
    )


@cache
def _library() -> str:
    """Return what figures need of Plotly's script, compressed."""
    return _compressed(scatter_only(get_plotlyjs()))


def _compressed(content: str) -> str:
    """Return a text compressed by gzip, in Base64; the same each time, and without a tag of HTML."""
    return base64.b64encode(gzip.compress(content.encode(), mtime=0)).decode()
