"""Predicted starts in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from windlass.experiment.start_times.alternatives import WhatIf
from windlass.experiment.start_times.proposed import ProposedJob
from windlass.experiment.start_times.question import StartAnswer
from windlass.experiment.start_times.start_check import StartAccuracy, StartCheck
from windlass.report.units import counted, duration, share


def answer_sentences(
    answer: StartAnswer, policy: str, when: str, proposed: ProposedJob | None = None
) -> Iterator[str]:
    """Yield the answer first, then how it compares, and how good such answers were.

    Parameters
    ----------
    answer
        The prediction.
    policy
        Name of the policy of the replays.
    when
        The instant in words, as in ``at 3,600 s``.
    proposed
        The proposed job; None for a job of the log.
    """
    forecast = answer.forecast
    job = f"job {answer.job}" if proposed is None else f"such a job ({_shape(proposed)})"
    job = job[0].upper() + job[1:]
    if forecast.immediate:
        yield f"{job} starts at once."
    else:
        found = f"{job} starts in {duration(forecast.median)}"
        found += f" ({_percent(answer.level)}: {duration(forecast.low)} to {duration(forecast.high)})"
        yield (
            f"{found}."
            if answer.checked is not None
            else f"{found}, not calibrated: too few jobs have started."
        )
    ahead = f"{counted(answer.ahead, 'job')} submitted earlier {_verb(answer.ahead, 'wait')}"
    running = f"{counted(answer.running, 'job')} {_verb(answer.running, 'run')}"
    yield f"{when[0].upper()}{when[1:]}, {ahead} and {running}; the policy is {policy}."
    yield f"Slurm's rule (squeue --start) predicts {duration(answer.planned)}."
    if answer.waited is not None:
        place = "in" if forecast.contains(answer.waited) else "outside"
        yield f"It started after {duration(answer.waited)}, {place} the interval."
    if answer.checked is not None:
        yield from check_sentences(answer.checked)


def check_sentences(checked: StartCheck) -> Iterator[str]:
    """Yield how good predictions at earlier instants were.

    Parameters
    ----------
    checked
        The predictions.
    """
    ours, plan, level = checked.of_replays(), checked.of_plan(), checked.calibration.level
    yield f"Checked on {counted(checked.table.height, 'earlier job')}, each at its submission:"
    if checked.certain:
        yield (
            f"- {counted(checked.certain, 'job')} could start at once by all replays;"
            f" {share(checked.certain_right, checked.certain)} of them did."
        )
    if not ours.predictions:
        yield "- No other job had an interval: too few jobs had started before."
        return
    yield (
        f"- {ours.contained:,} of {counted(ours.predictions, 'other job')} with an interval started within it:"
        f" {share(ours.contained, ours.predictions)}, intended {_percent(level)}."
    )
    yield f"- {_accuracy('The predicted start', ours)}."
    rule = _accuracy("Slurm's rule", plan)
    yield f"- {rule} if calibrated in the same way."


def what_if_sentences(found: WhatIf, when: str) -> Iterator[str]:
    """Yield which alternative shortens the waits most, and what was replayed.

    Parameters
    ----------
    found
        The alternatives.
    when
        The instant in words, as in ``at 3,600 s``.
    """
    count = counted(len(found.jobs), "job")
    if not found.jobs:
        yield f"No job waits {when}, so that there is nothing to compare."
        return
    # An alternative under which a job never starts is no improvement, though the others may start sooner.
    whole = [each for each in found.others if not found.never(each)]
    best = min(whole, key=lambda each: found.change(each).mean, default=None)
    wait = found.wait(found.present)
    if best is None or not found.change(best).mean < 0:
        yield f"No alternative shortens the mean wait of the {count} that {_verb(len(found.jobs), 'wait')} {when}."
    else:
        change, name = found.change(best), best.alternative.name
        sure = "" if change.high < 0 else "; not in all: the interval contains no change"
        yield (
            f"With {name}, the {count} that {_verb(len(found.jobs), 'wait')} {when} would start"
            f" {duration(-change.mean)} sooner on average (90 % of the replays:"
            f" {duration(-change.high)} to {duration(-change.low)}{sure})."
        )
    subject = "it waits" if len(found.jobs) == 1 else "they wait"
    yield (
        f"At present, with {found.present.alternative.name}, {subject} another {duration(wait.mean)} on average"
        f" (90 %: {duration(wait.low)} to {duration(wait.high)}); {counted(found.running, 'job')}"
        f" {_verb(found.running, 'run')}."
    )
    drawn = "drawn run times and arrivals" if found.arrivals else "drawn run times and no later arrivals"
    yield f"Each alternative was replayed in the same {found.present.starts.shape[1]} futures, with {drawn}."


def _accuracy(what: str, found: StartAccuracy) -> str:
    return (
        f"{what}: mean error {duration(found.mean_error)}, median error {duration(found.median_error)},"
        f" median width of the interval {duration(found.median_width)}"
    )


def _shape(job: ProposedJob) -> str:
    user = "" if job.user is None else f" of {job.user}"
    return f"{counted(job.procs, 'processor')}, walltime {duration(job.request)}{user}"


def _verb(number: int, verb: str) -> str:
    return f"{verb}s" if number == 1 else verb


def _percent(level: float) -> str:
    percent = 100 * level
    return f"{percent:.0f} %" if math.isclose(percent, round(percent), abs_tol=1e-9) else f"{percent:.3g} %"
