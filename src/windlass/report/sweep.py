"""The report's section on a sweep: metrics as curves over each axis, one colour per policy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from windlass.report.figures import LOGARITHMIC, Plot, axis_style, framed_figure, plotted
from windlass.report.html_fragments import NOTHING, PageSection, figure, text
from windlass.report.job_columns import VariantLane
from windlass.report.phrases import label
from windlass.report.units import counted, number, time_unit, unit_for
from windlass.results import At, Results, Summary, VariantResult

_PANEL, _GAP, _TOP, _BOTTOM = 190, 44, 56, 50
#: Maximum number of stacked panels, one for each combination of values on the other axes; the table has all.
_MOST_PANELS = 6
#: The axis is logarithmic if the largest mean is at least this multiple of the smallest: otherwise one weak policy
#: presses all others onto one line.
_LOGARITHMIC_FROM = 20.0
#: Candidates for the second metric; the first of these that the results have is plotted.
_SECOND_METRICS = ("p99_wait_s", "mean_bounded_slowdown", "p99_response_s")


@dataclass(frozen=True, slots=True)
class _Spot:
    """A variant on an axis: its value there, and its values on all other axes."""

    lane: VariantLane
    variant: VariantResult
    value: Any
    others: tuple[At, ...]


def section(results: Results, lanes: tuple[VariantLane, ...], by: str | None = None) -> PageSection:
    """Return curves over each axis with at least two values; empty if only policies are swept.

    Parameters
    ----------
    results
        Results of any world.
    lanes
        Their variants, in the same order.
    by
        The chosen metric; None for the first one with a direction.
    """
    axes = list(dict.fromkeys(at.axis for variant in results.variants for at in variant.at))
    metrics = _metrics(results, by)
    parts = []
    for place, axis in enumerate(axes):
        spots = _spots(results, lanes, axis)
        if len({str(spot.value) for spot in spots}) > 1:
            parts += [_curves(f"sweep-{place}-{metric}", axis, spots, metric) for metric in metrics]
    if not parts:
        return NOTHING
    return PageSection(
        '<section><h2>Metrics over swept parameters</h2><p class="lead">Means over the seeds; bars are 95 % confidence '
        f"intervals.</p>{''.join(part.html for part in parts)}</section>",
        tuple(plot for part in parts for plot in part.plots),
    )


def _metrics(results: Results, by: str | None) -> tuple[str, ...]:
    """Return the chosen metric and a second one."""
    if not results.variants:
        return ()
    able = [summary.metric for summary in results.variants[0].summaries() if summary.better]
    if not able:
        return ()
    first = by or able[0]
    return tuple(dict.fromkeys([first, *[metric for metric in _SECOND_METRICS if metric in able][:1]]))


def _spots(results: Results, lanes: tuple[VariantLane, ...], axis: str) -> list[_Spot]:
    found = []
    for lane, variant in zip(lanes, results.variants, strict=True):
        here = [at.value for at in variant.at if at.axis == axis]
        if here:
            others = tuple(at for at in variant.at if at.axis != axis)
            found.append(_Spot(lane, variant, here[0], others))
    return found


def _curves(key: str, axis: str, spots: Sequence[_Spot], metric: str) -> PageSection:
    groups = list(dict.fromkeys(spot.others for spot in spots))
    shown = groups[:_MOST_PANELS]
    summaries = {id(spot): _summary(spot.variant, metric) for spot in spots}
    means = [summary.mean for summary in summaries.values()]
    unit = time_unit(means) if metric.endswith("_s") else unit_for(metric, means)
    plot = make_subplots(
        rows=len(shown),
        shared_xaxes=True,
        vertical_spacing=_GAP / max(len(shown) * (_PANEL + _GAP) - _GAP, 1),
        subplot_titles=[plotted(", ".join(at.label for at in others)) for others in shown],
        figure=framed_figure(),
    )
    category = not all(_is_number(spot.value) for spot in spots)
    for row, others in enumerate(shown, start=1):
        own = [spot for spot in spots if spot.others == others]
        for name in dict.fromkeys(spot.variant.own_name for spot in own):
            line = [spot for spot in own if spot.variant.own_name == name]
            if not category:
                line.sort(key=lambda spot: float(spot.value))
            of_line = [summaries[id(spot)] for spot in line]
            plot.add_trace(_line(name, line, of_line, unit.factor, unit.symbol, row == 1), row=row, col=1)
    plot.update_annotations(font_size=12)
    name = axis.rpartition(".")[2].replace("_", " ")
    plot.update_xaxes(axis_style(""), type="category" if category else "linear")
    plot.update_xaxes(title=axis_style(name)["title"], row=len(shown), col=1)
    logarithmic = _is_logarithmic(means)
    plot.update_yaxes(axis_style(unit.symbol), **(LOGARITHMIC if logarithmic else {"rangemode": "tozero"}))
    height = _TOP + _BOTTOM + len(shown) * (_PANEL + _GAP) - _GAP
    plot.update_layout(
        showlegend=True,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1 + 24 / height, "x": 0},
        margin={"l": 62, "r": 20, "t": _TOP, "b": _BOTTOM},
        hovermode="closest",
    )
    rest = len(groups) - len(shown)
    more = (
        f" Not shown: {text(counted(rest, 'combination'))} of values on other axes; the table has all."
        if rest
        else ""
    )
    words, scale = label(metric), " The axis of values is logarithmic." if logarithmic else ""
    title = f"{words[0].upper()}{words[1:]} by {name}"
    drawn = Plot(key, height, plot, logarithmic)
    return PageSection(figure(drawn, title, f"Over <code>{text(axis)}</code>.{scale}{more}"), (drawn,))


def _is_logarithmic(means: Sequence[float]) -> bool:
    """Return whether means differ so much that only a logarithmic axis shows them all.

    >>> _is_logarithmic([1.0, 19.0]), _is_logarithmic([1.0, 21.0]), _is_logarithmic([0.0, 21.0])
    (False, True, False)
    """
    known = [mean for mean in means if not math.isnan(mean)]
    return bool(known) and min(known) > 0 and max(known) >= _LOGARITHMIC_FROM * min(known)


def _summary(variant: VariantResult, metric: str) -> Summary:
    return next(summary for summary in variant.summaries() if summary.metric == metric)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _line(
    name: str, spots: Sequence[_Spot], summaries: Sequence[Summary], factor: float, symbol: str, first: bool
) -> go.Scatter:
    stroke = spots[0].lane.stroke
    spread = [0.0 if math.isnan(each.half_width) else each.half_width * factor for each in summaries]
    texts = [f"{number(each.mean * factor)} {symbol}".strip() for each in summaries]
    return go.Scatter(
        name=plotted(name),
        x=[spot.value if _is_number(spot.value) else str(spot.value) for spot in spots],
        y=[each.mean * factor for each in summaries],
        text=texts,
        error_y={"type": "data", "array": spread, "visible": any(spread), "thickness": 1.2, "width": 3},
        # Panels distinguish points; only the recorded schedule is dashed.
        line={"color": stroke.ink.light, "width": 2.2, "dash": "dash" if spots[0].lane.recorded else "solid"},
        marker={"size": 7, "color": stroke.ink.light},
        mode="lines+markers",
        legendgroup=name,
        showlegend=first,
        hovertemplate=f"<b>{plotted(name)}</b><br>%{{x}}: %{{text}}<extra></extra>",
    )
