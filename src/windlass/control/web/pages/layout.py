"""What all pages share, and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from windlass.control.journal.reader import MOST as MOST_ROWS
from windlass.control.web.html import Markup, escaped, joined, tag
from windlass.control.words import zone_name

_LINKS = (
    ("/", "Now"),
    ("/when", "When"),
    ("/last-day", "Last day"),
    ("/what-if", "What-if"),
    ("/decisions", "Decisions"),
    ("/machines", "Machines"),
    ("/actions", "Actions"),
    ("/health", "Health"),
)
#: A table of at most so many columns is as wide as its content.
_FEW = 3
#: The most characters of a cell without line breaks.
_SHORT = 45
_TAGS = re.compile("<[^>]*>")


def page(path: str, title: str, *content: str, live: bool = True) -> Markup:
    """Return a page.

    Parameters
    ----------
    path, title
        Its path and its title.
    content
        The content of the element ``main``, which is fetched again at each change.
    live
        False for a page of the past, which does not change.
    """
    links = [
        tag("li", tag("a", name, href=to, aria_current="page" if to == path else None)) for to, name in _LINKS
    ]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} – Windlass"),
        tag("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        tag("link", rel="stylesheet", href="/static/style.css"),
        tag("script", src="/static/live.js", defer=True),
    )
    header = tag(
        "header",
        tag("a", "Windlass", href="/", class_="brand"),
        tag("nav", tag("ul", *links), aria_label="Pages"),
        tag("button", "Pause updates", type="button", id="pause", aria_pressed="false", hidden=True),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#main", class_="skip"),
        header,
        tag("main", tag("h1", title), *content, id="main", tabindex="-1"),
        tag("footer", tag("p", "" if live else "This page is not updated.", id="status", role="status")),
        data_live="yes" if live else "no",
    )
    return tag("html", head, body, lang="en")


def refused_page(path: str, why: str) -> Markup:
    """Return a page with the reason for which a request is refused.

    Parameters
    ----------
    path
        The path of the page, which exists.
    why
        The reason.
    """
    path, name = next(each for each in _LINKS[::-1] if path.startswith(each[0]))
    line = tag("p", f"{why[:1].upper()}{why[1:]}.", class_="error", role="alert")
    back = tag("p", tag("a", "Back to the page without this query", href=path))
    return page(path, name, line, back, live=False)


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], empty: str) -> Markup:
    """Return a table; on a narrow screen each row becomes a block with the names of its columns.

    Parameters
    ----------
    caption, columns
        Its caption and the names of its columns. Columns whose name ends with ``#`` are numbers.
    rows
        The cells of each row.
    empty
        Shown instead of a table without rows.
    """
    cells = list(rows)
    if not cells:
        return tag("p", empty, class_="empty")
    names = [name.removesuffix("#") for name in columns]
    kinds = ["number" if name.endswith("#") else "" for name in columns]
    head = [
        tag("th", name, scope="col", class_=kind or None) for name, kind in zip(names, kinds, strict=True)
    ]
    # A table has up to 500 rows, so that the tags of each column are made once.
    last = len(names) - 1
    tags = [
        _openings(name, kind, place < last)
        for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    body = [
        Markup(f"<tr>{''.join(_cell(*each) for each in zip(row, tags, strict=True))}</tr>") for row in cells
    ]
    return tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *head)),
        tag("tbody", *body),
        class_="few" if len(names) <= _FEW else None,
    )


def _openings(name: str, kind: str, followed: bool) -> tuple[str, str]:
    """Return the start tags of the long and of the short cells of a column.

    A short cell that is followed by others has no line breaks.
    """
    short = " ".join(filter(None, (kind, "short" if followed else "")))
    long, other = (
        tag("td", data_name=name, class_=each or None).removesuffix("</td>") for each in (kind, short)
    )
    return long, other


def _cell(content: str, openings: tuple[str, str]) -> str:
    """Return a cell as HTML."""
    text = _TAGS.sub("", content) if isinstance(content, Markup) else content
    return f"{openings[len(text) <= _SHORT]}{escaped(content)}</td>"


def tiles(*pairs: tuple[str, str]) -> Markup:
    """Return numbers with their names."""
    return tag(
        "dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs), class_="tiles"
    )


def state_mark(state: str) -> Markup:
    """Return the state of an engine or a machine, as a word in a colour."""
    return tag("span", state, class_=f"state {state if state.isalpha() else ''}")


def link(text: str, path: str, **parameters: str | int | None) -> Markup:
    """Return a link with a query."""
    given = {name: value for name, value in parameters.items() if value not in (None, "")}
    return tag("a", text, href=f"{path}?{urlencode(given)}" if given else path)


def meter(value: float, most: float, text: str) -> Markup:
    """Return a bar, with the same in words."""
    bar = tag("meter", text, value=f"{value:g}", min=0, max=f"{max(most, 1):g}", aria_hidden="true")
    return joined(bar, " ", text)


def site_links(path: str, engine: str, sites: Sequence[str], chosen: str | None) -> Markup:
    """Return links to a page for each named site of an engine, and for all; none with fewer than two sites."""
    named = [site for site in sites if site]
    if len(named) < 2:
        return Markup("")
    links = [link("all sites", path, engine=engine)] if chosen else [tag("strong", "all sites")]
    for name in named:
        links.append(tag("strong", name) if name == chosen else link(name, path, engine=engine, site=name))
    return tag("nav", tag("ul", *(tag("li", each) for each in links)), aria_label="Sites", class_="sites")


def zone_note(times: Iterable[float]) -> Markup:
    """Return a line with the time zones of the times (s) of a table; nothing for times of a simulation."""
    zones = sorted({each for time in times if (each := zone_name(time))})
    return tag("p", f"Times are in {' and '.join(zones)}.", class_="more") if zones else Markup("")


def more_rows(path: str, shown: int, count: int) -> Markup:
    """Return a link to further rows of a table; none if all are shown."""
    if shown >= count:
        return Markup("")
    more = joined(f"{shown:,} of {count:,} shown. ", link(f"Show up to {MOST_ROWS}", path, rows=MOST_ROWS))
    return tag("p", more if shown < MOST_ROWS else f"{shown:,} of {count:,} shown.", class_="more")
