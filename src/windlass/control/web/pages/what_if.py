"""The page What-if: waits under another policy or size, from the present state of a site."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from windlass.control.web.html import Markup, joined, tag
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.layout import page, table
from windlass.control.web.request import BadRequestError, PageRequest
from windlass.control.what_if import SiteQueue, site_queues, what_if
from windlass.control.words import zone_text
from windlass.experiment.start_times.alternatives import Alternative, AlternativeStarts, DrawnValue, WhatIf
from windlass.experiment.start_times.sentences import what_if_sentences
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError
from windlass.order.site import POLICIES
from windlass.report.units import duration

#: Futures of an answer, and jobs that it lists.
_DRAWS, _JOBS = 12, 50
_MOST_PROCESSORS = 10**7
_EMPTY = "No engine reports a queue of batch jobs in which jobs run or wait."
#: What the replays leave out, in addition to what predictions leave out.
_NEGLECTED = (
    "The present state is the latest one in the journal. At most 300 running and 300 waiting jobs are replayed.",
    "Run times are drawn from the last 300 jobs that ended at the site, and later arrivals from those of them that"
    " were submitted at the same time of earlier days; there may be none.",
    "Only the queue of batch jobs is replayed. Its processors are those that its jobs hold or may take now; those of"
    " other loads stay with them.",
    "A policy from a file is replaced by easy. On Slurm, jobs that wait for other jobs are left out.",
    "If machines are removed, jobs that run there keep their cores until they end.",
    "Nothing is changed: the answer is a prediction.",
)


def is_question(request: PageRequest) -> bool:
    """Return whether a request needs replays."""
    return any(request.text(name) is not None for name in ("policy", "procs", "without"))


def what_if_page(request: PageRequest, context: PageContext) -> Markup:
    """Return the page: a form, and the answer if the request has a question."""
    queues = site_queues(context.reader)
    if not queues:
        return page("/what-if", "What-if", tag("p", _EMPTY, class_="empty"), live=False)
    engine, site = request.text("engine"), request.text("site")
    chosen = [each for each in queues if engine in (None, each.engine) and site in (None, each.site)]
    if not chosen:
        named = ", ".join(f"{each.engine} {each.site}" for each in queues)
        given = " ".join(filter(None, (engine, site)))
        raise BadRequestError(404, f"no queue of {given} can be replayed, expected one of {named}")
    answer = [_answer(request, chosen[0])] if is_question(request) else []
    shown = table(
        "Queues that can be replayed",
        ("Engine", "Site", "Policy", "Processors#", "Waiting#", "State of"),
        [_row(each) for each in queues],
        _EMPTY,
    )
    neglected = tag(
        "details",
        tag("summary", "What these replays neglect"),
        tag("ul", *(tag("li", each) for each in _NEGLECTED)),
        id="neglected",
    )
    return page(
        "/what-if", "What-if", _form(request, queues, chosen[0]), *answer, shown, neglected, live=False
    )


def _form(request: PageRequest, queues: Sequence[SiteQueue], chosen: SiteQueue) -> Markup:
    fields = [
        _choice("Engine", "engine", sorted({each.engine for each in queues}), chosen.engine),
        _choice("Site", "site", sorted({each.site for each in queues}), chosen.site),
        _choice("Policy", "policy", ("", *POLICIES.names()), request.text("policy") or ""),
        _typed("Processors", "procs", request.text("procs"), f"now {chosen.processors}"),
        _typed("Without the machine", "without", request.text("without"), "none", "machines"),
    ]
    known = tag("datalist", *(tag("option", each.name) for each in chosen.status.machines), id="machines")
    button = tag("p", tag("button", "Replay", type="submit"))
    return tag("form", *fields, known, button, method="get", action="/what-if", aria_label="What-if")


def _choice(label: str, name: str, values: Sequence[str], chosen: str) -> Markup:
    options = [
        tag("option", value or "as at present", value=value, selected=value == chosen) for value in values
    ]
    return tag("p", tag("label", label, for_=name), tag("select", *options, name=name, id=name))


def _typed(label: str, name: str, value: str | None, hint: str, known: str | None = None) -> Markup:
    """Return a text field; ``known`` is the element with values that the browser proposes."""
    field = tag(
        "input", type="text", name=name, id=name, value=value, placeholder=hint, maxlength=200, list=known
    )
    return tag("p", tag("label", label, for_=name), field)


def _row(queue: SiteQueue) -> tuple[str, ...]:
    jobs = len(queue.history.at(queue.now).waiting)
    policy = queue.policy.choice(POLICIES).label
    return (
        queue.engine,
        queue.site or "all",
        policy,
        f"{queue.processors:,}",
        f"{jobs:,}",
        zone_text(queue.now),
    )


def _answer(request: PageRequest, queue: SiteQueue) -> Markup:
    policy, without = request.text("policy"), request.text("without")
    if policy is not None and policy not in POLICIES.names():
        # Names only: a path of a file would be imported.
        raise BadRequestError(400, f"unknown policy, expected one of {', '.join(POLICIES.names())}")
    size = request.number("procs", 1, _MOST_PROCESSORS, "processors")
    if size is not None and without is not None:
        raise BadRequestError(400, "both processors and a machine are given, expected one of them")
    try:
        left = queue.processors if without is None else queue.without([without])
        spec = queue.policy if policy is None else PolicySpec(name=policy)
        found = what_if(queue, [Alternative(spec, left if size is None else size)], draws=_DRAWS)
    except InputError as error:
        raise BadRequestError(400, str(error)) from error
    place = f"at {queue.site or queue.engine} ({zone_text(queue.now)})"
    lines = [
        tag("p", each, class_=None if number else "answer")
        for number, each in enumerate(what_if_sentences(found, place))
    ]
    shown = joined(_waits(found), _jobs(found)) if found.jobs else Markup("")
    return tag("section", tag("h2", f"Answer for {queue.engine} {queue.site}"), *lines, shown)


def _waits(found: WhatIf) -> Markup:
    def row(each: AlternativeStarts) -> tuple[str, ...]:
        sooner, later = found.sooner_and_later(each)
        change = "–" if each is found.present else _signed(found.change(each))
        counts = (f"{sooner:,}", f"{later:,}", f"{found.never(each):,}")
        return each.alternative.name, _span(found.wait(each)), change, *counts

    return table(
        "Mean wait from now on, with the 90 % interval of the replays",
        ("Alternative", "Wait", "Change", "Sooner#", "Later#", "Never#"),
        [row(each) for each in (found.present, *found.others)],
        "No job waits.",
    )


def _jobs(found: WhatIf) -> Markup:
    names = ["Job", "At present#", *(f"{each.alternative.name}#" for each in found.others)]
    rows = [
        (job, *("never" if seconds == float("inf") else _rounded(seconds) for seconds in waits))
        for job, *waits in found.by_job().head(_JOBS).iter_rows()
    ]
    return table(
        "Time until each job starts, in the order of submission, means of the replays",
        names,
        rows,
        "No job waits.",
    )


def _span(value: DrawnValue) -> str:
    if isnan(value.mean):
        # No job starts both at present and with the alternative.
        return "–"
    return f"{_rounded(value.mean)} ({_rounded(value.low)} to {_rounded(value.high)})"


def _rounded(seconds: float) -> str:
    return duration(round(seconds))


def _signed(value: DrawnValue) -> str:
    if isnan(value.mean):
        return "–"

    def text(seconds: float) -> str:
        return f"{'' if seconds < 0 else '+'}{_rounded(seconds)}"

    return f"{text(value.mean)} ({text(value.low)} to {text(value.high)})"
