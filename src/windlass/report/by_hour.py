"""The report's section on utilisation and wait by hour of day and weekday, on the clock of the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from windlass.model.calendar import DAY, HOUR, Calendar
from windlass.report.figures import Plot, axis_style, framed_figure, plotted
from windlass.report.html_fragments import NOTHING, PageSection, figure, text
from windlass.report.job_columns import JobTimes, VariantLane, has, times
from windlass.report.series import binned, steps
from windlass.report.timelines import use_words
from windlass.report.units import time_unit

#: Jobs that arrive in less time than this have no daily cycle, s.
_LEAST_SPAN: Final = 2 * DAY
#: Number of hours beyond which a log is not shown: it would span centuries.
_MOST_HOURS: Final = 2_000_000
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HEIGHT: Final = 260
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_Found = list[tuple[VariantLane, JobTimes]]


def section(lanes: tuple[VariantLane, ...]) -> PageSection:
    """Return utilisation and mean wait by hour, and utilisation by weekday, for the first seed of each variant.

    Jobs without whole processors, such as those of instances, have the share of submissions in place of utilisation.

    Without a calendar, hours count from the first submission, and weekdays are left out. Empty if jobs arrive within
    two days.

    Parameters
    ----------
    lanes
        The variants.
    """
    able = [lane for lane in lanes if has(lane, "submit_s", "start_s", "end_s")]
    found = [(lane, times(lane.outcomes[:1])) for lane in able]
    found = [(lane, known) for lane, known in found if _LEAST_SPAN <= _span(known) <= _MOST_HOURS * HOUR]
    if not found:
        return NOTHING
    calendar = found[0][0].outcomes[0].calendar
    hour = _hour_of(calendar, float(found[0][1].submit.min()))
    word, since = (
        ("hour of day", "") if calendar is not None else ("hour since the start", " since the start")
    )
    use = [
        (lane, *utilisation_by_hour(known, lane.outcomes[0].processors, calendar))
        for lane, known in found
        if has(lane, "procs") and lane.outcomes[0].processors > 0
    ]
    words = use_words(max((float(share.max()) for _, _, share in use), default=0.0))
    unit = time_unit([float(known.wait.mean()) for _, known in found])
    parts = [
        _part(
            "hour-wait",
            f"Wait by hour of submission{since}",
            "Mean wait of the jobs that are submitted in each hour.",
            [(lane, _mean_by(hour(known.submit), known.wait * unit.factor, 24)) for lane, known in found],
            _hours(24),
            f" {unit.symbol}",
        )
    ]
    if use:
        parts.insert(
            0,
            _part(
                "hour-utilisation",
                f"Utilisation by {word}",
                f"{words} From the first to the last submission.",
                [(lane, _mean_by(hour(begin), share, 24)) for lane, begin, share in use],
                _hours(24),
                " %",
            ),
        )
    else:
        # Instances have no fixed number of processors, so that arrivals stand for the load.
        parts.insert(0, _arrivals("hour-arrivals", f"Submissions by {word}", found, hour, _hours(24)))
    if calendar is not None and use:
        parts.append(
            _part(
                "weekday-utilisation",
                "Utilisation by weekday",
                f"{words} From the first to the last submission.",
                [(lane, _mean_by(calendar.weekday(begin), share, 7)) for lane, begin, share in use],
                _WEEKDAYS,
                " %",
            )
        )
    elif calendar is not None:
        parts.append(
            _arrivals("weekday-arrivals", "Submissions by weekday", found, calendar.weekday, _WEEKDAYS)
        )
    return PageSection(
        f'<section><h2>By {"hour and weekday" if calendar else "hour"}</h2><p class="lead">{_clock(calendar)}</p>'
        f'<div class="plots">{"".join(part.html for part in parts)}</div></section>',
        tuple(plot for part in parts for plot in part.plots),
    )


def dates(lanes: Sequence[VariantLane]) -> str:
    """Return the first and the last submission as dates with the zone, for the header; empty without a calendar."""
    for lane in lanes:
        calendar = lane.outcomes[0].calendar if lane.outcomes else None
        if calendar is not None and has(lane, "submit_s"):
            submit = lane.outcomes[0].jobs["submit_s"].to_numpy()
            first, last = (calendar.text(float(at))[:14] for at in (submit.min(), submit.max()))
            return f"{first} to {last}, {calendar.zone_text}"
    return ""


def utilisation_by_hour(
    known: JobTimes, processors: int, calendar: Calendar | None = None
) -> tuple[_Floats, _Floats]:
    """Return the beginning of each whole hour between the first and the last submission, and its utilisation in %.

    Parameters
    ----------
    known
        Times and processors of jobs.
    processors
        Processors of the site.
    calendar
        Whole hours are those of its clock; without one, they count from the first submission.
    """
    first = float(known.submit.min())
    if calendar is not None:
        first += -float(calendar.local(np.array([first]))[0]) % HOUR
    count = int((float(known.submit.max()) - first) // HOUR) + 1
    edges = first + HOUR * np.arange(count, dtype=np.float64)
    held = binned(steps(known.start, known.end, known.each * known.procs), edges).mean
    return edges[:-1], held * (100 / processors)


def _arrivals(
    key: str, title: str, found: _Found, group: Callable[[_Floats], _Ints], labels: Sequence[str]
) -> PageSection:
    """Return the share of jobs that are submitted in each hour or on each weekday."""
    counts = [(lane, np.bincount(group(known.submit), minlength=len(labels))) for lane, known in found]
    curves = [(lane, 100 * count / count.sum()) for lane, count in counts]
    return _part(key, title, "Share of the jobs.", curves, labels, " %")


def _span(known: JobTimes) -> float:
    return float(known.submit.max() - known.submit.min()) if len(known.submit) else 0.0


def _hour_of(calendar: Calendar | None, first: float) -> Callable[[_Floats], _Ints]:
    """Return the function from times to hours of the day."""
    if calendar is not None:
        return calendar.hour_of_day
    return lambda at: np.floor((at - first) / HOUR).astype(np.int64) % 24


def _mean_by(group: _Ints, values: _Floats, count: int) -> _Floats:
    """Return (count,) the mean of the values of each group; NaN for a group without one."""
    weight = np.bincount(group, minlength=count)
    found = np.full(count, np.nan)
    present = weight > 0
    found[present] = np.bincount(group, values, count)[present] / weight[present]
    return found


def _hours(count: int) -> tuple[str, ...]:
    return tuple(str(hour) for hour in range(count))


def _part(
    key: str,
    title: str,
    caption: str,
    curves: Sequence[tuple[VariantLane, _Floats]],
    labels: Sequence[str],
    unit: str,
) -> PageSection:
    figure_ = framed_figure()
    # The first and the last value are repeated at the frame, so that their steps are as wide as the others.
    last = len(labels) - 1
    place = [0, *range(last + 1), last]
    x = [-0.5, *range(last + 1), last + 0.5]
    for lane, values in curves:
        figure_.add_scatter(
            name=plotted(lane.name),
            meta=lane.position,
            x=x,
            y=np.round(values, 4)[place],
            line={"color": lane.stroke.ink.light, "dash": lane.stroke.dash, "width": 2.2, "shape": "hvh"},
            mode="lines",
            text=[labels[at] for at in place],
            hovertemplate=f"<b>{plotted(lane.name)}</b><br>%{{text}}: %{{y:.3~g}}{unit}<extra></extra>",
        )
    every = 3 if len(labels) > len(_WEEKDAYS) else 1
    figure_.update_xaxes(
        axis_style(""),
        tickvals=list(range(0, len(labels), every)),
        ticktext=list(labels[::every]),
        range=[-0.5, len(labels) - 0.5],
    )
    figure_.update_yaxes(axis_style(""), rangemode="tozero", ticksuffix=unit)
    figure_.update_layout(hovermode="closest", margin={"l": 62, "r": 20, "t": 10, "b": 34})
    plot = Plot(key, _HEIGHT, figure_, logarithmic=False)
    return PageSection(figure(plot, title, text(caption)), (plot,))


def _clock(calendar: Calendar | None) -> str:
    if calendar is None:
        return (
            "The jobs have no dates: they are drawn, the log does not state when it began, or arrivals were changed. "
            "Hours count from the first submission, modulo 24."
        )
    if calendar.zone is None:
        return "Times of the log have no zone, so hours are those of its own clock."
    return f"Times are in the zone of the log, {text(calendar.zone)}."
