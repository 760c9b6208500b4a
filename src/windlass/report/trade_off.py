"""The report's section on cost against wait: a point for each variant, and the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from windlass.report.figures import Plot, axis_style, framed_figure, plotted
from windlass.report.html_fragments import NOTHING, PageSection, figure, text
from windlass.report.job_columns import VariantLane
from windlass.report.palette import PAPER, TEXT
from windlass.report.phrases import in_words, label
from windlass.report.units import Unit, time_unit, unit_for
from windlass.results import Results, Summary
from windlass.results.verdict import comparable
from windlass.results.verdict.pareto import pareto_front

_HEIGHT = 340
#: Symbols of points, one for each dash of the variants' lines.
_SYMBOLS = {"solid": "circle", "dash": "square", "dot": "diamond"}
#: Traces of no variant, which no button hides.
_NO_VARIANT = -1


@dataclass(frozen=True, slots=True)
class _Axis:
    """A metric with the means and intervals of the variants, in the unit of its axis."""

    metric: str
    unit: Unit
    title: str
    means: tuple[float, ...]
    half_widths: tuple[float, ...]

    @property
    def range(self) -> tuple[float, float]:
        """The ends of the axis; bars that are longer than the range of all means are cut off."""
        spread = (max(self.means) - min(self.means)) or 0.2 * abs(self.means[0]) or 1.0
        ends = [(mean - half, mean + half) for mean, half in zip(self.means, self.half_widths, strict=True)]
        low = max(min(low for low, _ in ends), min(self.means) - spread)
        high = min(max(high for _, high in ends), max(self.means) + spread)
        room = 0.08 * (high - low) or 0.5 * spread
        return max(low - room, -0.02 * high), high + room


def section(results: Results, lanes: tuple[VariantLane, ...]) -> PageSection:
    """Return a plot for each metric that is traded against the cost; empty if there is no cost.

    Parameters
    ----------
    results
        Results of any world; the metadata of its metrics names the cost, and what is traded against it.
    lanes
        Their variants, in the same order.
    """
    if len(lanes) < 2:
        return NOTHING
    columns = list(zip(*(variant.summaries() for variant in results.variants), strict=True))
    known = [column for column in columns if all(math.isfinite(each.mean) for each in column)]
    costs = [column for column in known if column[0].trade == "cost"]
    traded = [column for column in known if column[0].trade == "wait"]
    if not costs or not traded:
        return NOTHING
    bounds = {row for row, variant in enumerate(results.variants) if variant.bound}
    groups = [[row for row in rows if row not in bounds] for rows in comparable(results)]
    parts = [
        _panel(f"trade-off-{number}", lanes, _axis(costs[0]), _axis(column), groups)
        for number, column in enumerate(traded)
    ]
    seeds = max(len(lane.outcomes) for lane in lanes)
    bars = f" Means of {seeds} seeds; bars are 95 % confidence intervals." if seeds > 1 else ""
    return PageSection(
        '<section><h2>Cost against wait</h2><p class="lead">A point is a variant, and the lower left is better; rings '
        "and the dashed line are the Pareto front: no other variant costs less without a longer wait."
        f'{bars}</p><div class="plots">{"".join(part.html for part in parts)}</div></section>',
        tuple(plot for part in parts for plot in part.plots),
    )


def _axis(column: Sequence[Summary]) -> _Axis:
    metric, means = column[0].metric, [each.mean for each in column]
    unit = time_unit([max(map(abs, means))]) if metric.endswith("_s") else unit_for(metric, means)
    title = f"{label(metric)}, {unit.symbol}".rstrip(", ")
    halves = [0.0 if math.isnan(each.half_width) else each.half_width for each in column]
    return _Axis(
        metric,
        unit,
        title,
        tuple(mean * unit.factor for mean in means),
        tuple(half * unit.factor for half in halves),
    )


def _panel(
    key: str, lanes: tuple[VariantLane, ...], cost: _Axis, wait: _Axis, groups: Sequence[Sequence[int]]
) -> PageSection:
    plot, fronts = framed_figure(), []
    for rows in groups:
        able = [row for row in rows if not lanes[row].recorded]
        front = [
            able[each]
            for each in pareto_front([cost.means[row] for row in able], [wait.means[row] for row in able])
        ]
        plot.add_trace(_front_line(cost, wait, front))
        plot.add_traces([_ring(lanes[row], cost.means[row], wait.means[row]) for row in front])
        fronts.append(", ".join(lanes[row].name for row in front))
    # The first variant is on top, as the others differ from it, and may have the same point.
    for row, lane in reversed(tuple(enumerate(lanes))):
        plot.add_trace(_point(lane, row, cost, wait))
    plot.update_xaxes(axis_style(cost.title), range=cost.range, nticks=6)
    plot.update_yaxes(axis_style(wait.title), range=wait.range, nticks=6)
    plot.update_layout(hovermode="closest", margin={"l": 62, "r": 20, "t": 10, "b": 46})
    title = label(wait.metric)
    made = Plot(key, _HEIGHT, plot, logarithmic=False)
    caption = f"On the front: {text('; '.join(fronts))}."
    return PageSection(figure(made, f"{title[0].upper()}{title[1:]}", caption), (made,))


def _point(lane: VariantLane, row: int, cost: _Axis, wait: _Axis) -> go.Scatter:
    words = "<br>".join(
        f"{axis.title.partition(',')[0]}: {in_words(axis.metric, axis.means[row] / axis.unit.factor)[0]}"
        for axis in (cost, wait)
    )
    bars = {"type": "data", "thickness": 1.2, "width": 3, "color": f"{lane.stroke.ink.light}66"}
    return go.Scatter(
        name=plotted(lane.name),
        meta=lane.position,
        x=[cost.means[row]],
        y=[wait.means[row]],
        error_x={**bars, "array": [cost.half_widths[row]], "visible": cost.half_widths[row] > 0},
        error_y={**bars, "array": [wait.half_widths[row]], "visible": wait.half_widths[row] > 0},
        mode="markers",
        marker={
            "size": 9,
            "color": lane.stroke.ink.light,
            "symbol": _SYMBOLS[lane.stroke.dash],
            "line": {"color": PAPER.light, "width": 1},
        },
        hovertemplate=f"<b>{plotted(lane.name)}</b><br>{words}<extra></extra>",
    )


def _ring(lane: VariantLane, cost: float, wait: float) -> go.Scatter:
    return go.Scatter(
        name=plotted(lane.name),
        meta=lane.position,
        x=[cost],
        y=[wait],
        mode="markers",
        marker={"size": 17, "symbol": "circle-open", "color": TEXT.light, "line": {"width": 1.4}},
        hoverinfo="skip",
    )


def _front_line(cost: _Axis, wait: _Axis, front: Sequence[int]) -> go.Scatter:
    return go.Scatter(
        name="Pareto front",
        meta=_NO_VARIANT,
        x=[cost.means[row] for row in front],
        y=[wait.means[row] for row in front],
        mode="lines",
        line={"color": TEXT.light, "width": 1.6, "dash": "dash", "shape": "hv"},
        hoverinfo="skip",
    )
