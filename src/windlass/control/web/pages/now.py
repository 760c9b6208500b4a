"""The page Now: what runs and what waits, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.control.journal.reader import MOST as MOST_ROWS
from windlass.control.summary import EngineSummary, SiteJob, summaries
from windlass.control.web.html import Markup, joined, tag
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.layout import link, page, state_mark, table, tiles
from windlass.control.web.request import PageRequest
from windlass.control.words import clock_text, span_text

#: Rows of each table if the query has no number.
_ROWS = 50


def now_page(request: PageRequest, context: PageContext) -> Markup:
    """Return the page."""
    rows = request.number("rows", 1, MOST_ROWS) or _ROWS
    site = request.text("site")
    found = summaries(context.reader, request.text("engine"), site)
    sections = [_section(each, site, rows) for each in found]
    empty = tag("p", "No engine has written to this journal yet.", class_="empty")
    return page("/", "Now", *(sections or [empty]))


def _section(summary: EngineSummary, site: str | None, rows: int) -> Markup:
    status = summary.seen.status
    return tag(
        "section",
        tag("h2", joined(f"{status.engine} ", state_mark(status.state))),
        tag("p", status.about),
        tag("p", status.error, class_="error", role="alert") if status.error else "",
        tiles(
            ("Time", clock_text(summary.now)),
            ("Running", f"{summary.running_count:,}"),
            ("Waiting", f"{summary.waiting_count:,}"),
            ("Cores held", f"{summary.held:,} of {summary.cores:,}"),
        ),
        tag("p", summary.note) if summary.note else "",
        _site_links(summary, site),
        _jobs(summary, "Waiting jobs", "Waits for", summary.waiting, summary.waiting_count, rows),
        _jobs(summary, "Running jobs", "Runs for", summary.running, summary.running_count, rows),
    )


def _site_links(summary: EngineSummary, chosen: str | None) -> Markup:
    named = [site for site in summary.sites if site]
    if len(named) < 2:
        return Markup("")
    links = [link("all sites", "/", engine=summary.name)] if chosen else [tag("strong", "all sites")]
    for name in named:
        links.append(
            tag("strong", name) if name == chosen else link(name, "/", engine=summary.name, site=name)
        )
    return tag("nav", tag("ul", *(tag("li", each) for each in links)), aria_label="Sites", class_="sites")


def _jobs(
    summary: EngineSummary, caption: str, since: str, jobs: Sequence[SiteJob], count: int, rows: int
) -> Markup:
    columns = ("Job", "Site", "Kind", f"{since}#", "Cores#", "Why")
    cells = [_row(each, summary) for each in jobs[:rows]]
    empty = f"No {caption.lower()}."
    return joined(table(caption, columns, cells, empty), _more(min(rows, len(jobs)), count))


def _row(each: SiteJob, summary: EngineSummary) -> tuple[str, ...]:
    job = each.job
    return (
        link(job.id, "/decisions", engine=summary.name, job=job.id),
        each.site or "all",
        job.kind,
        span_text(summary.now - job.since),
        f"{job.cores:,}" if job.cores else "–",
        job.why,
    )


def _more(shown: int, count: int) -> Markup:
    if shown >= count:
        return Markup("")
    more = joined(f"{shown:,} of {count:,} shown. ", link(f"Show up to {MOST_ROWS}", "/", rows=MOST_ROWS))
    return tag("p", more if shown < MOST_ROWS else f"{shown:,} of {count:,} shown.", class_="more")
