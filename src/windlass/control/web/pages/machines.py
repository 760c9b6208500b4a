"""The page Machines: the machines of each site, and the loads that hold their cores."""

from __future__ import annotations

from windlass.control.site_status import MOST, MachineState, SiteStatus, status_from_text
from windlass.control.web.html import Markup, tag
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.layout import meter, page, state_mark, table, tiles
from windlass.control.web.request import PageRequest

#: States of a machine that is up; an agent's machine that rejects tasks goes on with those that it has.
_UP = ("up", "accepting", "rejecting")


def machines_page(request: PageRequest, context: PageContext) -> Markup:
    """Return the page."""
    engine, site = request.text("engine"), request.text("site")
    sections = []
    for view in context.reader.views():
        state = status_from_text(view.content)
        if state.machines and engine in (None, view.engine) and site in (None, view.site):
            sections.append(_site(f"{view.engine}: {view.site}" if view.site else view.engine, state))
    empty = tag("p", "No engine has reported machines yet.", class_="empty")
    return page("/machines", "Machines", *(sections or [empty]))


def _site(name: str, state: SiteStatus) -> Markup:
    up = [each for each in state.machines if each.state in _UP]
    noted = any(each.note for each in state.machines)
    price = sum(each.price for each in state.machines)
    held = ", ".join(f"{each.load} {each.cores:,}" for each in state.held) or "none"
    more = len(state.machines) >= MOST
    return tag(
        "section",
        tag("h2", name),
        tiles(
            ("Machines up", f"{len(up):,} of {len(state.machines):,}{' or more' if more else ''}"),
            ("Cores held", f"{state.cores - state.idle:,} of {state.cores:,}"),
            *([("Price", f"{price:,.2f} per hour")] if price else []),
        ),
        tag("p", f"Cores by load: {held}."),
        tag(
            "details",
            tag("summary", f"The machines of {name}"),
            table(
                f"Machines of {name}",
                ("Machine", "State", "Cores held", *(["Note"] if noted else [])),
                [_row(each, noted) for each in state.machines],
                "No machine is up.",
            ),
            id=f"machines-{name}",
        ),
    )


def _row(each: MachineState, noted: bool) -> tuple[str, ...]:
    # Jobs on a drained node go on.
    held = each.cores - each.idle if each.state != "down" else 0
    cores = meter(held, each.cores, f"{held:,} of {each.cores:,}") if each.cores else "–"
    return each.name, state_mark(each.state), cores, *([each.note or "–"] if noted else [])
