"""The page Now: what runs and what waits, with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windlass.control.journal import PredictionRecord
from windlass.control.journal.reader import MOST as MOST_ROWS
from windlass.control.summary import EngineSummary, SiteJob, summaries
from windlass.control.web.html import Markup, joined, tag
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.layout import link, more_rows, page, site_links, state_mark, table, tiles
from windlass.control.web.request import PageRequest
from windlass.control.words import span_text, until_text, zone_text

#: Rows of each table if the query has no number.
_ROWS = 50
#: Predicted start of waiting jobs, s, by site and job.
_Starts = Mapping[tuple[str, str], float]


def now_page(request: PageRequest, context: PageContext) -> Markup:
    """Return the page."""
    rows = request.number("rows", 1, MOST_ROWS) or _ROWS
    site = request.text("site")
    found = summaries(context.reader, request.text("engine"), site)
    sections = [
        _section(each, site, rows, _starts(context.reader.predictions.waiting(each.name, site)))
        for each in found
    ]
    empty = tag("p", "No engine has written to this journal yet.", class_="empty")
    return page("/", "Now", *(sections or [empty]))


def _starts(predictions: Sequence[PredictionRecord]) -> _Starts:
    return {(each.job.site, each.job.id): each.median for each in predictions}


def _section(summary: EngineSummary, site: str | None, rows: int, starts: _Starts) -> Markup:
    status = summary.seen.status
    return tag(
        "section",
        tag("h2", joined(f"{status.engine} ", state_mark(status.state))),
        tag("p", status.about),
        tag("p", status.error, class_="error", role="alert") if status.error else "",
        tiles(
            ("Time", zone_text(summary.now)),
            *_counts(summary),
            ("Cores held", f"{summary.held:,} of {summary.cores:,}"),
        ),
        tag("p", summary.note) if summary.note else "",
        site_links("/", summary.name, summary.sites, site),
        *(_tables(summary, rows, starts) if summary.lists_jobs else ()),
    )


def _counts(summary: EngineSummary) -> tuple[tuple[str, str], ...]:
    if summary.accepting:
        return (("Machines that accept tasks", summary.accepting),)
    return ("Running", f"{summary.running_count:,}"), ("Waiting", f"{summary.waiting_count:,}")


def _tables(summary: EngineSummary, rows: int, starts: _Starts) -> tuple[Markup, Markup]:
    return (
        _jobs(summary, "Waiting jobs", "Waits for", summary.waiting, summary.waiting_count, rows, starts),
        _jobs(summary, "Running jobs", "Runs for", summary.running, summary.running_count, rows),
    )


def _jobs(
    summary: EngineSummary,
    caption: str,
    since: str,
    jobs: Sequence[SiteJob],
    count: int,
    rows: int,
    starts: _Starts | None = None,
) -> Markup:
    columns = ["Job", "Site", "Kind", f"{since}#", "Cores#", "Why"]
    if starts:
        columns.insert(4, "Starts in#")
    cells = [_row(each, summary, starts) for each in jobs[:rows]]
    empty = f"No {caption.lower()}."
    return joined(table(caption, columns, cells, empty), more_rows("/", min(rows, len(jobs)), count))


def _row(each: SiteJob, summary: EngineSummary, starts: _Starts | None) -> tuple[str, ...]:
    job = each.job
    start = []
    if starts:
        at = starts.get((each.site, job.id))
        text = "" if at is None else until_text(at, summary.now)
        start = [link(text, "/when", engine=summary.name, site=each.site, job=job.id) if text else "–"]
    return (
        link(job.id, "/decisions", engine=summary.name, job=job.id),
        each.site or "all",
        job.kind,
        span_text(summary.now - job.since),
        *start,
        f"{job.cores:,}" if job.cores else "–",
        job.why,
    )
