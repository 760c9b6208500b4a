"""The page Now: what runs and what waits, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windlass.control.journal import ViewRecord
from windlass.control.journal.reader import MOST as MOST_ROWS
from windlass.control.site_status import JobState, SiteStatus, status_from_text
from windlass.control.web.html import Markup, joined, tag
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.layout import link, page, state_mark, table, tiles
from windlass.control.web.pages.words import clock_text, span_text
from windlass.control.web.request import PageRequest

#: Rows of each table if the query has no number.
_ROWS = 50


@dataclass(frozen=True, slots=True)
class _Placed:
    """A job with the view that it is in."""

    job: JobState
    view: ViewRecord


def now_page(request: PageRequest, context: PageContext) -> Markup:
    """Return the page."""
    rows = request.number("rows", 1, MOST_ROWS) or _ROWS
    engine, site = request.text("engine"), request.text("site")
    sections = []
    views = [view for view in context.reader.views() if engine in (None, view.engine)]
    for seen in context.reader.engines():
        if engine not in (None, seen.status.engine):
            continue
        own = [view for view in views if view.engine == seen.status.engine]
        chosen = [(view, status_from_text(view.content)) for view in own if site in (None, view.site)]
        heading = joined(f"{seen.status.engine} ", state_mark(seen.status.state))
        sections.append(
            tag(
                "section",
                tag("h2", heading),
                tag("p", seen.status.about),
                tag("p", seen.status.error, class_="error", role="alert") if seen.status.error else "",
                _tiles(seen.status.time, [state for _, state in chosen]),
                _notes(chosen),
                _site_links(seen.status.engine, site, own),
                _waiting(seen.status.time, chosen, rows),
                _running(seen.status.time, chosen, rows),
            )
        )
    empty = tag("p", "No engine has written to this journal yet.", class_="empty")
    return page("/", "Now", *(sections or [empty]))


def _tiles(now: float, states: Sequence[SiteStatus]) -> Markup:
    cores, idle = sum(each.cores for each in states), sum(each.idle for each in states)
    return tiles(
        ("Time", clock_text(now)),
        ("Running", f"{sum(each.running_count for each in states):,}"),
        ("Waiting", f"{sum(each.waiting_count for each in states):,}"),
        ("Cores held", f"{cores - idle:,} of {cores:,}"),
    )


def _notes(chosen: Sequence[tuple[ViewRecord, SiteStatus]]) -> Markup:
    notes = [f"{view.site or 'all sites'}: {state.note}" for view, state in chosen if state.note]
    return tag("p", f"Not listed: {'; '.join(notes)}.") if notes else Markup("")


def _site_links(engine: str, chosen: str | None, views: Sequence[ViewRecord]) -> Markup:
    named = [view.site for view in views if view.site]
    if len(named) < 2:
        return Markup("")
    links = [link("all sites", "/", engine=engine)] if chosen else [tag("strong", "all sites")]
    for name in named:
        links.append(tag("strong", name) if name == chosen else link(name, "/", engine=engine, site=name))
    return tag("nav", tag("ul", *(tag("li", each) for each in links)), aria_label="Sites", class_="sites")


def _waiting(now: float, chosen: Sequence[tuple[ViewRecord, SiteStatus]], rows: int) -> Markup:
    jobs = [_Placed(job, view) for view, state in chosen for job in state.waiting]
    count = sum(state.waiting_count for _, state in chosen)
    # The jobs that have waited longest come first.
    jobs.sort(key=lambda each: each.job.since)
    return joined(
        table(
            "Waiting jobs",
            ("Job", "Site", "Kind", "Waits for#", "Cores#", "Why"),
            [_row(each, now) for each in jobs[:rows]],
            "No job waits.",
        ),
        _more(min(rows, len(jobs)), count),
    )


def _running(now: float, chosen: Sequence[tuple[ViewRecord, SiteStatus]], rows: int) -> Markup:
    jobs = [_Placed(job, view) for view, state in chosen for job in state.running]
    count = sum(state.running_count for _, state in chosen)
    # The jobs that started last come first.
    jobs.sort(key=lambda each: -each.job.since)
    return joined(
        table(
            "Running jobs",
            ("Job", "Site", "Kind", "Runs for#", "Cores#", "Why"),
            [_row(each, now) for each in jobs[:rows]],
            "No job runs.",
        ),
        _more(min(rows, len(jobs)), count),
    )


def _row(each: _Placed, now: float) -> tuple[str, ...]:
    job, view = each.job, each.view
    return (
        link(job.id, "/decisions", engine=view.engine, job=job.id),
        view.site or "all",
        job.kind,
        span_text(now - job.since),
        f"{job.cores:,}" if job.cores else "–",
        job.why,
    )


def _more(shown: int, count: int) -> Markup:
    if shown >= count:
        return Markup("")
    more = joined(f"{shown:,} of {count:,} shown. ", link(f"Show up to {MOST_ROWS}", "/", rows=MOST_ROWS))
    return tag("p", more if shown < MOST_ROWS else f"{shown:,} of {count:,} shown.", class_="more")
