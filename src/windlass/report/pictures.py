"""Figures of a reproduction: lines over numbers, or bars over names, in the style of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windlass.report.figures import LOGARITHMIC, Plot, axis_style, framed_figure, plotted
from windlass.report.html_fragments import PageSection, figure, text
from windlass.report.palette import TEXT, stroke


@dataclass(frozen=True, slots=True)
class Line:
    """One curve.

    Parameters
    ----------
    name
        Its name in the legend.
    x, y
        (n,) values.
    half_width
        (n,) half widths of error bars; empty for none.
    measured
        Whether the values are measured, not computed: they are dark points above the other curves.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    half_width: Sequence[float] = ()
    measured: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """Curves in one frame, or grouped bars if there are categories.

    Parameters
    ----------
    key
        Short name, unique within the reproduction.
    title, x_title, y_title
        Titles of the figure and of its axes, with units.
    lines
        The curves. With ``categories``, ``x`` holds indices of categories.
    caption
        Text below the figure.
    log_x, log_y
        Whether an axis is logarithmic.
    categories
        Names on the x axis, for bars; empty for lines.
    """

    key: str
    title: str
    x_title: str
    y_title: str
    lines: tuple[Line, ...]
    caption: str = ""
    log_x: bool = False
    log_y: bool = False
    categories: tuple[str, ...] = ()


def part(picture: Picture) -> PageSection:
    """Return the picture as a section of a page."""
    plot = _plot(picture)
    return PageSection(figure(plot, picture.title, text(picture.caption)), (plot,))


def _plot(picture: Picture) -> Plot:
    frame = framed_figure()
    for position, line in enumerate(picture.lines):
        drawn, ink = stroke(position), TEXT if line.measured else stroke(position).ink
        common = {"name": plotted(line.name), "meta": position}
        error = (
            {"array": list(line.half_width), "thickness": 1.2, "width": 3} if len(line.half_width) else None
        )
        if picture.categories:
            names = [picture.categories[int(place)] for place in line.x]
            frame.add_bar(x=names, y=list(line.y), error_y=error, marker={"color": ink.light}, **common)
        else:
            frame.add_scatter(
                x=list(line.x),
                y=list(line.y),
                error_y=error,
                mode="markers" if line.measured else "lines+markers" if len(line.x) <= 40 else "lines",
                line={"color": ink.light, "dash": drawn.dash, "width": 2},
                marker={"size": 4 if line.measured else 6, "color": ink.light},
                **common,
            )
    frame.update_xaxes(axis_style(picture.x_title), **(LOGARITHMIC if picture.log_x else {}))
    frame.update_yaxes(axis_style(picture.y_title), **(LOGARITHMIC if picture.log_y else {}))
    if picture.categories:
        frame.update_xaxes(type="category")
    frame.update_layout(
        showlegend=len(picture.lines) > 1,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        margin={"l": 66, "r": 20, "t": 40, "b": 50},
        hovermode="x unified" if len(picture.lines) <= 8 else "closest",
        barmode="group",
    )
    return Plot(picture.key, 380, frame, logarithmic=picture.log_y)
