"""Forest plots of an ablation: the change of one metric for each variant that leaves decisions out."""

from __future__ import annotations

import math
from collections.abc import Iterator

import plotly.graph_objects as go

from windlass.report.ablation import left_out_names
from windlass.report.columns import label
from windlass.report.figures import Plot, axis_style, framed_figure, plotted
from windlass.report.palette import PAPER, QUIET, TEXT
from windlass.results.verdict.ablation import Ablation, Effect

_ROW, _TOP, _BOTTOM = 26, 8, 46
#: Bars are cut off where they are longer than this many times the range of all points and 0.
_LONGEST = 0.6


def forest_plots(found: Ablation, key: str) -> Iterator[tuple[Plot, str]]:
    """Yield a plot and its title for each metric that changes.

    Parameters
    ----------
    found
        The ablation.
    key
        Beginning of the plots' keys.
    """
    names = tuple(" and ".join(each) for each in left_out_names(found))
    for number, effects in enumerate(zip(*found.effects, strict=True)):
        if any(math.isfinite(each.change) and each.change for each in effects):
            title = label(effects[0].metric)
            better = "more" if effects[0].better > 0 else "less"
            yield (
                _plot(f"{key}-{number}", names, effects),
                f"{title[0].upper()}{title[1:]} ({better} is better)",
            )


def percent_interval(effect: Effect) -> tuple[float, float, float]:
    """Return the change in percent and the ends of its interval, which equal the change if there is no interval.

    Parameters
    ----------
    effect
        An effect with a finite change.

    Examples
    --------
    >>> from windlass.results.verdict import ConfidenceInterval
    >>> percent_interval(Effect("mean_wait_s", -1, 4.0, 5.0, ConfidenceInterval(1.0, 0.5, 1.5, 5)))
    (25.0, 12.5, 37.5)
    """
    change, known = 100.0 * effect.change, effect.difference
    if known is None or effect.whole == 0.0:
        return change, change, change
    return change, 100.0 * known.low / abs(effect.whole), 100.0 * known.high / abs(effect.whole)


def _plot(key: str, names: tuple[str, ...], effects: tuple[Effect, ...]) -> Plot:
    shown = [place for place, each in enumerate(effects) if math.isfinite(each.change)]
    found = [percent_interval(effects[place]) for place in shown]
    marked = [effects[place].significant for place in shown]
    inks = [TEXT if significant else QUIET for significant in marked]
    plot = framed_figure()
    for place, (_, low, high), ink in zip(shown, found, inks, strict=True):
        # A bar for each row: Plotly has one colour for all error bars of a trace.
        plot.add_trace(
            go.Scatter(
                x=[low, high], y=[place, place], mode="lines", meta=-1, name=plotted(names[place]),
                line={"color": ink.light, "width": 2.2 if ink is TEXT else 1.4}, hoverinfo="skip",
            )
        )  # fmt: skip
    plot.add_trace(
        go.Scatter(
            x=[change for change, _, _ in found],
            y=shown,
            mode="markers",
            meta=-1,
            name="change",
            marker={
                "size": 9,
                "color": [TEXT.light if each else PAPER.light for each in marked],
                "line": {"color": [ink.light for ink in inks], "width": 1.6},
            },
            text=[_words(names[place], effects[place]) for place in shown],
            hovertemplate="%{text}<extra></extra>",
        )
    )
    low, high = _ends(found)
    plot.add_shape(
        type="line",
        x0=0,
        x1=0,
        y0=0,
        y1=1,
        yref="paper",
        line={"color": QUIET.light, "width": 1.2},
        layer="below",
    )
    plot.update_xaxes(axis_style("change without it, %"), range=[low, high], nticks=6)
    plot.update_yaxes(
        axis_style(""),
        range=[len(effects) - 0.4, -0.6],
        tickvals=list(range(len(effects))),
        ticktext=[plotted(name) + _mark(each) for name, each in zip(names, effects, strict=True)],
        automargin=True,
        fixedrange=True,
        showgrid=False,
    )
    plot.update_layout(hovermode="closest", margin={"l": 20, "r": 20, "t": _TOP, "b": _BOTTOM})
    return Plot(key, _TOP + _BOTTOM + _ROW * len(effects), plot, logarithmic=False)


def _ends(found: list[tuple[float, float, float]]) -> tuple[float, float]:
    """Return the ends of the axis, which has room for all points and for 0."""
    points = [0.0, *(change for change, _, _ in found)]
    spread = max(points) - min(points)
    low = max(min(min(low, change) for change, low, _ in found), min(points) - _LONGEST * spread)
    high = min(max(max(high, change) for change, _, high in found), max(points) + _LONGEST * spread)
    return min(low, 0.0) - 0.06 * spread, max(high, 0.0) + 0.06 * spread


def _mark(effect: Effect) -> str:
    """Return the mark of a row's name: as in the table, and ∞ for a change from 0."""
    if math.isinf(effect.change):
        return " (∞)"
    if not effect.significant:
        return ""
    return " ✓" if effect.change * effect.better < 0 else " ✗"


def _words(name: str, effect: Effect) -> str:
    change, low, high = percent_interval(effect)
    bar = f", {low:+.3g} to {high:+.3g} %" if high > low else ""
    return f"<b>without {plotted(name)}</b><br>{change:+.3g} %{bar}".replace("-", "−")
