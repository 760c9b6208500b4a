"""``windlass when``: when a waiting job will start, with an interval."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from windlass.cli.column_names import columns_given
from windlass.cli.output import note
from windlass.cli.policy_notation import with_parameters
from windlass.cli.progress import counted_progress
from windlass.cli.when_output import answer_tree, checked_tree, show, show_waiting
from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.proposed import ProposedJob
from windlass.experiment.start_times.question import StartPredictor, history_of, row_of
from windlass.experiment.start_times.sentences import answer_sentences, check_sentences
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import read_trace, to_workload
from windlass.io.traces.pipes import as_file
from windlass.model import InputError
from windlass.model.nearest import did_you_mean

_TIME = re.compile(r"(\d+(?:\.\d+)?)(s|m|min|h|d)?")
_SECONDS = {None: 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_FIELDS = ("procs", "walltime", "user")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about starts.

    Parameters
    ----------
    job
        A job that is known; None for another question.
    like
        A job that might be submitted, as in ``procs=64,walltime=4h``.
    waiting
        Whether all jobs that wait are in question.
    policy
        The policy of the replays.
    check
        Number of earlier jobs that are predicted.
    """

    job: str | None = None
    like: str | None = None
    waiting: bool = False
    policy: str = "easy"
    check: int = 0


@dataclass(frozen=True, slots=True)
class WhenOptions(Question):
    """A question about a log.

    Parameters
    ----------
    log
        The log.
    at
        The instant, s.
    simulated
        Predict the schedule that the policy gives, and not the recorded one.
    procs, where, format, columns
        How the log is read, as in ``windlass run``.
    """

    log: Path = Path("-")
    at: float | None = None
    simulated: bool = False
    procs: int | None = None
    where: str | None = None
    format: str | None = None
    columns: Sequence[str] = ()


def when_command(question: WhenOptions, *, as_json: bool) -> None:
    """Print when a job starts, or how good predictions of earlier jobs were."""
    check_question(question)
    if question.at is not None and not math.isfinite(question.at):
        raise InputError(f"--at is {question.at}, expected a time in seconds")
    trace = read_trace(as_file(question.log), question.format, columns=columns_given(question.columns))
    workload = to_workload(trace, question.procs, question.where)
    policy = policy_of(question.policy)
    recorded = not question.simulated and workload.wait is not None
    if not recorded and not question.simulated:
        note(f"note: the log has no waits, so its schedule is simulated under {question.policy}")
    history = history_of(workload, policy, recorded=recorded)
    row = None if question.job is None else row_of(workload, question.job)
    at = question.at
    if at is None:
        at = float(workload.jobs.submit[-1] if row is None else workload.jobs.submit[row])
    ask(StartPredictor(history, policy), history, question, at, f"at {at:,.0f} s", as_json)


def ask(
    predictor: StartPredictor, history: SiteHistory, question: Question, at: float, when: str, as_json: bool
) -> None:
    """Predict, and print the answer."""
    proposed = None if question.like is None else proposed_job(question.like)
    row = None if question.job is None else row_of(history.workload, question.job)
    with counted_progress("earlier jobs predicted") as update:
        count = question.check
        checked = predictor.check(count, before=at, progress=lambda done: update(done, count))
    if question.waiting:
        show_waiting(predictor.waiting(at, checked), at, when, as_json)
    elif row is not None:
        answer = predictor.job(row, at, checked)
        show(answer_sentences(answer, question.policy, when), answer_tree(answer), as_json)
    elif proposed is not None:
        answer = predictor.like(proposed, at, checked)
        show(answer_sentences(answer, question.policy, when, proposed), answer_tree(answer), as_json)
    else:
        show(check_sentences(checked), checked_tree(checked), as_json)


def check_question(question: Question) -> None:
    """Raise an error if more than one of a job, a proposed job, and all jobs that wait is in question.

    Raises
    ------
    InputError
        Two of them are.
    """
    if question.job is not None and question.like is not None:
        raise InputError("--like: describes a job to submit, expected either it or JOB")
    if question.waiting and (question.job is not None or question.like is not None):
        raise InputError("--waiting: predicts all jobs that wait, expected neither JOB nor --like")


def policy_of(text: str) -> PolicySpec:
    """Return the policy of an option such as ``queue(priority=sjf)``."""
    try:
        given = with_parameters(text)
    except InputError as error:
        raise InputError(str(error).replace("--policies", "--policy", 1)) from error
    name, parameters = next(iter(given.items())) if isinstance(given, dict) else (given, {})
    return PolicySpec(name=name, parameters=parameters)


def proposed_job(text: str) -> ProposedJob:
    """Return the job that a text such as ``procs=64,walltime=4h,user=ann`` describes.

    Raises
    ------
    InputError
        A field is unknown, missing, given twice, or has an invalid value.

    Examples
    --------
    >>> proposed_job("procs=64,walltime=4h")
    ProposedJob(procs=64, request=14400.0, user=None)
    """
    fields: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or name not in _FIELDS or name in fields:
            known = name in _FIELDS
            problem = "is given twice" if equals and known else "has no value" if known else "is no field"
            raise InputError(
                f"--like: {name!r} {problem} in {text!r}, expected {', '.join(_FIELDS)} at most once, as in procs=64"
                f"{'' if known else did_you_mean(name, _FIELDS)}"
            )
        fields[name] = value
    for needed in ("procs", "walltime"):
        if needed not in fields:
            raise InputError(f"--like: {text!r} lacks {needed}, expected procs and walltime")
    time = _TIME.fullmatch(fields["walltime"])
    if time is None:
        raise InputError(
            f"--like: walltime is {fields['walltime']!r}, expected a time such as 4h, 90min or 3600"
        )
    if not (fields["procs"].isdecimal() and len(fields["procs"]) < 10):
        raise InputError(f"--like: procs is {fields['procs']!r}, expected a whole number such as 64")
    try:
        return ProposedJob(int(fields["procs"]), float(time[1]) * _SECONDS[time[2]], fields.get("user"))
    except InputError as error:
        raise InputError(f"--like: {error}") from error
