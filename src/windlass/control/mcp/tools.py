"""The tools: each reads the journal, or checks a text, and changes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from windlass.control.journal import JournalReader, RowFilter
from windlass.control.mcp.answers import (
    DecisionAnswer,
    EngineAnswer,
    EngineStarts,
    EventAnswer,
    ExplainAnswer,
    ListAnswer,
    QueuedJobAnswer,
    SiteAnswer,
    StartAnswerRow,
    ValidateAnswer,
    WhatIfAnswer,
    WhenAnswer,
)
from windlass.control.summary import EngineSummary, SiteJob, summaries
from windlass.control.what_if import chosen_queue, what_if
from windlass.control.words import clock_text, zone_text
from windlass.experiment.scenario import make_scenario
from windlass.experiment.scenario.files import code_in
from windlass.experiment.start_times.alternatives import Alternative
from windlass.experiment.start_times.calibration import FEWEST
from windlass.experiment.start_times.sentences import what_if_sentences
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io import parse_yaml
from windlass.model import InputError
from windlass.order.site import POLICIES

#: Futures of a what-if.
_DRAWS = 12

_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Engine = Annotated[_Name, msgspec.Meta(description="Only this engine; empty for all.")]
_Site = Annotated[_Name, msgspec.Meta(description="Only this site; empty for all.")]
_Limit = Annotated[int, msgspec.Meta(ge=1, le=300, description="The most jobs or rows of each list.")]


class ListArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which engines and sites."""

    engine: _Engine = ""
    site: _Site = ""
    limit: _Limit = 30


class WhenArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which jobs."""

    engine: _Engine = ""
    site: _Site = ""
    job: Annotated[_Name, msgspec.Meta(description="Only this job; empty for all that wait.")] = ""
    limit: _Limit = 30


class ExplainArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which job."""

    job: Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="Identifier of the job.")]
    engine: _Engine = ""
    site: _Site = ""
    limit: _Limit = 30


class WhatIfArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which queue, and what is different: a policy, and a number of processors or machines that are removed."""

    engine: _Engine = ""
    site: _Site = ""
    policy: Annotated[
        _Name, msgspec.Meta(description="Another policy, from list; empty for the present.")
    ] = ""
    processors: Annotated[
        int, msgspec.Meta(ge=0, le=10**7, description="Another number of processors; 0 for the present.")
    ] = 0
    without: Annotated[
        tuple[_Name, ...], msgspec.Meta(max_length=300, description="Names of machines that are removed.")
    ] = ()


class ValidateArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A scenario."""

    scenario: Annotated[
        str, msgspec.Meta(min_length=1, max_length=60_000, description="Text of the scenario, YAML.")
    ]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Parameters
    ----------
    name, title, description
        What it is called, and what it does.
    arguments
        The type of its arguments.
    call
        Returns the answer to the journal and the arguments; raises InputError for what cannot be answered.
    replays
        True if it replays a queue, which takes seconds of a core: one such call runs at a time.
    """

    name: str
    title: str
    description: str
    arguments: type[msgspec.Struct]
    call: Callable[[JournalReader, Any], Any]
    replays: bool = False


def list_jobs(reader: JournalReader, given: ListArguments) -> ListAnswer:
    """Return the engines with their sites and jobs."""
    found = summaries(reader, given.engine or None, given.site or None)
    return ListAnswer(tuple(_engine(each, given.limit) for each in found), tuple(POLICIES.names()))


def when(reader: JournalReader, given: WhenArguments) -> WhenAnswer:
    """Return predicted starts."""
    found = []
    for summary in summaries(reader, given.engine or None):
        name, site, queries = summary.name, given.site or None, reader.predictions
        rows = queries.of_job(name, given.job, site) if given.job else queries.waiting(name, site)
        score = queries.score(name, site)
        starts = tuple(
            StartAnswerRow(
                job=row.job.id,
                site=row.job.site,
                predicted=zone_text(row.time),
                median=zone_text(row.median),
                median_s=round(row.median - summary.now, 1),
                low_s=round(row.low - summary.now, 1),
                high_s=round(row.high - summary.now, 1),
                level=row.level,
                slurm_rule_s=round(row.planned - summary.now, 1),
                calibrated=row.scored >= FEWEST,
                started="" if row.started is None else zone_text(row.started),
            )
            for row in rows[: given.limit]
        )
        found.append(
            EngineStarts(name, score.scored, score.contained, score.median_width, score.mean_error, starts)
        )
    return WhenAnswer(tuple(found))


def explain(reader: JournalReader, given: ExplainArguments) -> ExplainAnswer:
    """Return why a job waits or runs."""
    engine, site = given.engine or None, given.site or None
    where = RowFilter(engine, site, job=given.job)
    now = [
        _job(each, state, summary.now)
        for summary in summaries(reader, engine, site)
        for state, jobs in (("waiting", summary.waiting), ("running", summary.running))
        for each in jobs
        if each.job.id == given.job
    ]
    decisions = reader.decisions(where, limit=given.limit).rows
    events = reader.events(where, limit=given.limit).rows
    if not (now or decisions or events):
        raise InputError(f"no job {given.job} is in the journal; list has the jobs that run and wait")
    return ExplainAnswer(
        tuple(now),
        tuple(
            DecisionAnswer(clock_text(each.time), each.decision, each.policy, each.answer, each.reason)
            for each in decisions
        ),
        tuple(EventAnswer(clock_text(each.time), each.kind, each.text) for each in events),
    )


def what_if_queue(reader: JournalReader, given: WhatIfArguments) -> WhatIfAnswer:
    """Return how the waits of a queue would change."""
    if not (given.policy or given.processors or given.without):
        raise InputError("nothing is different, expected a policy, processors, or without")
    if given.processors and given.without:
        raise InputError("both processors and without are given, expected one of them")
    if given.policy and given.policy not in POLICIES.names():
        # Names only: a path of a file would be imported.
        raise InputError(f"no policy {given.policy!r}, expected one of {', '.join(POLICIES.names())}")
    queue = chosen_queue(reader, given.engine or None, given.site or None)
    size = given.processors or (queue.without(given.without) if given.without else queue.processors)
    policy = PolicySpec(name=given.policy) if given.policy else queue.policy
    found = what_if(queue, [Alternative(policy, size)], draws=_DRAWS)
    lines = tuple(what_if_sentences(found, f"at {queue.site or queue.engine} ({zone_text(queue.now)})"))
    other = found.others[0] if found.others else found.present
    change, (sooner, later) = found.change(other), found.sooner_and_later(other)
    return WhatIfAnswer(
        lines,
        _finite(found.wait(found.present).mean),
        _finite(found.wait(other).mean),
        _finite(change.mean),
        _finite(change.low),
        _finite(change.high),
        sooner,
        later,
        found.never(other),
    )


def validate(reader: JournalReader, given: ValidateArguments) -> ValidateAnswer:
    """Return the variants of a scenario, which is not run; no file is read or imported."""
    tree = parse_yaml(given.scenario, "scenario")
    named = code_in(tree)
    if named:
        raise InputError(f"scenario: names the file {named[0]}, expected policies of Windlass")
    found = make_scenario(tree)
    names = tuple(variant.name for variant in found.variants)
    return ValidateAnswer(
        found.name, found.world.name, names, tuple(found.seeds), len(names) * len(found.seeds)
    )


def _engine(summary: EngineSummary, limit: int) -> EngineAnswer:
    status = summary.seen.status
    sites = tuple(
        SiteAnswer(
            site,
            each.running_count,
            each.waiting_count,
            each.cores,
            each.idle,
            "" if each.queue is None else each.queue.policy,
        )
        for site, each in summary.statuses
    )
    return EngineAnswer(
        status.engine,
        status.state,
        status.about,
        status.error,
        zone_text(summary.now),
        sites,
        tuple(_job(each, "waiting", summary.now) for each in summary.waiting[:limit]),
        tuple(_job(each, "running", summary.now) for each in summary.running[:limit]),
    )


def _job(each: SiteJob, state: str, now: float) -> QueuedJobAnswer:
    job = each.job
    return QueuedJobAnswer(job.id, each.site, state, job.kind, round(now - job.since, 1), job.cores, job.why)


def _finite(value: float) -> float | None:
    return round(value, 1) if math.isfinite(value) else None


#: All tools.
TOOLS = (
    Tool(
        "list",
        "Engines, sites and jobs",
        "List the engines with their sites, what runs and what waits and why, and the policies for what_if.",
        ListArguments,
        list_jobs,
    ),
    Tool(
        "when",
        "Predicted starts",
        "Predict when waiting jobs start: a median with an interval, compared with Slurm's rule, and how good earlier "
        "predictions were.",
        WhenArguments,
        when,
    ),
    Tool(
        "explain",
        "Why a job waits or runs",
        "Explain one job: why it waits or runs, each decision about it with its reason, and what happened to it.",
        ExplainArguments,
        explain,
    ),
    Tool(
        "what_if",
        "Waits under another policy or size",
        "Replay the present queue of one site under another policy, with other processors or without machines, and "
        "compare the waits with the present. Takes seconds; nothing is changed.",
        WhatIfArguments,
        what_if_queue,
        replays=True,
    ),
    Tool(
        "validate",
        "Check a scenario",
        "Check the text of a simulation scenario, and return its variants. It is not run, and no file is read.",
        ValidateArguments,
        validate,
    ),
)
