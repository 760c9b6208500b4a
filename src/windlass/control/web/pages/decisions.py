"""The page Decisions: the journal by engine, site, decision and job."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.control.journal import DecisionRecord, EventRecord, RowFilter
from windlass.control.journal.reader import MOST as MOST_ROWS
from windlass.control.web.html import Markup, joined, tag
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.layout import link, page, table, zone_note
from windlass.control.web.request import PageRequest
from windlass.control.words import clock_text

_ROWS = 50
#: The largest id of a row.
_LAST = 2**63 - 1


def decisions_page(request: PageRequest, context: PageContext) -> Markup:
    """Return the page."""
    before = request.number("before", 0, _LAST)
    rows = request.number("rows", 1, MOST_ROWS) or _ROWS
    engine, site, decision, job = (request.text(name) for name in ("engine", "site", "decision", "job"))
    where = RowFilter(engine=engine, site=site, topic=decision, job=job)
    found = context.reader.decisions(where, before=before, limit=rows)
    chosen = {"engine": engine, "site": site, "decision": decision, "job": job}
    given = {name: value for name, value in chosen.items() if value is not None}
    scopes = context.reader.decision_scopes()
    several = len({name for name, _, _ in scopes}) > 1
    columns = ["Time", "Job", "Site", "Decision", "Policy", "Answer", "Reason"]
    turns = []
    if before is not None:
        turns.append(link("Latest", "/decisions", **given))
    if found.older is not None:
        turns.append(link("Older", "/decisions", **given, before=found.older))
    content = [
        _form(request, scopes),
        zone_note([each.time for each in found.rows]),
        table(
            "Decisions, the latest first",
            [columns[0], "Engine", *columns[1:]] if several else columns,
            [_row(each, several) for each in found.rows],
            "No decision matches.",
        ),
        tag("nav", *turns, aria_label="Rows", class_="turns") if turns else "",
    ]
    if job is not None:
        seen = context.reader.events(RowFilter(engine=engine, site=site, job=job), limit=rows)
        content.append(_events(seen.rows))
        if context.act is not None:
            act = link("Hold or release this job", "/actions", engine=engine, job=job)
            content.append(tag("p", act))
    return page("/decisions", "Decisions", *content, live=before is None)


def _row(each: DecisionRecord, several: bool) -> tuple[str, ...]:
    job = link(each.job.id, "/decisions", engine=each.job.engine, job=each.job.id) if each.job.id else "–"
    return (
        clock_text(each.time),
        *([each.job.engine] if several else []),
        job,
        each.job.site or "all",
        each.decision,
        each.policy,
        each.answer,
        each.reason,
    )


def _events(rows: Sequence[EventRecord]) -> Markup:
    return table(
        "What happened to the job, the latest first",
        ("Time", "Event", "Details"),
        [(clock_text(each.time), each.kind, each.text or "–") for each in rows],
        "No event of this job is in the journal.",
    )


def _form(request: PageRequest, scopes: Sequence[tuple[str, str, str]]) -> Markup:
    names = {
        "engine": sorted({engine for engine, _, _ in scopes}),
        "site": sorted({site for _, site, _ in scopes if site}),
        "decision": sorted({decision for _, _, decision in scopes}),
    }
    fields = [_choice(name, some, request.text(name)) for name, some in names.items()]
    job = tag("input", type="search", name="job", id="job", value=request.text("job"), maxlength=200)
    fields.append(tag("p", tag("label", "Job", for_="job"), job))
    buttons = tag("p", tag("button", "Filter", type="submit"), " ", tag("a", "Reset", href="/decisions"))
    return tag(
        "form", *fields, buttons, method="get", action="/decisions", role="search", aria_label="Decisions"
    )


def _choice(name: str, values: Sequence[str], chosen: str | None) -> Markup:
    some = values if chosen is None or chosen in values else [*values, chosen]
    options = [tag("option", "any", value="")]
    options += [tag("option", each, value=each, selected=each == chosen) for each in some]
    label = tag("label", name.capitalize(), for_=name)
    return joined(tag("p", label, tag("select", *options, name=name, id=name)))
