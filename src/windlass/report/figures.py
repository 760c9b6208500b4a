"""The common style of the page's figures, and the figure of cumulative distributions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from windlass.model.text import printable
from windlass.report.job_columns import VariantLane
from windlass.report.palette import AXIS, GRID, PAPER, QUIET, RAISED, TEXT
from windlass.report.series import Distribution

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure of the page.

    Parameters
    ----------
    key
        Identifier of the figure's element in the page.
    height
        Height, px.
    figure
        The figure, in the colours of the light theme.
    logarithmic
        Whether the axis of its values is logarithmic.
    """

    key: str
    height: int
    figure: go.Figure
    logarithmic: bool


@dataclass(frozen=True, slots=True)
class Ticks:
    """Positions and labels of an axis's ticks."""

    at: tuple[float, ...]
    text: tuple[str, ...]


_TIMES = (
    (0.001, "1 ms"), (0.01, "10 ms"), (0.1, "100 ms"), (1, "1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"),
    (3600, "1 h"), (6 * 3600, "6 h"), (86400, "1 d"), (7 * 86400, "7 d"), (30 * 86400, "30 d"),
    (365 * 86400, "1 y"), (3650 * 86400, "10 y"),
)  # fmt: skip
TIME_TICKS = Ticks(tuple(at for at, _ in _TIMES), tuple(label for _, label in _TIMES))
#: A logarithmic axis whose ticks between powers of ten are whole numbers: plotly alone shortens 20 to 2.
LOGARITHMIC = {"type": "log", "tickformat": ",~g"}
_SHARES = Ticks((0, 25, 50, 75, 100), ("0 %", "25 %", "50 %", "75 %", "100 %"))
_HALF_NAME = 19
DECADE_TICKS = Ticks(
    tuple(10.0**power for power in range(13)),
    ("1", "10", "100", "1k", "10k", "100k", "1M", "10M", "100M", "1G", "10G", "100G", "1T"),
)


def cumulative(
    key: str,
    curves: Sequence[tuple[VariantLane, Distribution]],
    title: str,
    ticks: Ticks,
    sentence: Callable[[float], str],
    noun: str = "jobs",
) -> Plot:
    """Plot cumulative distributions in one frame, with values on a logarithmic axis.

    Parameters
    ----------
    key
        Key of the plot.
    curves
        The distribution of each variant.
    title, ticks
        Title and ticks of the value axis.
    sentence
        Formats a value as the end of the sentence "N % of jobs …".
    noun
        Name of the counted things, in the plural.
    """
    figure = framed_figure()
    for lane, curve in curves:
        figure.add_scatter(
            name=plotted(lane.name),
            meta=lane.position,
            x=curve.value,
            y=100 * curve.share,
            text=[sentence(value) for value in curve.value],
            line={"color": lane.stroke.ink.light, "dash": lane.stroke.dash, "width": 2.2, "shape": "hv"},
            mode="lines",
            hovertemplate=f"<b>{plotted(lane.name)}</b><br>%{{y:.1f}} % of {noun} %{{text}}<extra></extra>",
        )
    lowest = min(float(curve.value[0]) for _, curve in curves)
    highest = max(float(curve.value[-1]) for _, curve in curves)
    reach = math.log10(max(highest, 10 * lowest))
    figure.update_xaxes(
        axis_style(title),
        type="log",
        tickvals=ticks.at,
        ticktext=ticks.text,
        range=[math.log10(lowest), reach * 1.01],
    )
    figure.update_yaxes(
        axis_style(f"share of {noun}"), range=[0, 102], tickvals=_SHARES.at, ticktext=_SHARES.text
    )
    figure.update_layout(hovermode="closest", margin={"l": 62, "r": 20, "t": 10, "b": 46})
    return Plot(key, 340, figure, logarithmic=True)


def plotted(name: str) -> str:
    """Return a name as plotly markup for the same text; the middle of a long name is omitted.

    >>> plotted("a<b>"), plotted("easy, " + "x" * 60 + ", processors=64")
    ('a&lt;b&gt;', 'easy, xxxxxxxxxxxxx…xxxx, processors=64')
    """
    if len(name) > 2 * _HALF_NAME + 1:
        # Variants often differ only at the end of their names.
        name = f"{name[:_HALF_NAME]}…{name[-_HALF_NAME:]}"
    # Plotly does not decode entities for quotes, and expands %{…} in a name as a template.
    return escape(printable(name), quote=False).replace("%{", "% {")


def framed_figure() -> go.Figure:
    return go.Figure(
        layout={
            "template": "none",
            "showlegend": False,
            "paper_bgcolor": PAPER.light,
            "plot_bgcolor": PAPER.light,
            "font": {"family": FONT, "size": 12, "color": TEXT.light},
            "hoverlabel": {
                "bgcolor": RAISED.light,
                "bordercolor": AXIS.light,
                "font": {"family": FONT, "size": 12, "color": TEXT.light},
                "namelength": -1,
            },
            "dragmode": "zoom",
        }
    )


def axis_style(title: str) -> dict[str, object]:
    return {
        "title": {"text": title, "font": {"size": 12, "color": QUIET.light}, "standoff": 8},
        "gridcolor": GRID.light,
        "linecolor": AXIS.light,
        "tickcolor": AXIS.light,
        "tickfont": {"size": 11, "color": QUIET.light},
        "showline": True,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
    }
