"""The report's section on the cores of each site over time: stacked areas, one for each load, below the capacity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a section shows: whether instances, the unit of values, its title, what an area means, the line's name."""

    of_instances: bool
    values: str
    title: str
    lead: str
    line: str

    def shows(self, series: Series) -> bool:
        """Return whether a series is of this kind."""
        return bool(series.site) and (series.site == INSTANCES) == self.of_instances


@dataclass(frozen=True, slots=True)
class _TimeAxis:
    """The time axis of all plots: the width of bins, s, the unit, and dates if they are known."""

    width: float
    unit: Unit
    dates: DateAxis | None


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
    return _section(lanes, _Kind(False, "cores", "Cores of each site, by load", words, "all cores"))


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
    return _section(lanes, _Kind(True, "instances", "Instances and need", words, "instances paid for"))


def _section(lanes: tuple[VariantLane, ...], kind: _Kind) -> PageSection:
    found = [
        (lane, [each for each in lane.outcomes[0].series if kind.shows(each)])
        for lane in lanes
        if lane.outcomes
    ]
    every = [each for _, own in found for each in own if len(each.value)]
    if not every:
        return NOTHING
    axis = _time_axis(found, every)
    loads = tuple(dict.fromkeys(each.load for each in every if each.load))
    plots = {
        site: _plot(number, site, found, loads, axis, kind)
        for number, site in enumerate(dict.fromkeys(each.site for each in every))
    }
    figures = "".join(
        figure(plot, site.capitalize() if kind.of_instances else site, "") for site, plot in plots.items()
    )
    keys = "".join(swatch(fill(place), load) for place, load in enumerate(loads))
    words = f"{kind.lead} {step_words([lane for lane, _ in found], 0, axis.width)}"
    return PageSection(
        f'<section><h2>{kind.title}</h2><p class="lead">{words}</p>{chooser(lanes)}'
        f'<ul class="parts">{keys}{swatch(TEXT, kind.line, line=True)}</ul>'
        f'<div class="plots">{figures}</div></section>',
        tuple(plots.values()),
    )


def _time_axis(found: _Lanes, every: Sequence[Series]) -> _TimeAxis:
    span = max(float(each.time[-1] - each.time[0]) for each in every)
    first, unit = min(float(each.time[0]) for each in every), axis_unit(span)
    dates = date_axis([lane for lane, _ in found], first, span, unit.factor)
    return _TimeAxis(bin_width(span, MOST_BINS), unit, dates)


def _plot(
    number: int, site: str, found: _Lanes, loads: tuple[str, ...], axis: _TimeAxis, kind: _Kind
) -> Plot:
    plot, top = framed_figure(), 1.0
    for lane, series in found:
        own = {each.load: each for each in series if each.site == site and len(each.value)}
        total: NDArray[np.float64] | float = 0.0
        for place, load in enumerate(loads):
            if load in own:
                edges, bins = bins_of(own[load], axis.width)
                total = total + bins.mean
                plot.add_trace(area(lane, place, load, edges * axis.unit.factor, bins.mean))
        top = max(top, float(np.max(total)))
        if "" in own:
            edges, bins = bins_of(own[""], axis.width)
            plot.add_trace(limit(lane, kind.line, edges * axis.unit.factor, bins.mean))
            top = max(top, float(bins.mean.max()))
    key = f"{kind.values}-{number}"
    return stacked(key, _HEIGHT, plot, kind.values, "time", axis.unit, top, axis.dates)
