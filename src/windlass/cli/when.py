"""``windlass when``: when a waiting job will start, with an interval."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.table import Table

from windlass.cli.column_names import columns_given
from windlass.cli.output import note, print_lines, print_tables, write_json
from windlass.cli.policy_notation import with_parameters
from windlass.cli.progress import counted_progress
from windlass.experiment.start_times.question import (
    ProposedJob,
    StartAnswer,
    StartPredictor,
    history_of,
    row_of,
)
from windlass.experiment.start_times.sentences import answer_sentences, check_sentences
from windlass.experiment.start_times.start_check import StartCheck
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload, read_trace, to_workload
from windlass.io.traces.pipes import as_file
from windlass.model import InputError
from windlass.report.units import duration

_TIME = re.compile(r"(\d+(?:\.\d+)?)(s|m|min|h|d)?")
_SECONDS = {None: 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_FIELDS = ("procs", "walltime", "user")


@dataclass(frozen=True, slots=True)
class WhenOptions:
    """The question.

    Parameters
    ----------
    log
        The log.
    job
        A job of the log; None for a proposed job, or to check earlier predictions only.
    like
        A proposed job, as in ``procs=64,walltime=4h``.
    at
        The instant, s.
    policy
        The policy of the replays.
    simulated
        Predict the schedule that the policy gives, and not the recorded one.
    procs, where, format, columns
        How the log is read, as in ``windlass run``.
    check
        Number of earlier jobs that are predicted.
    waiting
        Predict all jobs that wait at the instant.
    """

    log: Path
    job: str | None = None
    like: str | None = None
    at: float | None = None
    policy: str = "easy"
    simulated: bool = False
    procs: int | None = None
    where: str | None = None
    format: str | None = None
    columns: Sequence[str] = ()
    check: int = 0
    waiting: bool = False


def when_command(question: WhenOptions, *, as_json: bool) -> None:
    """Print when a job starts, or how good predictions of earlier jobs were."""
    if question.job is not None and question.like is not None:
        raise InputError("--like: describes a job that is not in the log, expected either it or JOB")
    if question.waiting and (question.job is not None or question.like is not None):
        raise InputError("--waiting: predicts all jobs that wait, expected neither JOB nor --like")
    proposed = None if question.like is None else proposed_job(question.like)
    trace = read_trace(as_file(question.log), question.format, columns=columns_given(question.columns))
    workload = to_workload(trace, question.procs, question.where)
    predictor = StartPredictor(*_history_and_policy(question, workload))
    row = None if question.job is None else row_of(workload, question.job)
    at = question.at
    if at is None:
        submit = workload.jobs.submit
        at = float(submit[-1] if row is None else submit[row])
    with counted_progress("earlier jobs predicted") as update:
        count = question.check
        checked = predictor.check(count, before=at, progress=lambda done: update(done, count))
    if question.waiting:
        _show_waiting(predictor.waiting(at, checked), at, as_json)
        return
    if row is None and proposed is None:
        _show(check_sentences(checked), _checked_tree(checked), as_json)
        return
    answer = predictor.like(proposed, at, checked) if proposed else predictor.job(row or 0, at, checked)
    _show(answer_sentences(answer, question.policy, proposed), _tree(answer), as_json)


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
            raise InputError(
                f"--like: {part.strip()!r} in {text!r}, expected {', '.join(_FIELDS)} at most once, as in procs=64"
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


def _history_and_policy(question: WhenOptions, workload: Workload) -> tuple[Any, PolicySpec]:
    given = with_parameters(question.policy)
    name, parameters = next(iter(given.items())) if isinstance(given, dict) else (given, {})
    policy = PolicySpec(name=name, parameters=parameters)
    recorded = not question.simulated and workload.wait is not None
    if not recorded and not question.simulated:
        note(f"note: the log has no waits, so its schedule is simulated under {question.policy}")
    return history_of(workload, policy, recorded=recorded), policy


def _show(lines: Any, tree: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_json(tree)
    else:
        print_lines(lines, wrap=True)


def _show_waiting(table: pl.DataFrame, at: float, as_json: bool) -> None:
    if as_json:
        write_json({"at_s": at, "waiting": table.to_dicts()})
        return
    shown = Table(title=f"{table.height:,} jobs wait at {at:,.0f} s", title_justify="left", box=SIMPLE_HEAD)
    for name in ("job", "procs", "walltime", "starts in", "from", "to", "Slurm's rule"):
        shown.add_column(name, justify="left" if name == "job" else "right")
    for job, _, procs, *times in table.iter_rows():
        request, low, median, high, planned = (duration(each) for each in times)
        shown.add_row(job, f"{procs:,}", request, median, low, high, planned)
    print_tables(shown)


def _tree(answer: StartAnswer) -> dict[str, Any]:
    return {
        "job": answer.job or None,
        "at_s": answer.at,
        "ahead": answer.ahead,
        "running": answer.running,
        "level": answer.level,
        **{f"{name}_s": value for name, value in dataclasses.asdict(answer.forecast).items()},
        "planned_s": answer.planned,
        "waited_s": answer.waited,
        "checked": None if answer.checked is None else _checked_tree(answer.checked),
    }


def _checked_tree(checked: StartCheck) -> dict[str, Any]:
    kinds = {"replays": checked.of_replays(), "plan": checked.of_plan()}
    return {
        "jobs": checked.table.height,
        "certain": checked.certain,
        "certain_right": checked.certain_right,
        **{
            name: {
                **dataclasses.asdict(found),
                "coverage": None if math.isnan(found.coverage) else found.coverage,
            }
            for name, found in kinds.items()
        },
    }
