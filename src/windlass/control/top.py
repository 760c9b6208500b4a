"""The page Now in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from windlass.agent.stop import Stop
from windlass.control.journal import JournalReader
from windlass.control.summary import EngineSummary, SiteJob, summaries
from windlass.control.words import clock_text, span_text
from windlass.model.text import printable

#: Lines of an engine that are not rows of a table.
_OTHER = 13
#: Interval at which the journal is polled, s.
_POLL = 1.0


def now_tables(reader: JournalReader, lines: int) -> RenderableType:
    """Return what runs and what waits, for a terminal with this many lines.

    Parameters
    ----------
    reader
        The journal.
    lines
        Height of the terminal, at least 1.

    Raises
    ------
    InputError
        The journal cannot be read.
    """
    found = summaries(reader)
    if not found:
        return "No engine has written to this journal yet."
    room = max(2, lines // len(found) - _OTHER)
    return Group(*(each for summary in found for each in _engine(summary, room)))


def watch(
    reader: JournalReader, lines: Callable[[], int], show: Callable[[RenderableType], None], stop: Stop
) -> None:
    """Show what runs and what waits, again at each change of the journal, until a stop is requested.

    Parameters
    ----------
    reader
        The journal.
    lines
        Returns the height of the terminal.
    show
        Called with the tables.
    stop
        Ends the call.
    """
    before: tuple[float, ...] | None = None
    while not stop.requested:
        now = reader.change()
        if now != before:
            show(now_tables(reader, lines()))
        before = now
        stop.wait(_POLL)


def _engine(summary: EngineSummary, room: int) -> list[RenderableType]:
    status = summary.seen.status
    # Waiting jobs are what a reader looks for, and get the larger part.
    waiting = min(summary.waiting_count, max(1, room - min(summary.running_count, room // 3)))
    counts = f"{summary.running_count:,} running, {summary.waiting_count:,} waiting"
    if summary.accepting:
        counts = f"{summary.accepting} machines accept tasks"
    head = (
        f"{status.engine}: {status.state}, {clock_text(summary.now)}; {counts}, "
        f"{summary.held:,} of {summary.cores:,} cores held"
    )
    # A live display bypasses the console's own escaping of names from logs.
    lines: list[RenderableType] = [printable(text) for text in (head, status.error, summary.note) if text]
    if not summary.lists_jobs:
        return lines
    lines.append(_jobs(summary, "Waits for", summary.waiting[:waiting], summary.waiting_count, "waiting"))
    rest = max(1, room - waiting)
    lines.append(_jobs(summary, "Runs for", summary.running[:rest], summary.running_count, "running"))
    return lines


def _jobs(
    summary: EngineSummary, since: str, jobs: Sequence[SiteJob], count: int, name: str
) -> RenderableType:
    if not jobs:
        return f"No {name} jobs."
    more = "" if len(jobs) >= count else f", {len(jobs):,} of {count:,}"
    table = Table(title=f"{name.capitalize()} jobs{more}", title_justify="left", expand=True)
    for column in ("Job", "Site"):
        table.add_column(column, no_wrap=True)
    for column in (since, "Cores"):
        table.add_column(column, no_wrap=True, justify="right")
    table.add_column("Why", no_wrap=True, ratio=1)
    for each in jobs:
        job, site = each.job, each.site or "all"
        cores = f"{job.cores:,}" if job.cores else "–"
        since_text = span_text(summary.now - job.since)
        table.add_row(printable(job.id), printable(site), since_text, cores, printable(job.why))
    return table
