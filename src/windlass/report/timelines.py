"""The report's section on utilisation and queue over time, with a panel per variant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from windlass.report.date_ticks import DateAxis, date_axis
from windlass.report.html_fragments import NOTHING, PageSection, figure
from windlass.report.job_columns import JOB, JobTimes, VariantLane, has, noun_of, times
from windlass.report.panels import VariantTimeline, panels
from windlass.report.series import Binned, Steps, bin_edges, bin_width, binned, steps
from windlass.report.units import Unit, counted, duration, plural, time_unit
from windlass.results import Series

#: Maximum number of steps of a timeline.
MOST_BINS = 200
#: A unit of time is used for an axis if the axis spans at least this many of it.
_ENOUGH_UNITS = 3
_Found = list[tuple[VariantLane, JobTimes]]


def section(lanes: tuple[VariantLane, ...]) -> PageSection:
    """Return utilisation, waiting jobs and their requested processors over time, for the first seed of each variant."""
    found = [(lane, times(lane.outcomes[:1])) for lane in lanes if has(lane, "submit_s", "start_s", "end_s")]
    found = [(lane, known) for lane, known in found if len(known.submit)]
    span = max((_span(known) for _, known in found), default=0.0)
    if not found:
        return NOTHING
    if span <= 0:
        return PageSection(
            "<section><h2>Over time</h2><p>All jobs end at the time of the first submission.</p></section>"
        )
    width = bin_width(span, MOST_BINS)
    first, factor = float(found[0][1].submit.min()), axis_unit(span).factor
    dates = date_axis([lane for lane, _ in found], first, span, factor)
    wide = [(lane, known) for lane, known in found if has(lane, "procs")]
    noun = noun_of([lane for lane, _ in found])
    # If no job waited, the section on waits says so, and a plot of the queue would be empty.
    queued = any(known.queued for _, known in found)
    # Tasks have one processor each, so that the processors of waiting tasks are their number.
    larger = wide if noun == JOB and queued else []
    parts = (
        _utilisation(
            [(lane, known) for lane, known in wide if lane.outcomes[0].processors > 0],
            span,
            width,
            dates,
            noun,
        ),
        _waiting(found if queued else [], span, width, dates, noun),
        _requested(larger, span, width, dates),
    )
    if not any(part.html for part in parts):
        return NOTHING
    words = step_words([lane for lane, _ in found], sum(known.lacking for _, known in found), width, noun)
    words += _sampled(found, noun)
    return PageSection(
        f'<section><h2>Over time</h2><p class="lead">{words}</p>'
        f'<div class="plots">{"".join(part.html for part in parts)}</div></section>',
        tuple(plot for part in parts for plot in part.plots),
    )


def section_of_series(lanes: tuple[VariantLane, ...], title: str = "Over time") -> PageSection:
    """Return a plot for each time series of a world, for the first seed of each variant.

    Series of a site are left out (:mod:`windlass.report.site_cores`).

    Parameters
    ----------
    lanes
        The variants.
    title
        Heading of the section.
    """
    found = [
        (lane, [each for each in lane.outcomes[0].series if not each.site]) for lane in lanes if lane.outcomes
    ]
    spans = [float(each.time[-1] - each.time[0]) for _, own in found for each in own if len(each.value)]
    span = max(spans, default=0.0)
    if span <= 0:
        return NOTHING
    width, unit = bin_width(span, MOST_BINS), axis_unit(span)
    names = dict.fromkeys(each.name for _, own in found for each in own if len(each.value))
    first = min(float(each.time[0]) for _, own in found for each in own if len(each.value))
    dates, parts = date_axis([lane for lane, _ in found], first, span, unit.factor), []
    for number, name in enumerate(names):
        known = [(lane, each) for lane, own in found for each in own if each.name == name]
        percent = known[0][1].percent
        plot = panels(
            f"series-{number}",
            [_series_course(lane, each, width, unit) for lane, each in known if len(each.value)],
            unit.symbol,
            " %" if percent else "",
            band=False,
            ceiling=100.0 if percent else 0.0,
            axis="time",
            dates=dates,
        )
        parts.append(
            PageSection(
                figure(plot, name[:1].upper() + name[1:], f"Mean over each {duration(width)}."), (plot,)
            )
        )
    return PageSection(
        f'<section><h2>{title}</h2><p class="lead">'
        f"{step_words([lane for lane, _ in found], 0, width)}</p>"
        f'<div class="plots">{"".join(part.html for part in parts)}</div></section>',
        tuple(plot for part in parts for plot in part.plots),
    )


def _series_course(lane: VariantLane, series: Series, width: float, unit: Unit) -> VariantTimeline:
    edges, bins = bins_of(series, width)
    return VariantTimeline(lane, edges * unit.factor, bins)


def bins_of(series: Series, width: float) -> tuple[NDArray[np.float64], Binned]:
    """Return the edges of a series' bins, s since its first time, and its values over them."""
    edges = bin_edges(float(series.time[-1] - series.time[0]), width)
    scale = 100.0 if series.percent else 1.0
    return edges, binned(Steps(series.time[:-1] - series.time[0], scale * series.value), edges)


