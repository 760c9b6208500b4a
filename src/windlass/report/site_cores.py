"""The report's section on the cores of each site over time: stacked areas, one for each load, below the capacity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from windlass.report.figures import Plot, axis_style, framed_figure, plotted
from windlass.report.html_fragments import NOTHING, PageSection, chooser, figure, swatch
from windlass.report.job_columns import VariantLane
from windlass.report.palette import TEXT, fill
from windlass.report.series import bin_width
from windlass.report.timelines import MOST_BINS, axis_unit, bins_of, step_words
from windlass.report.units import Unit
from windlass.results import Series

_HEIGHT = 230
#: Fill patterns, one for each round of colours.
_PATTERNS = ("", "/", ".")
_COLOURS = 8
_Lanes = Sequence[tuple[VariantLane, list[Series]]]


def section(lanes: tuple[VariantLane, ...]) -> PageSection:
    """Return a plot for each site of which there are series, for the first seed of each variant.

    Parameters
    ----------
    lanes
        All variants; the plots show one at a time.
    """
    found = [
        (lane, [each for each in lane.outcomes[0].series if each.site]) for lane in lanes if lane.outcomes
    ]
    every = [each for _, own in found for each in own if len(each.value)]
    if not every:
        return NOTHING
    span = max(float(each.time[-1] - each.time[0]) for each in every)
    width, unit = bin_width(span, MOST_BINS), axis_unit(span)
    loads = tuple(dict.fromkeys(each.load for each in every if each.load))
    plots = {
        site: _plot(f"cores-{number}", site, found, loads, width, unit)
        for number, site in enumerate(dict.fromkeys(each.site for each in every))
    }
    figures = "".join(figure(plot, site, "") for site, plot in plots.items())
    keys = "".join(swatch(fill(place), load) for place, load in enumerate(loads))
    words = (
        "The height of an area is the number of cores that a load uses, and the gap below the line is idle. "
        f"{step_words([lane for lane, _ in found], 0, width)}"
    )
    return PageSection(
        f'<section><h2>Cores of each site, by load</h2><p class="lead">{words}</p>{chooser(lanes)}'
        f'<ul class="parts">{keys}{swatch(TEXT, "all cores", line=True)}</ul>'
        f'<div class="plots">{figures}</div></section>',
        tuple(plots.values()),
    )


def _plot(key: str, site: str, found: _Lanes, loads: tuple[str, ...], width: float, unit: Unit) -> Plot:
    plot, top = framed_figure(), 1.0
    for lane, series in found:
        own = {each.load: each for each in series if each.site == site and len(each.value)}
        total: NDArray[np.float64] | float = 0.0
        for place, load in enumerate(loads):
            if load in own:
                edges, bins = bins_of(own[load], width)
                total = total + bins.mean
                plot.add_trace(_area(lane, place, load, edges * unit.factor, bins.mean))
        top = max(top, float(np.max(total)))
        if "" in own:
            edges, bins = bins_of(own[""], width)
            plot.add_trace(_limit(lane, edges * unit.factor, bins.mean))
            top = max(top, float(bins.mean.max()))
    plot.update_xaxes(axis_style("time"), ticksuffix=f" {unit.symbol}", hoverformat=".4~g", nticks=6)
    # The axis is the same for all variants, so that their plots can be compared.
    plot.update_yaxes(axis_style("cores"), range=[0, 1.05 * top], nticks=6, fixedrange=True)
    plot.update_layout(
        hovermode="x unified", margin={"l": 62, "r": 20, "t": 8, "b": 46}, meta={"one_variant": True}
    )
    return Plot(key, _HEIGHT, plot, logarithmic=False)


def _area(
    lane: VariantLane, place: int, load: str, edges: NDArray[np.float64], mean: NDArray[np.float64]
) -> go.Scatter:
    ink = fill(place)
    return go.Scatter(
        **_line(lane, load, edges, mean),
        line={"color": ink.light, "width": 0, "shape": "hv"},
        stackgroup=f"variant-{lane.position}",
        fillcolor=ink.light,
        fillpattern={"shape": _PATTERNS[place // _COLOURS % len(_PATTERNS)]},
    )


def _limit(lane: VariantLane, edges: NDArray[np.float64], mean: NDArray[np.float64]) -> go.Scatter:
    return go.Scatter(
        **_line(lane, "all cores", edges, mean), line={"color": TEXT.light, "width": 1.6, "shape": "hv"}
    )


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
