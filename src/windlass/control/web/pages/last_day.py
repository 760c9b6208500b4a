"""The page Last day: a replay of each site's last day under the running policy, compared with what happened."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from windlass.control.last_day import LastDay, last_day, queues
from windlass.control.web.html import Markup, joined, tag
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.layout import link, meter, page, table, tiles, zone_note
from windlass.control.web.request import BadRequestError, PageRequest
from windlass.control.words import clock_text, span_text
from windlass.experiment.start_times.fidelity import ReplayedPast, WaitComparison
from windlass.order.site import POLICIES
from windlass.report.units import counted

_EMPTY = "No engine reports a queue of batch jobs that have ended."
#: What the replay leaves out.
_NEGLECTED = (
    "The replay has the jobs, arrivals and run times of the journal; only the starts are its own.",
    "The number of processors is the same for the whole day: the median of those that jobs held or could take.",
    "Only processors are replayed: not memory, nodes or licences, and not cores that two jobs share.",
    "A policy from a file is replaced by easy. Jobs of other loads, or that no policy orders, are left out.",
    "Jobs that still run are assumed to run as long as they requested.",
)


def last_day_page(request: PageRequest, context: PageContext) -> Markup:
    """Return the page."""
    known = queues(context.reader)
    engine, site = request.text("engine"), request.text("site")
    chosen = [each for each in known if engine in (None, each[0]) and site in (None, each[1])]
    if known and not chosen:
        named = ", ".join(" ".join(each) for each in known)
        raise BadRequestError(404, f"no such queue, expected one of {named}")
    sections = [_section(last_day(context.reader, *chosen[0]))] if chosen else []
    neglected = tag(
        "details",
        tag("summary", "What this replay neglects"),
        tag("ul", *(tag("li", each) for each in _NEGLECTED)),
        id="neglected",
    )
    about = tag(
        "p",
        "This page replays the last 24 hours under the running policy, and compares starts and waits with those that"
        " happened. Where they differ much, predictions and what-if of this site are as inaccurate.",
    )
    content = (
        [about, _links(known, chosen[0]), *sections, neglected]
        if sections
        else [tag("p", _EMPTY, class_="empty")]
    )
    return page("/last-day", "Last day, replayed", *content, live=False)


def _links(known: Sequence[tuple[str, str]], chosen: tuple[str, str]) -> Markup:
    if len(known) < 2:
        return Markup("")
    items = [
        tag("strong", ": ".join(filter(None, each)))
        if each == chosen
        else link(": ".join(filter(None, each)), "/last-day", engine=each[0], site=each[1])
        for each in known
    ]
    return tag("nav", tag("ul", *(tag("li", each) for each in items)), aria_label="Sites", class_="sites")


def _section(day: LastDay) -> Markup:
    title = tag("h2", f"{day.engine}: {day.site or 'all sites'}")
    if day.replay is None or not day.replay.whole.jobs:
        return tag(
            "section",
            title,
            tag("p", "No job was submitted and started in the last 24 hours.", class_="empty"),
        )
    return tag("section", title, *(tag("p", each) for each in day_sentences(day)), _shown(day.replay))


def day_sentences(day: LastDay) -> list[str]:
    """Return how well the replay of a day meets what happened.

    Parameters
    ----------
    day
        The day, in which at least one job was submitted.

    Examples
    --------
    >>> from windlass.experiment.worlds.policy import PolicySpec
    >>> whole = WaitComparison(0.0, 40, 600.0, 660.0, 90.0)
    >>> past = ReplayedPast(86400.0, whole, (), 1, 0)
    >>> for each in day_sentences(LastDay("slurm", "site", PolicySpec(name="easy"), past, 64, 60, 64, True)):
    ...     print(each)
    40 jobs waited 10 min on average; in the replay under easy with 64 processors, 11 min (+10 %).
    The starts differ by 1 min on average.
    1 job started that has not started in the replay.
    The processors of the queue varied from 60 to 64.
    """
    assert day.replay is not None
    past, whole = day.replay, day.replay.whole
    policy = day.policy.choice(POLICIES).label
    change = f" ({whole.replayed / whole.recorded - 1:+.0%})".replace("%", " %") if whole.recorded > 0 else ""
    lines = [
        f"{counted(whole.jobs, 'job')} waited {span_text(whole.recorded)} on average; in the replay under {policy} with"
        f" {day.cores:,} processors, {span_text(whole.replayed)}{change}.",
        f"The starts differ by {span_text(whole.difference)} on average.",
    ]
    for count, text in (
        (past.only_recorded, "started that {} not started in the replay."),
        (past.only_replayed, "still {} that started in the replay."),
    ):
        if count:
            one = "has" if "started that" in text else "waits"
            many = "have" if "started that" in text else "wait"
            lines.append(f"{counted(count, 'job')} {text.format(one if count == 1 else many)}")
    if day.fewest != day.most:
        lines.append(f"The processors of the queue varied from {day.fewest:,} to {day.most:,}.")
    if not day.complete:
        lines.append("Some jobs are missing: more ended between two views than a view lists.")
    return lines


def _shown(past: ReplayedPast) -> Markup:
    most = max((max(each.recorded, each.replayed) for each in past.hours if each.jobs), default=0.0)
    rows = [_row(each, most) for each in past.hours if each.jobs]
    return joined(
        tiles(
            ("Jobs compared", f"{past.whole.jobs:,}"),
            ("Recorded mean wait", span_text(past.whole.recorded)),
            ("Replayed mean wait", span_text(past.whole.replayed)),
            ("Mean difference of a start", span_text(past.whole.difference)),
        ),
        zone_note([past.until]),
        table(
            "By the hour of the submission",
            ("Hour from", "Jobs#", "Recorded wait", "Replayed wait", "Difference of starts#"),
            rows,
            "No job was submitted.",
        ),
    )


def _row(each: WaitComparison, most: float) -> tuple[str, ...]:
    return (
        clock_text(each.since),
        f"{each.jobs:,}",
        _bar(each.recorded, most),
        _bar(each.replayed, most),
        span_text(each.difference),
    )


def _bar(seconds: float, most: float) -> Markup:
    return Markup("–") if isnan(seconds) else meter(seconds, most, span_text(seconds))
