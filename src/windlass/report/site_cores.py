"""The report's section on the cores of each site over time: stacked areas, one for each load, below the capacity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.report.date_ticks import DateAxis, date_axis
from windlass.report.figures import Plot, framed_figure
from windlass.report.html_fragments import NOTHING, PageSection, chooser, figure, swatch
from windlass.report.job_columns import VariantLane
from windlass.report.palette import TEXT, fill
from windlass.report.series import bin_width
from windlass.report.stacks import area, limit, stacked
from windlass.report.timelines import MOST_BINS, axis_unit, bins_of, step_words
from windlass.report.units import Unit
from windlass.results import INSTANCES, Series

_HEIGHT = 230
_Lanes = Sequence[tuple[VariantLane, list[Series]]]


def section(lanes: tuple[VariantLane, ...]) -> PageSection:
    """Return a plot for each site of which there are series, for the first seed of each variant.

    Parameters
    ----------
    lanes
        All variants; the plots show one at a time.
    """
    words = (
        "The height of an area is the number of cores that a load uses, and the gap below the line is idle."
    )
    return _section(lanes, False, "cores", "Cores of each site, by load", words, "all cores")


def section_of_instances(lanes: tuple[VariantLane, ...]) -> PageSection:
    """Return a plot of the instances that jobs need below those that are paid for; empty without such series.

    Parameters
    ----------
    lanes
        All variants; the plot shows one at a time.
    """
    words = (
        "The height of an area is the number of instances that jobs need. Below the line, the gap is paid for and idle "
        "or starting; jobs above it wait for instances."
    )
    return _section(lanes, True, "instances", "Instances and need", words, "instances paid for")


def _section(
    lanes: tuple[VariantLane, ...], of_instances: bool, unit_of_values: str, title: str, lead: str, line: str
) -> PageSection:
    found = [
        (
            lane,
            [
                each
                for each in lane.outcomes[0].series
                if each.site and (each.site == INSTANCES) == of_instances
            ],
        )
        for lane in lanes
        if lane.outcomes
    ]
    every = [each for _, own in found for each in own if len(each.value)]
    if not every:
        return NOTHING
    span = max(float(each.time[-1] - each.time[0]) for each in every)
    width, unit = bin_width(span, MOST_BINS), axis_unit(span)
    loads = tuple(dict.fromkeys(each.load for each in every if each.load))
    first = min(float(each.time[0]) for each in every)
    dates = date_axis([lane for lane, _ in found], first, span, unit.factor)
    plots = {
        site: _plot(
            f"{unit_of_values}-{number}", site, found, loads, width, unit, dates, unit_of_values, line
        )
        for number, site in enumerate(dict.fromkeys(each.site for each in every))
    }
    figures = "".join(
        figure(plot, site.capitalize() if of_instances else site, "") for site, plot in plots.items()
    )
    keys = "".join(swatch(fill(place), load) for place, load in enumerate(loads))
    words = f"{lead} {step_words([lane for lane, _ in found], 0, width)}"
    return PageSection(
        f'<section><h2>{title}</h2><p class="lead">{words}</p>{chooser(lanes)}'
        f'<ul class="parts">{keys}{swatch(TEXT, line, line=True)}</ul>'
        f'<div class="plots">{figures}</div></section>',
        tuple(plots.values()),
    )


def _plot(
    key: str,
    site: str,
    found: _Lanes,
    loads: tuple[str, ...],
    width: float,
    unit: Unit,
    dates: DateAxis | None,
    values: str,
    line: str,
) -> Plot:
    plot, top = framed_figure(), 1.0
    for lane, series in found:
        own = {each.load: each for each in series if each.site == site and len(each.value)}
        total: NDArray[np.float64] | float = 0.0
        for place, load in enumerate(loads):
            if load in own:
                edges, bins = bins_of(own[load], width)
                total = total + bins.mean
                plot.add_trace(area(lane, place, load, edges * unit.factor, bins.mean))
        top = max(top, float(np.max(total)))
        if "" in own:
            edges, bins = bins_of(own[""], width)
            plot.add_trace(limit(lane, line, edges * unit.factor, bins.mean))
            top = max(top, float(bins.mean.max()))
    return stacked(key, _HEIGHT, plot, values, "time", unit, top, dates)
