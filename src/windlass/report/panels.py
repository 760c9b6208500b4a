"""Timelines: one panel per variant, stacked, all with the same axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from windlass.report.date_ticks import DateAxis, show_dates
from windlass.report.figures import DECADE_TICKS, Plot, Ticks, axis_style, framed_figure, plotted
from windlass.report.job_columns import VariantLane
from windlass.report.series import Binned

_PANEL, _GAP, _TOP, _BOTTOM = 76, 30, 26, 46
#: Panels with a peak of at least this have a logarithmic axis, because one busy variant would flatten the others.
_LOGARITHMIC_FROM = 100.0
_MOST_DECADES = 3


@dataclass(frozen=True, slots=True)
class VariantTimeline:
    """One variant over time, in bins: ``edges`` in the unit of the time axis, mean and peak in that of the values."""

    lane: VariantLane
    edges: NDArray[np.float64]
    bins: Binned


def panels(
    key: str,
    courses: Sequence[VariantTimeline],
    unit: str,
    suffix: str,
    *,
    band: bool,
    ceiling: float = 0.0,
    axis: str = "time since the first submit",
    dates: DateAxis | None = None,
) -> Plot:
    """Plot one panel per variant, stacked, all with the same axes.

    Parameters
    ----------
    key
        Key of the plot.
    courses
        The timeline of each variant.
    unit
        Unit of time, such as ``d``.
    suffix
        Suffix of values, such as `` %``.
    band
        Whether to shade the range from mean to peak; if False, the area under the mean is shaded.
    ceiling
        Minimum upper end of the value axis.
    axis
        Title of the time axis.
    dates
        Dates at its ticks, and the title that says of which clock; None for times.
    """
    # Without bands only means are drawn, and an axis up to the peaks would squeeze them.
    top = max(
        ceiling, *(float((course.bins.peak if band else course.bins.mean).max()) for course in courses), 1.0
    )
    logarithmic = top >= _LOGARITHMIC_FROM and band
    scale: Callable[[NDArray[np.float64]], NDArray[np.float64]] = (
        _log_from_zero if logarithmic else np.asarray
    )
    height = _TOP + _BOTTOM + len(courses) * (_PANEL + _GAP) - _GAP
    figure = framed_figure()
    for row, course in enumerate(courses):
        place = "" if row == 0 else str(row + 1)
        for trace in _lines(course, scale, suffix, band):
            figure.add_trace(trace.update(xaxis="x", yaxis=f"y{place}"))
        _add_axis(
            figure,
            place,
            row,
            len(courses),
            _panel_ticks(top, suffix, logarithmic),
            float(scale(np.array(top))),
        )
        _add_name(figure, course, f"y{place} domain")
    style = axis_style(axis if dates is None else dates.title)
    figure.update_xaxes(style, anchor=f"y{place}", ticksuffix=f" {unit}", hoverformat=".4~g", nticks=8)
    show_dates(figure, dates)
    figure.update_layout(
        hovermode="x unified", hoversubplots="axis", margin={"l": 62, "r": 20, "t": _TOP, "b": _BOTTOM}
    )
    return Plot(key, height, figure, logarithmic)


def _lines(
    course: VariantTimeline,
    scale: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    suffix: str,
    band: bool,
) -> list[go.Scatter]:
    mean, peak = course.bins.mean, course.bins.peak
    texts = [
        _short(average) + suffix + (f" on average, at most {_short(most)}{suffix}" if band else "")
        for average, most in zip(mean, peak, strict=True)
    ]
    ink = course.lane.stroke.ink
    line = go.Scatter(
        name=plotted(course.lane.name),
        meta=course.lane.position,
        x=course.edges,
        y=_held(scale(mean)),
        text=[*texts, texts[-1]],
        line={"color": ink.light, "width": 1.4, "shape": "hv"},
        mode="lines",
        hovertemplate="%{text}",
        fill="none" if band else "tozeroy",
        fillcolor=f"{ink.light}38",
    )
    ceiling = go.Scatter(
        name=plotted(course.lane.name),
        meta=course.lane.position,
        x=course.edges,
        y=_held(scale(peak)),
        line={"color": ink.light, "width": 0, "shape": "hv"},
        mode="lines",
        hoverinfo="skip",
        fill="tonexty",
        fillcolor=f"{ink.light}48",
    )
    return [line, ceiling] if band else [line]


def _held(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.append(values, values[-1])


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def _log_from_zero(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log10(1.0 + values)


def _panel_ticks(top: float, suffix: str, logarithmic: bool) -> Ticks:
    if not logarithmic:
        step = _round_step(top / 2)
        at = [step * count for count in range(int(top / step) + 1)]
        return Ticks(tuple(at), tuple(f"{value:,.4g}{suffix}" for value in at))
    powers = range(1, int(math.log10(top)) + 1)
    stride = math.ceil(len(powers) / _MOST_DECADES)
    shown = powers[stride - 1 :: stride]
    return Ticks(
        (0.0, *(math.log10(1 + 10.0**power) for power in shown)),
        ("0", *(DECADE_TICKS.text[power] + suffix for power in shown)),
    )


def _round_step(about: float) -> float:
    power = 10.0 ** math.floor(math.log10(about))
    return power * max(step for step in (1, 2, 2.5, 5) if step * power <= about * 1.0001)


def _add_axis(figure: go.Figure, place: str, row: int, rows: int, ticks: Ticks, top: float) -> None:
    inner = rows * (_PANEL + _GAP) - _GAP
    upper = 1 - row * (_PANEL + _GAP) / inner
    figure.layout[f"yaxis{place}"] = {
        **axis_style(""),
        "domain": [max(0.0, upper - _PANEL / inner), upper],
        "range": [0, top * 1.04],
        "tickvals": ticks.at,
        "ticktext": ticks.text,
        "anchor": "x",
        "fixedrange": True,
    }


def _add_name(figure: go.Figure, course: VariantTimeline, domain: str) -> None:
    figure.add_annotation(
        text=f"<b>{plotted(course.lane.name)}</b>",
        xref="paper",
        yref=domain,
        x=0,
        y=1,
        xanchor="left",
        yanchor="bottom",
        showarrow=False,
        font={"size": 12, "color": course.lane.stroke.ink.light},
    )
