"""The line of a driver's log on the jobs that a decision started."""

from __future__ import annotations

from collections.abc import Callable

from windlass.engines.batch.log_entry import LogEntry
from windlass.order.site.view import SiteView, Start

#: The most jobs of a decision that its line names; the journal has all of them.
_MOST_NAMED = 20


def report_started(
    view: SiteView, answer: Start, name: Callable[[int], int | str], notify: Callable[[str], None]
) -> None:
    """Report the jobs that a decision started, with the reason of each; nothing if there are none.

    Parameters
    ----------
    view
        What the policy saw.
    answer
        The decision.
    name
        Returns what the log calls a job.
    notify
        Called with the line.
    """
    if not answer.jobs:
        return
    pairs = [(name(int(job)), why) for job, why in zip(answer.jobs, answer.reasons(), strict=True)]
    started = "; ".join(f"{job}: {why}" for job, why in pairs[:_MOST_NAMED])
    more = f"; and {len(pairs) - _MOST_NAMED:,} more" if len(pairs) > _MOST_NAMED else ""
    waiting = len(view.waiting.job) - len(answer.jobs)
    line = f"start {started}{more} ({waiting} wait)"
    notify(LogEntry.of(line, "start", jobs=[job for job, _ in pairs], waiting=waiting))