def _sampled(found: _Found, noun: str) -> str:
    most = max(known.each for _, known in found)
    return f" Estimates: one in {most:,} {plural(noun)} is in the table." if most > 1 else ""


def step_words(shown: list[VariantLane], lacking: int, width: float, noun: str = JOB) -> str:
    """Return what a step of a timeline covers, and what is not shown."""
    seeds = max(len(lane.outcomes) for lane in shown)
    first = f" Only the first of {seeds} seeds is shown." if seeds > 1 else ""
    without = f" Not shown: {counted(lacking, noun)} without a start or end time." if lacking else ""
    zoom = '<span class="screen"> Drag across a plot to zoom in; double-click to zoom out.</span>'
    return f"Each step covers {duration(width)}.{first}{without}{zoom}"


def _span(known: JobTimes) -> float:
    return float(known.end.max() - known.submit.min())


def _courses(
    found: _Found, span: float, width: float, what: Callable[[VariantLane, JobTimes], Steps], unit: Unit
) -> list[VariantTimeline]:
    return [_course(lane, known, what(lane, known), span, width, unit) for lane, known in found]


def _course(
    lane: VariantLane, known: JobTimes, function: Steps, span: float, width: float, unit: Unit
) -> VariantTimeline:
    own = _span(known)
    if own <= 0:
        return VariantTimeline(lane, np.array([0.0, span * unit.factor]), Binned(np.zeros(1), np.zeros(1)))
    edges = bin_edges(own, width)
    since_first = Steps(function.time - known.submit.min(), function.value)
    return VariantTimeline(lane, edges * unit.factor, binned(since_first, edges))


def axis_unit(span: float) -> Unit:
    """Return the unit of a time axis of this length, s."""
    return time_unit([span / _ENOUGH_UNITS])


def _utilisation(found: _Found, span: float, width: float, dates: DateAxis | None, noun: str) -> PageSection:
    if not found:
        return NOTHING
    unit = axis_unit(span)
    courses = _courses(found, span, width, _use, unit)
    plot = panels("utilisation", courses, unit.symbol, " %", band=False, ceiling=100.0, dates=dates)
    # An estimate from some of the tasks may exceed 100 % by chance.
    whole = [course for course, (_, known) in zip(courses, found, strict=True) if known.each == 1]
    most = max((float(course.bins.mean.max()) for course in whole), default=0.0)
    caption = f"{use_words(most, noun)} Mean over each {duration(width)}."
    return PageSection(figure(plot, "Utilisation", caption), (plot,))


def use_words(most: float, noun: str = JOB) -> str:
    """Return what a utilisation is, given the highest one, in %.

    Jobs that share processors make it exceed 100 %.

    >>> use_words(100.0)
    'Processors of the running jobs, as a share of all processors.'
    """
    words = f"Processors of the running {plural(noun)}, as a share of all processors."
    return f"{words} It exceeds 100 % while jobs share processors." if round(most, 6) > 100 else words


def _use(lane: VariantLane, known: JobTimes) -> Steps:
    held = steps(known.start, known.end, known.each * known.procs)
    return Steps(held.time, held.value * (100 / lane.outcomes[0].processors))


def _waiting(found: _Found, span: float, width: float, dates: DateAxis | None, noun: str) -> PageSection:
    if not found:
        return NOTHING
    unit = axis_unit(span)
    courses = _courses(
        found,
        span,
        width,
        lambda _, known: steps(known.submit, known.start, np.full(len(known.submit), float(known.each))),
        unit,
    )
    plot = panels("waiting", courses, unit.symbol, "", band=True, dates=dates)
    return PageSection(
        figure(plot, f"{plural(noun).capitalize()} waiting", _band_words(width, plot.logarithmic)), (plot,)
    )


def _requested(found: _Found, span: float, width: float, dates: DateAxis | None) -> PageSection:
    if not found:
        return NOTHING
    unit = axis_unit(span)
    courses = _courses(
        found, span, width, lambda _, known: steps(known.submit, known.start, known.procs), unit
    )
    plot = panels("requested", courses, unit.symbol, "", band=True, dates=dates)
    return PageSection(
        figure(plot, "Processors requested by waiting jobs", _band_words(width, plot.logarithmic)), (plot,)
    )


def _band_words(width: float, logarithmic: bool) -> str:
    scale = " The axis is logarithmic in 1 + n." if logarithmic else ""
    return (
        f"Line: mean over each {duration(width)}. Shaded: up to the peak in that time, however short.{scale}"
    )
