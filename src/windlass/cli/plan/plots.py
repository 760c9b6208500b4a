"""A profile as an HTML page: accuracy against cores and against bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from windlass.model.queries import QueryPlan
from windlass.plan.profile.comparison import cores
from windlass.report.figures import Plot, axis_style, framed_figure, plotted
from windlass.report.html_fragments import PageSection, answer, figure, heading, text
from windlass.report.page import page
from windlass.report.palette import TEXT, stroke
from windlass.report.units import counted


def page_of(title: str, lead: Sequence[str], plans: Sequence[QueryPlan], front: Sequence[int]) -> str:
    """Return a page of all plans.

    Parameters
    ----------
    title, lead
        The heading, and sentences below it.
    plans
        All plans of the profile.
    front
        Indices of the plans that no other plan matches in accuracy with fewer cores.

    Examples
    --------
    >>> from windlass.model.queries import Component
    >>> plan = QueryPlan(0.5, (Component("decode", 0.1, 5e5), Component("detect knn", 0.2, 5e3)))
    >>> "detect knn" in page_of("one plan", ["a line"], [plan], [0])
    True
    """
    parts = [
        PageSection(heading(title, counted(len(plans), "plan")) + answer(lead)),
        _front_table(plans, front),
    ]
    for picture in _PICTURES:
        plot = _scatter(picture, plans)
        caption = "Each point is a plan; colours are detectors."
        parts.append(PageSection(f"<section>{figure(plot, picture.title, caption)}</section>", (plot,)))
    return page(title, parts)


def _sent(plan: QueryPlan) -> float:
    return sum(part.output for part in plan.components[1:]) * 8e-6


def _decoded(plan: QueryPlan) -> float:
    return plan.components[0].output * 8e-6


@dataclass(frozen=True, slots=True)
class _Picture:
    """A plot of accuracy against an amount of each plan, on a logarithmic axis where amounts are above 0."""

    key: str
    title: str
    axis: str
    amount: Callable[[QueryPlan], float]
    logarithmic: bool = False


_PICTURES = (
    _Picture("cores", "Accuracy against cores", "CPU seconds per second of stream", cores, logarithmic=True),
    _Picture("bytes", "Accuracy against bytes", "rate of the detector and the associator, Mb/s", _sent),
    _Picture("decoded", "Accuracy against bytes of frames", "rate of the decoder, Mb/s", _decoded),
)
#: Ticks of a logarithmic axis: 1, 2 and 5 of each power of ten.
_TICKS = tuple(times * 10.0**power for power in range(-6, 6) for times in (1, 2, 5))


def _front_table(plans: Sequence[QueryPlan], front: Sequence[int]) -> PageSection:
    rows = "".join(
        f"<tr><th scope='row'>{text(', '.join(part.name for part in plans[place].components))}</th>"
        f"<td>{plans[place].accuracy:.3f}</td><td>{cores(plans[place]):.3f}</td>"
        f"<td>{_decoded(plans[place]):.3g}</td><td>{_sent(plans[place]):.3g}</td></tr>"
        for place in front
    )
    heads = "<th>plan</th><th>accuracy</th><th>cores</th><th>frames, Mb/s</th><th>the rest, Mb/s</th>"
    return PageSection(
        '<section><h2>Most accurate plans by cores</h2><div class="scroll"><table class="wide long"><thead>'
        f"<tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></section>"
    )


def _scatter(picture: _Picture, plans: Sequence[QueryPlan]) -> Plot:
    frame = framed_figure()
    ways = [" ".join(plan.components[min(1, len(plan.components) - 1)].name.split()[:2]) for plan in plans]
    for position, way in enumerate(dict.fromkeys(ways)):
        own = [plan for plan, name in zip(plans, ways, strict=True) if name == way]
        frame.add_scatter(
            name=plotted(way),
            meta=position,
            x=[picture.amount(plan) for plan in own],
            y=[plan.accuracy for plan in own],
            text=[plotted(", ".join(part.name for part in plan.components)) for plan in own],
            mode="markers",
            marker={"color": stroke(position).ink.light, "size": 7},
            hovertemplate="%{text}<br>accuracy %{y:.3f} at %{x:.3g}<extra></extra>",
        )
    logarithmic = picture.logarithmic and all(picture.amount(plan) > 0 for plan in plans)
    if logarithmic:
        style = axis_style(f"{picture.axis} (logarithmic)")
        frame.update_xaxes(style, type="log", tickvals=_TICKS, ticktext=[f"{each:g}" for each in _TICKS])
    else:
        frame.update_xaxes(axis_style(picture.axis), rangemode="tozero")
    frame.update_yaxes(axis_style("accuracy (F1 of tracks)"), range=[0, 1])
    frame.update_layout(
        showlegend=True,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "font": {"color": TEXT.light}},
        margin={"l": 66, "r": 20, "t": 40, "b": 50},
        hovermode="closest",
    )
    return Plot(picture.key, 380, frame, logarithmic)
