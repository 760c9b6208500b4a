"""Runs a policy of Windlass through the plain event loop, and records every view and decision."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.oracles.engine import Job, Moment, simulate
from windlass.model import JobTable
from windlass.order.site import SitePolicy
from windlass.order.site.view import Running, SiteView, Start, Waiting


@dataclass(frozen=True, slots=True)
class Step:
    """One decision."""

    view: SiteView
    start: Start


@dataclass(slots=True)
class Driven:
    """The result by row; ``first_notes`` and ``notes`` are the first and the last note of each job."""

    starts: list[float]
    why: list[str]
    first_notes: list[float]
    notes: list[float]
    steps: list[Step] = field(default_factory=list)


def drive(
    policy: SitePolicy,
    jobs: JobTable,
    processors: int,
    *,
    kill: bool = True,
    hint: bool = True,
    watch: Callable[[SiteView], None] = lambda _: None,
) -> Driven:
    """Call the policy at each instant; without ``hint``, no job is refused. ``watch`` is called with all views."""
    count = len(jobs)
    driven = Driven([], [""] * count, [math.nan] * count, [math.nan] * count)

    def rule(moment: Moment) -> list[Job]:
        view = _view(moment, jobs, driven.notes)
        if not hint:
            view = dataclasses.replace(view, refused=0)
        watch(view)
        start = policy.decide(view)
        driven.steps.append(Step(view, start))
        _keep_notes(driven, moment, start)
        waiting = {job.number: job for job in moment.waiting}
        chosen = [waiting[number] for number in start.jobs]
        for job, reason in zip(chosen, start.reasons(), strict=True):
            driven.why[job.row] = reason
        return chosen

    driven.starts = simulate(jobs, processors, rule, kill=kill)
    return driven


def _view(moment: Moment, jobs: JobTable, notes: list[float]) -> SiteView:
    queue = moment.waiting
    return SiteView(
        now=moment.now,
        processors=moment.processors,
        free=moment.free,
        waiting=Waiting.of(
            [job.number for job in queue],
            [job.submit for job in queue],
            [job.procs for job in queue],
            [job.request for job in queue],
            [notes[job.row] for job in queue],
        ),
        running=Running.of(
            [int(jobs.job[held.row]) for held in moment.running],
            [held.procs for held in moment.running],
            [held.expected_end for held in moment.running],
        ),
        refused=moment.refused,
    )


def _keep_notes(driven: Driven, moment: Moment, start: Start) -> None:
    if start.notes is None:
        return
    for job, note in zip(moment.waiting, start.notes.tolist(), strict=True):
        driven.notes[job.row] = note
        if math.isnan(driven.first_notes[job.row]):
            driven.first_notes[job.row] = note
