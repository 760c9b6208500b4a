"""The page Health: the engines, the journal, and errors."""

from __future__ import annotations

from windlass.control.journal import RowFilter
from windlass.control.journal.reader import SeenStatus
from windlass.control.web.html import Markup, tag
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.layout import page, state_mark, table, tiles, zone_note
from windlass.control.web.request import PageRequest
from windlass.control.words import clock_text, span_text, zone_text

#: A running engine that has written nothing for this long is marked, s.
_SILENT = 60.0


def health_page(request: PageRequest, context: PageContext) -> Markup:
    """Return the page."""
    reader = context.reader
    engines = table(
        "Engines",
        ("Engine", "State", "Clock", "Last written#", "What it is", "Error"),
        [_row(each, context.wall) for each in reader.engines()],
        "No engine has written to this journal yet.",
    )
    counts = [(name.capitalize(), f"{count:,}") for name, count in reader.counts()]
    open_acts = table(
        "Acts without an outcome",
        ("Time", "Job", "Act", "Key"),
        [(clock_text(act.time), str(act.job), act.action, act.key) for act in reader.open_acts()[:50]],
        "Every act has an outcome.",
    )
    failed = reader.events(RowFilter(topic="error"), limit=20).rows
    errors = table(
        "Errors, the latest first",
        ("Time", "Engine", "Error"),
        [(clock_text(each.time), each.job.engine, each.text) for each in failed],
        "No error was recorded.",
    )
    return page(
        "/health",
        "Health",
        engines,
        tag("h2", "Journal"),
        tiles(*counts, ("Browsers", f"{context.clients:,}")),
        zone_note([each.time for each in failed]),
        errors,
        open_acts,
    )


def _row(each: SeenStatus, wall: float) -> tuple[str, ...]:
    status, age = each.status, wall - each.recorded
    silent = status.state == "running" and age > _SILENT
    return (
        status.engine,
        state_mark("silent" if silent else status.state),
        zone_text(status.time),
        f"{span_text(age)} ago",
        status.about,
        status.error or "–",
    )
