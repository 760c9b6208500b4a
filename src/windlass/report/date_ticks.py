"""Dates at the ticks of a time axis, on the clock of the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import plotly.graph_objects as go

from windlass.model.calendar import DAY, HOUR, Calendar
from windlass.report.figures import Ticks
from windlass.report.job_columns import VariantLane

#: The shortest and the longest axis with dates, s.
_LEAST: Final = 3 * HOUR
_LONGEST: Final = 300 * 365 * DAY
#: The most ticks of an axis.
_MOST: Final = 8
#: Steps of less than a month, s, and steps in months.
_STEPS: Final = (HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY)
_MONTHS: Final = (1, 2, 3, 6, 12, 24, 60, 120, 600, 1200)
#: 1970 began on a Thursday; weeks begin on Mondays.
_MONDAY: Final = 4 * DAY


@dataclass(frozen=True, slots=True)
class DateAxis:
    """Ticks of a time axis at round dates, and its title."""

    ticks: Ticks
    title: str


def date_axis(lanes: Sequence[VariantLane], first: float, span: float, factor: float) -> DateAxis | None:
    """Return the dates of a time axis; None without a calendar, and for an axis of less than three hours.

    Parameters
    ----------
    lanes
        The variants; the first outcome has the calendar.
    first
        The time at which the axis begins, s.
    span
        Length of the axis, s.
    factor
        Unit of the axis: a second is this many units.
    """
    calendar = lanes[0].outcomes[0].calendar if lanes and lanes[0].outcomes else None
    if calendar is None or not _LEAST <= span <= _LONGEST:
        return None
    return DateAxis(date_ticks(calendar, first, span, factor), f"date, {calendar.zone_text}")


def show_dates(plot: go.Figure, dates: DateAxis | None, by: float = 0.0) -> None:
    """Set the ticks of all time axes of a figure to dates; without dates, leave them.

    Parameters
    ----------
    plot
        The figure.
    dates
        The dates.
    by
        The place on the axis at which the dates begin, in the axis's unit.
    """
    if dates is not None:
        at = [each + by for each in dates.ticks.at]
        plot.update_xaxes(tickvals=at, ticktext=dates.ticks.text)


def date_ticks(calendar: Calendar, first: float, span: float, factor: float) -> Ticks:
    """Return ticks at round dates.

    Parameters
    ----------
    calendar
        The calendar of the log.
    first
        The time at which the axis begins, s.
    span
        Length of the axis, s.
    factor
        Unit of the axis: a second is this many units.

    Examples
    --------
    >>> ticks = date_ticks(Calendar(1_711_839_600.0, "UTC"), 0.0, 4 * DAY, 1 / DAY)
    >>> ticks.text
    ('31 Mar', '1 Apr', '2 Apr', '3 Apr')
    >>> [round(at, 3) for at in ticks.at]
    [0.042, 1.042, 2.042, 3.042]
    """
    begin, end = calendar.local(np.array([first, first + span])).tolist()
    step = next((each for each in _STEPS if (end - begin) / each < _MOST), None)
    clock = list(_whole(begin, end, step) if step is not None else _months(begin, end))
    # The offset of the zone may change within the axis.
    at = np.array(clock) - (begin - first)
    at += np.array(clock) - calendar.local(at)
    form = "%H:%M" if step is not None and step < DAY else "%b %Y" if step is None else ""
    words = tuple(_text(each, form, number == 0) for number, each in enumerate(clock))
    return Ticks(tuple(((at - first) * factor).tolist()), words)


def _whole(begin: float, end: float, step: float) -> Iterator[float]:
    origin = _MONDAY if step >= 7 * DAY else 0.0
    number = np.ceil((begin - origin) / step)
    while origin + number * step <= end:
        yield float(origin + number * step)
        number += 1


def _months(begin: float, end: float) -> Iterator[float]:
    first, last = _date(begin), _date(end)
    count = 12 * (last.year - first.year) + last.month - first.month
    step = next((each for each in _MONTHS if count / each < _MOST), _MONTHS[-1])
    number = -(-(12 * first.year + first.month - 1) // step) * step
    while True:
        at = (datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC) - _date(0.0)).total_seconds()
        if at > end:
            return
        if at >= begin:
            yield at
        number += step


def _date(clock: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=clock)


def _text(clock: float, form: str, first: bool) -> str:
    at = _date(clock)
    day = f"{at.day} {at:%b}"
    if form == "%H:%M":
        # Midnight has the date, and so does the first tick.
        return day if at.hour == 0 else f"{at:%H:%M}<br>{day}" if first else f"{at:%H:%M}"
    return at.strftime(form) if form else day
