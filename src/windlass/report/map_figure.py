"""The figure of sites on a circle, with lines for what moves between them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from windlass.report.figures import Plot, framed_figure, plotted
from windlass.report.flows import byte_unit, maps_of, mean_amounts, mean_sites
from windlass.report.job_columns import VariantLane
from windlass.report.palette import AXIS, PAPER, QUIET, TEXT, site_ink
from windlass.report.units import number, share
from windlass.results import SiteUse

#: Height of the radius of the circle of sites, px, and of each site after the sixth; room for a name, in radii.
_UNIT, _MORE, _ROOM = 130, 12, 0.6
#: Half the width of the figure, in radii: room for names on the sides in a window of 480 px.
_WIDTH = 1.95
#: Number of characters above which a name has two lines, and the signs after which it is broken.
_LINE = 12
_BREAKS = re.compile(r"[:/_. -]+")
_LARGEST, _SMALLEST = 50, 10
_WIDEST, _THINNEST = 7.0, 1.2
#: Bend of a line relative to its length: data, tasks. Lines of the two directions bend to different sides.
_BENDS = {False: 0.10, True: 0.22}
_POINTS = 17
#: Maximum number of lines of a variant: data, and as many for tasks.
MOST_LINES = 30
_Spot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Edge:
    """What moves from one site to another: total amount, and an explanation."""

    source: str
    target: str
    amount: float
    words: str


def positions(names: Sequence[str]) -> dict[str, _Spot]:
    """Return a position on the unit circle for each site, clockwise in their order.

    Parameters
    ----------
    names
        The sites. The first one is at the top; two are on the left and on the right.

    Examples
    --------
    >>> positions(["a", "b"]), positions(["a"])
    ({'a': (-1.0, 0.0), 'b': (1.0, 0.0)}, {'a': (0.0, 0.0)})
    """
    count = len(names)
    if count == 1:
        return {names[0]: (0.0, 0.0)}
    begin = math.pi if count == 2 else math.pi / 2
    turns = [begin - 2.0 * math.pi * place / count for place in range(count)]
    # Rounding gives the same bytes on machines whose sine differs in the last digit.
    return {
        name: (round(math.cos(turn), 6) + 0.0, round(math.sin(turn), 6) + 0.0)
        for name, turn in zip(names, turns, strict=True)
    }


def in_lines(name: str) -> list[str]:
    """Return a long name in two lines, broken after the sign nearest to its middle, so that it fits next to its site.

    >>> in_lines("aws:ap-northeast-1"), in_lines("iowa")
    (['aws:ap-', 'northeast-1'], ['iowa'])
    """
    ends = [found.end() for found in _BREAKS.finditer(name) if found.end() < len(name)]
    if len(name) <= _LINE or not ends:
        return [name]
    middle = min(ends, key=lambda end: abs(end - len(name) / 2))
    return [name[:middle], name[middle:]]


def map_plot(key: str, lanes: Sequence[VariantLane]) -> Plot:
    """Plot the sites of all variants, of which the page shows one.

    Parameters
    ----------
    key
        Key of the plot.
    lanes
        The variants, each with a map.
    """
    sites = {lane.position: mean_sites(maps_of(lane)) for lane in lanes}
    spots = positions(tuple(dict.fromkeys(site.name for each in sites.values() for site in each)))
    most = max(site.cores for each in sites.values() for site in each)
    plot = framed_figure()
    for tasks in (False, True):
        edges = {lane.position: _edges(lane, tasks) for lane in lanes}
        # Widths are relative to the largest amount of any variant, so that variants can be compared.
        widest = max((edge.amount for each in edges.values() for edge in each), default=0.0)
        for position, each in edges.items():
            for edge in each:
                plot.add_traces(_lines(position, edge, spots, edge.amount / widest, tasks))
    for position, own in sites.items():
        plot.add_traces(_circles(position, own, spots, most))
    hidden = {"visible": False, "fixedrange": True}
    low, high = (end(y for _, y in spots.values()) for end in (min, max))
    # Names are below the sites of the lower half, and above the others.
    reach = low - (_ROOM if low < 0 else _ROOM / 2), high + _ROOM
    plot.update_xaxes(hidden, range=[-_WIDTH, _WIDTH])
    plot.update_yaxes(hidden, range=reach, scaleanchor="x", scaleratio=1)
    plot.update_layout(
        hovermode="closest",
        dragmode=False,
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
        meta={"one_variant": True},
    )
    unit = _UNIT + _MORE * max(len(spots) - 6, 0)
    return Plot(key, round(unit * (reach[1] - reach[0])), plot, logarithmic=False)


def _edges(lane: VariantLane, tasks: bool) -> list[_Edge]:
    """Return what moves between each pair of sites, over all loads."""
    amounts = mean_amounts(maps_of(lane), tasks=tasks)
    found = []
    # What moves between sites that are merged into one has no line.
    for pair in dict.fromkeys(way[1:] for way in amounts if way[1] != way[2]):
        own = {way[0]: amount for way, amount in amounts.items() if way[1:] == pair}
        parts = [f"{plotted(load)}: {_amount(amount, tasks)}" for load, amount in own.items()]
        words = f"<b>{plotted(pair[0])} → {plotted(pair[1])}</b><br>" + "<br>".join(parts)
        found.append(_Edge(*pair, math.fsum(own.values()), words))
    if len(found) <= MOST_LINES:
        return found
    return sorted(found, key=lambda edge: -edge.amount)[:MOST_LINES]


def _amount(amount: float, tasks: bool) -> str:
    if tasks:
        return f"{number(amount)} tasks"
    unit = byte_unit([amount])
    return f"{number(amount * unit.factor)} {unit.symbol}"


def _lines(position: int, edge: _Edge, spots: dict[str, _Spot], part: float, tasks: bool) -> list[go.Scatter]:
    """Return a bent line between two sites, and an arrowhead at its middle, which shows the amounts."""
    (x0, y0), (x1, y1) = spots[edge.source], spots[edge.target]
    dx, dy = x1 - x0, y1 - y0
    # The control point of a quadratic curve, to the right of its direction.
    bend = 2.0 * _BENDS[tasks]
    xc, yc = (x0 + x1) / 2 + bend * dy, (y0 + y1) / 2 - bend * dx
    at = [point / (_POINTS - 1) for point in range(_POINTS)]
    xs, ys = (
        [round((1 - t) ** 2 * begin + 2 * t * (1 - t) * middle + t**2 * end, 4) for t in at]
        for begin, middle, end in ((x0, xc, x1), (y0, yc, y1))
    )
    ink = TEXT if tasks else QUIET
    width = max(_WIDEST * math.sqrt(part), _THINNEST)
    common = {"meta": position, "name": f"{plotted(edge.source)} → {plotted(edge.target)}"}
    line = go.Scatter(
        x=xs,
        y=ys,
        mode="lines",
        line={
            "color": f"{ink.light}99",
            "width": round(min(width, 3.0) if tasks else width, 2),
            "dash": "dot" if tasks else "solid",
        },
        hoverinfo="skip",
        **common,
    )
    middle = _POINTS // 2
    arrow = go.Scatter(
        x=[xs[middle]],
        y=[ys[middle]],
        mode="markers",
        marker={
            "symbol": "triangle-up",
            "size": round(8 + width, 2),
            "angle": round(math.degrees(math.atan2(dx, dy)), 2),
            "color": ink.light,
            "line": {"color": PAPER.light, "width": 1},
        },
        hovertemplate=f"{edge.words}<extra></extra>",
        **common,
    )
    return [line, arrow]


def _circles(
    position: int, sites: tuple[SiteUse, ...], spots: dict[str, _Spot], most: float
) -> list[go.Scatter]:
    """Return the sites as circles; a blank one below hides the ends of lines."""
    size = [
        round(_SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(site.cores / max(most, 1e-9)), 2)
        for site in sites
    ]
    xs, ys = [spots[site.name][0] for site in sites], [spots[site.name][1] for site in sites]
    words = [(f"{number(round(site.cores))} cores", share(site.used_share, 1.0)) for site in sites]
    common = {"x": xs, "y": ys, "meta": position, "name": "sites"}
    blank = go.Scatter(
        mode="markers",
        marker={
            "size": size,
            "color": PAPER.light,
            "opacity": 1.0,
            "line": {"color": AXIS.light, "width": 1},
        },
        hoverinfo="skip",
        **common,
    )
    shaded = go.Scatter(
        mode="markers+text",
        marker={
            "size": size,
            "color": [site_ink(site.used_share) for site in sites],
            "opacity": 1.0,
            "line": {"width": 0},
        },
        text=[
            f"<b>{'<br>'.join(map(plotted, in_lines(site.name)))}</b><br>{'<br>'.join(own)}"
            for site, own in zip(sites, words, strict=True)
        ],
        textposition=list(map(_side, xs, ys)),
        textfont={"size": 12, "color": TEXT.light},
        customdata=[", ".join(own) for own in words],
        hovertemplate="%{customdata} in use<extra></extra>",
        cliponaxis=False,
        **common,
    )
    return [blank, shaded]


def _side(x: float, y: float) -> str:
    """Return the side of a site on which its name is: away from the middle, where the lines are."""
    if abs(x) > 0.5:
        return "middle right" if x > 0.0 else "middle left"
    return "top center" if y >= 0.0 else "bottom center"
