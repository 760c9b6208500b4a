"""The report's section on sites and links: a map of one variant at a time, and a table of all flows."""

from __future__ import annotations

from windlass.report.flows import FlowRow, flow_rows, maps_of, with_few_sites
from windlass.report.html_fragments import NOTHING, PageSection, chooser, figure, rows, text
from windlass.report.job_columns import VariantLane
from windlass.report.map_figure import MOST_LINES, map_plot
from windlass.report.units import number

#: Maximum number of sites of a map: more would hide each other.
_MOST_SITES = 12
_LEAD = (
    "A large circle is a site with many cores, and a dark one has most of them in use; a line is data that was sent, "
    "wide for much, and a dotted line is tasks that ran elsewhere."
)


def section(lanes: tuple[VariantLane, ...]) -> PageSection:
    """Return the map and the table; empty for results without sites.

    Parameters
    ----------
    lanes
        All variants; those without a map are left out.
    """
    found = tuple(lane for lane in lanes if maps_of(lane))
    if not found:
        return NOTHING
    found = with_few_sites(found, _MOST_SITES)
    plot = map_plot("site-map", found)
    seeds = max(len(lane.outcomes) for lane in found)
    means = f" Means over {seeds} seeds." if seeds > 1 else ""
    flows = flow_rows(found)
    return PageSection(
        f'<section><h2>Sites and links</h2><p class="lead">{_LEAD}{means}</p>{chooser(lanes)}'
        f"{figure(plot, 'Cores in use, and what moves between sites', 'Sites have no position: they are on a circle.')}"
        f"{_table(found, flows)}</section>",
        (plot,),
    )


def _table(lanes: tuple[VariantLane, ...], flows: tuple[FlowRow, ...]) -> str:
    rest = ""
    shown = flows
    if len(flows) > MOST_LINES:
        shown = _largest(flows)
        rest = (
            f"<p>The {len(shown)} largest of {len(flows):,} flows are shown; the sums are those of all.</p>"
        )
    if not flows:
        return "<p>Nothing moves between the sites.</p>"
    heads = "".join(f'<th scope="col">{text(lane.name)}</th>' for lane in lanes)
    body = rows(
        [
            f'<th scope="row">{text(flow.load)}</th><td class="place">{text(flow.source)}</td>'
            f'<td class="place">{text(flow.target)}</td><td>{flow.unit}</td>'
            + "".join(f'<td title="{amount!r}">{number(amount)}</td>' for amount in flow.amounts)
            for flow in shown
        ]
    )
    foot = rows(
        [
            f'<th scope="row">{text(load)}</th><td class="place">all</td><td class="place">all</td><td>{unit}</td>'
            + "".join(f"<td>{number(sum(column))}</td>" for column in columns)
            for load, unit, columns in _sums(flows)
        ]
    )
    return (
        '<div class="scroll"><table class="wide sortable"><thead><tr><th scope="col">load</th>'
        '<th scope="col" class="place">from</th><th scope="col" class="place">to</th><th scope="col">unit</th>'
        f"{heads}</tr></thead>"
        f"<tbody>{body}</tbody><tfoot>{foot}</tfoot></table></div>{rest}"
    )


def _largest(flows: tuple[FlowRow, ...]) -> tuple[FlowRow, ...]:
    """Return the largest flows under any variant of each load, in their order."""
    shown: set[int] = set()
    for kind in dict.fromkeys((flow.load, flow.tasks) for flow in flows):
        own = [place for place, flow in enumerate(flows) if (flow.load, flow.tasks) == kind]
        shown.update(sorted(own, key=lambda place: -max(flows[place].amounts))[:MOST_LINES])
    return tuple(flow for place, flow in enumerate(flows) if place in shown)


def _sums(flows: tuple[FlowRow, ...]) -> list[tuple[str, str, list[tuple[float, ...]]]]:
    """Return for each load and unit the columns of its rows."""
    kinds = dict.fromkeys((flow.load, flow.unit) for flow in flows)
    return [
        (
            load,
            unit,
            list(
                zip(*(flow.amounts for flow in flows if (flow.load, flow.unit) == (load, unit)), strict=True)
            ),
        )
        for load, unit in kinds
    ]
