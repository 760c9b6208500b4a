"""The report's section on the schedule: which job holds which processors, around the time of the longest queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from windlass.model.calendar import Calendar
from windlass.report.date_ticks import date_axis, show_dates
from windlass.report.figures import Plot, axis_style, framed_figure, plotted
from windlass.report.html_fragments import NOTHING, PageSection, figure, text
from windlass.report.job_columns import JobTimes, VariantLane, has, noun_of, times
from windlass.report.series import steps
from windlass.report.units import counted, duration, plural, time_unit

#: Maximum number of jobs of a panel.
MOST_JOBS: Final = 150
#: Maximum number of panels.
_MOST_PANELS: Final = 4
#: A shorter window is an instant at which more jobs run than a panel has, s.
_LEAST_WINDOW: Final = 1e-6
_PANEL, _GAP, _TOP, _BOTTOM = 190, 34, 26, 46
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class HeldRange:
    """A range of processors that a job holds: ``first`` to ``first + count``, from ``start`` to ``end`` (s).

    ``job`` is its position among the jobs.
    """

    job: int
    first: int
    count: int
    start: float
    end: float


def held_ranges(start: _Floats, end: _Floats, procs: NDArray[np.int64]) -> list[HeldRange]:
    """Return the processors of each job: the lowest free ones at its start, in one or several ranges.

    Simulated sites count processors without numbers, so this is one of many possible numberings.

    Parameters
    ----------
    start, end
        (n,) times of jobs, s; jobs that end at an instant free their processors before others start.
    procs
        (n,) number of processors.

    Examples
    --------
    >>> found = held_ranges(np.array([0.0, 0.0, 5.0]), np.array([5.0, 9.0, 8.0]), np.array([1, 2, 2]))
    >>> [(each.job, each.first, each.count) for each in found]
    [(0, 0, 1), (1, 1, 2), (2, 0, 1), (2, 3, 1)]
    """
    found: list[HeldRange] = []
    held: list[HeldRange] = []
    for job in np.lexsort((np.arange(len(start)), start)).tolist():
        at, until, wanted = float(start[job]), float(end[job]), int(procs[job])
        held = [each for each in held if each.end > at]
        first = 0
        for each in [*held, None]:
            room = wanted if each is None else min(wanted, each.first - first)
            if room > 0:
                found.append(HeldRange(job, first, room, at, until))
                wanted -= room
            if each is None or not wanted:
                break
            first = each.first + each.count
        held = sorted((*held, *(each for each in found[-len(held) - 1 :] if each.job == job)), key=_first)
    return found


def _on_workers(start: _Floats, end: _Floats, worker: NDArray[np.int64]) -> list[HeldRange]:
    """Return a box for each task, in the row of its worker."""
    each = zip(worker.tolist(), start.tolist(), end.tolist(), strict=True)
    return [HeldRange(task, row, 1, begin, until) for task, (row, begin, until) in enumerate(each)]


def _first(each: HeldRange) -> int:
    return each.first


def busiest_window(known: JobTimes, most: int = MOST_JOBS) -> tuple[float, float]:
    """Return a span in which at most ``most`` jobs run, around the time at which waiting jobs request most; s.

    Parameters
    ----------
    known
        Times of jobs.
    most
        Maximum number of jobs, except that a span has the jobs that run at one instant.

    Examples
    --------
    >>> at = np.arange(10.0)
    >>> busiest_window(JobTimes(at, at + (at == 5), at + 2.0, np.ones(10), 0), most=20)
    (0.0, 11.0)
    """
    begin, end = float(known.start.min()), float(known.end.max())
    waiting = steps(known.submit, known.start, known.procs)
    peak = float(waiting.time[int(np.argmax(waiting.value))]) if len(waiting.time) else begin
    starts, ends = np.sort(known.start), np.sort(known.end)

    def running(half: float) -> int:
        low, high = max(begin, peak - half), min(end, peak + half)
        return int(np.searchsorted(starts, high) - np.searchsorted(ends, low, side="right"))

    half = max(end - peak, peak - begin)
    if running(half) > most:
        least = 0.0
        for _ in range(60):
            middle = (least + half) / 2
            least, half = (middle, half) if running(middle) <= most else (least, middle)
        half = least
    return max(begin, peak - half), min(end, peak + half)


def section(lanes: tuple[VariantLane, ...]) -> PageSection:
    """Return the schedule of each variant, for the first seed, around the longest queue of the first with a queue.

    Empty if no job waits. A sentence if more jobs than a panel shows run at once.

    Parameters
    ----------
    lanes
        The variants.
    """
    able = [lane for lane in lanes if has(lane, "submit_s", "start_s", "end_s", "procs")]
    noun = noun_of(able)
    known_all = [(lane, times(lane.outcomes[:1])) for lane in able if lane.outcomes[0].processors > 0]
    known_all = [(lane, known) for lane, known in known_all if len(known.submit)]
    found = known_all[:_MOST_PANELS]
    if any(known.each > 1 for _, known in found):
        each = max(known.each for _, known in found)
        return PageSection(
            f"<section><h2>Schedule</h2><p>Not shown: one in {each:,} {plural(noun)} is in the table.</p></section>"
        )
    queued = [known for _, known in found if (known.start > known.submit).any()]
    if not queued:
        return NOTHING
    low, high = _common_window(queued[0], [known for _, known in found])
    if high - low < _LEAST_WINDOW:
        return PageSection(
            f"<section><h2>Schedule</h2><p>Not shown: more than {MOST_JOBS} jobs run at once at the longest queue."
            "</p></section>"
        )
    unit = time_unit([(high - low) / 3])
    first = float(found[0][1].submit.min())
    plot, shown = _drawn(found, low, high, first, unit.factor, unit.symbol)
    calendar = found[0][0].outcomes[0].calendar
    whole = max(len(known.submit) for _, known in found)
    on_workers = all(known.worker is not None for _, known in found)
    size = "row is the worker" if on_workers else "height is the number of processors"
    words = f"Each box is a {noun}: its {size}, its width the run time. "
    words += _span(low, high, first, calendar)
    if shown < whole:
        words += f" Shown: up to {counted(shown, noun)} of {whole:,}, around the longest queue."
    if not on_workers:
        words += " Processors are numbered from the lowest free one; nodes would be numbered otherwise."
    if len(found) < len(known_all):
        words += f" The first {len(found)} of {len(known_all)} variants are shown."
    if any(_sites(lane) > 1 for lane, _ in found):
        words += " Jobs of all sites are in one panel."
    boxes = figure(plot, f"{'Workers' if on_workers else 'Processors'} of {plural(noun)}", text(words))
    return PageSection(f'<section><h2>Schedule</h2><div class="plots">{boxes}</div></section>', (plot,))


def _sites(lane: VariantLane) -> int:
    """Return the number of sites of the jobs; 1 if the table has none."""
    return lane.outcomes[0].jobs["site"].n_unique() if has(lane, "site") else 1


def _common_window(queued: JobTimes, all_known: list[JobTimes]) -> tuple[float, float]:
    """Return the window of the first variant with a queue, cut so that no variant has too many jobs in it."""
    low, high = busiest_window(queued)
    for known in all_known:
        inside = (known.start < high) & (known.end > low)
        if inside.sum() > MOST_JOBS:
            # The jobs that run at the beginning come first, and then those that start.
            high = min(high, float(np.sort(np.maximum(known.start[inside], low))[MOST_JOBS]))
    return low, high


def _span(low: float, high: float, first: float, calendar: Calendar | None) -> str:
    if calendar is not None:
        return f"From {calendar.text(low)} to {calendar.text(high)}, {calendar.zone_text}."
    return f"From {duration(low - first)} to {duration(high - first)} after the first submission."


def _drawn(
    found: list[tuple[VariantLane, JobTimes]], low: float, high: float, first: float, factor: float, unit: str
) -> tuple[Plot, int]:
    """Return the figure, and the largest number of jobs in a panel."""
    count, shown = len(found), 0
    height = _TOP + count * _PANEL + (count - 1) * _GAP + _BOTTOM
    inner = height - _TOP - _BOTTOM
    drawn = make_subplots(count, 1, shared_xaxes=True, vertical_spacing=_GAP / inner if count > 1 else 0.0)
    drawn.update_layout(framed_figure().layout)
    for row, (lane, known) in enumerate(found, start=1):
        inside = (known.start < high) & (known.end > low) & (known.end > known.start)
        start, end, procs = known.start[inside], known.end[inside], known.procs[inside].astype(np.int64)
        shown = max(shown, len(start))
        boxes = (
            held_ranges(start, end, procs)
            if known.worker is None
            else _on_workers(start, end, known.worker[inside])
        )
        # Two shades, so that neighbouring jobs differ.
        for shade in (0, 1):
            x, y = _outlines([each for each in boxes if each.job % 2 == shade], low, high, first, factor)
            drawn.add_scatter(
                x=x,
                y=y,
                name=plotted(lane.name),
                meta=lane.position,
                mode="lines",
                fill="toself",
                line={"color": lane.stroke.ink.light, "width": 0.5},
                opacity=(0.55, 1.0)[shade],
                hoverinfo="skip",
                row=row,
                col=1,
            )
        tallest = {each.job: each for each in sorted(boxes, key=lambda each: each.count)}
        drawn.add_scatter(
            x=[
                round((max(low, at.start) + min(high, at.end)) / 2 * factor - first * factor, 3)
                for at in tallest.values()
            ],
            y=[at.first + at.count / 2 for at in tallest.values()],
            text=[
                f"{_where(at, procs[job], known)}, {duration(at.end - at.start)}"
                for job, at in tallest.items()
            ],
            name=plotted(lane.name),
            meta=lane.position,
            mode="markers",
            line={"color": lane.stroke.ink.light},
            marker={"opacity": 0.0},
            hoverinfo="text",
            row=row,
            col=1,
        )
        drawn.add_annotation(
            text=f"<b>{plotted(lane.name)}</b>",
            x=0,
            xref="paper",
            xanchor="left",
            y=1,
            yref=f"y{row if row > 1 else ''} domain",
            yanchor="bottom",
            showarrow=False,
            font={"color": lane.stroke.ink.light, "size": 12},
        )
        top = lane.outcomes[0].processors
        drawn.update_yaxes(axis_style(""), range=[0, top], row=row, col=1)
    drawn.update_xaxes(
        axis_style(""),
        range=[(low - first) * factor, (high - first) * factor],
        ticksuffix=f" {unit}",
        separatethousands=True,
    )
    dates = date_axis([lane for lane, _ in found], low, high - low, factor)
    show_dates(drawn, dates, (low - first) * factor)
    title = "time since the first submit" if dates is None else dates.title
    drawn.update_xaxes(title_text=title, row=count, col=1)
    drawn.update_layout(
        hovermode="closest", margin={"l": 62, "r": 20, "t": _TOP, "b": _BOTTOM}, height=height
    )
    return Plot("schedule", height, drawn, logarithmic=False), shown


def _where(box: HeldRange, procs: int, known: JobTimes) -> str:
    return counted(int(procs), "processor") if known.worker is None else f"worker {box.first}"


def _outlines(
    boxes: list[HeldRange], low: float, high: float, first: float, factor: float
) -> tuple[list[float | None], list[int | None]]:
    """Return the outlines of boxes as one line, separated by gaps."""
    x: list[float | None] = []
    y: list[int | None] = []
    for box in boxes:
        left, right = (round((max(low, min(high, at)) - first) * factor, 3) for at in (box.start, box.end))
        x += [left, right, right, left, left, None]
        y += [box.first, box.first, box.first + box.count, box.first + box.count, box.first, None]
    return x, y
