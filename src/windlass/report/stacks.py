"""Stacked areas over time, of which the page shows one variant at a time."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from windlass.report.date_ticks import DateAxis, show_dates
from windlass.report.figures import Plot, axis_style, plotted
from windlass.report.job_columns import VariantLane
from windlass.report.palette import TEXT, fill
from windlass.report.units import Unit

#: Fill patterns, one for each round of colours.
_PATTERNS = ("", "/", ".")
_COLOURS = 8


def area(
    lane: VariantLane, place: int, name: str, edges: NDArray[np.float64], mean: NDArray[np.float64]
) -> go.Scatter:
    """Return the area of a variant that lies on those added before.

    Parameters
    ----------
    lane
        The variant.
    place
        Position of the area in the stack, which chooses its colour.
    name
        Name in the legend.
    edges
        (k + 1,) edges of the bins, in the unit of the time axis.
    mean
        (k,) values.
    """
    ink = fill(place)
    return go.Scatter(
        **_line(lane, name, edges, mean),
        line={"color": ink.light, "width": 0, "shape": "hv"},
        stackgroup=f"variant-{lane.position}",
        fillcolor=ink.light,
        fillpattern={"shape": _PATTERNS[place // _COLOURS % len(_PATTERNS)]},
    )


def limit(lane: VariantLane, name: str, edges: NDArray[np.float64], mean: NDArray[np.float64]) -> go.Scatter:
    """Return a line above the areas; the parameters are those of :func:`area`."""
    return go.Scatter(
        **_line(lane, name, edges, mean), line={"color": TEXT.light, "width": 1.6, "shape": "hv"}
    )


def stacked(
    key: str,
    height: int,
    plot: go.Figure,
    values: str,
    times: str,
    unit: Unit,
    top: float,
    dates: DateAxis | None = None,
) -> Plot:
    """Return a figure of areas as a plot.

    Parameters
    ----------
    key, height
        Key and height (px) of the plot.
    plot
        The figure with its areas.
    values, times
        Titles of the axes.
    unit
        Unit of the time axis.
    top
        The largest sum of all variants: the axis is the same for all, so that they can be compared.
    dates
        Dates at the ticks of the time axis, with their title; None for times.
    """
    plot.update_xaxes(
        axis_style(times if dates is None else dates.title),
        ticksuffix=f" {unit.symbol}",
        hoverformat=".4~g",
        nticks=6,
    )
    show_dates(plot, dates)
    plot.update_yaxes(axis_style(values), range=[0, 1.05 * top], nticks=6, fixedrange=True)
    plot.update_layout(
        hovermode="x unified", margin={"l": 62, "r": 20, "t": 8, "b": 46}, meta={"one_variant": True}
    )
    return Plot(key, height, plot, logarithmic=False)


def _line(
    lane: VariantLane, name: str, edges: NDArray[np.float64], mean: NDArray[np.float64]
) -> dict[str, object]:
    return {
        "name": plotted(name),
        "meta": lane.position,
        "x": edges,
        "y": np.round(np.append(mean, mean[-1]), 2),
        "mode": "lines",
        "hovertemplate": "%{y:,.4~g}",
    }
