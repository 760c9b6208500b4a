"""``windlass explain``: the decisions during one job's wait, and their reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windlass.cli.output import print_lines, write_json
from windlass.experiment.finished_run import FinishedRun, outcome_text
from windlass.experiment.job_name import JobName
from windlass.experiment.scenario import Variant
from windlass.model import InputError
from windlass.results.explanation import Explanation

#: The most decisions that are printed without ``--all``: half of them the first, half the last.
_SHOWN = 30


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """The job to explain.

    Parameters
    ----------
    folder
        The folder of results.
    job
        The job's identifier in the log, or its name in the table of the run: a number, or as in ``batch@iowa/17``.
    variant
        The variant; None for all.
    seed
        The seed; None for the first of the run.
    everything
        Print all decisions.
    """

    folder: Path
    job: str
    variant: str | None = None
    seed: int | None = None
    everything: bool = False


def explain_command(question: ExplainOptions, *, as_json: bool) -> None:
    """Print what a job waited for: under one variant decision by decision, else one line for each variant."""
    run, job = FinishedRun(question.folder), JobName.parse(question.job)
    variants = run.variants(question.variant)
    rows = [run.row(job, variant, question.seed) for variant in variants]
    if question.variant is None and len(variants) > 1:
        if question.everything:
            raise InputError("--all: has no effect here, it is for one variant, named by --variant")
        _compare(question, job, variants, rows, as_json)
        return
    variant, row = variants[0], rows[0]
    explained = run.explain(job, variant, row)
    if not as_json:
        print_lines(_lines(question, variant, row, explained), wrap=True)
        return
    write_json(
        {"run": str(question.folder), "variant": variant.name, "seed": row["seed"], **explained.tree()}
    )


def _lines(
    question: ExplainOptions, variant: Variant, row: dict[str, Any], explained: Explanation
) -> Iterator[str]:
    yield _outcome_line(_known_name(question.job, row), variant, row)
    yield from explained.sentences()
    moments = explained.moments(question.everything)
    if not moments:
        return
    yield ""
    left_out = 0 if question.everything else max(len(moments) - _SHOWN, 0)
    yield from moments[: _SHOWN // 2]
    if left_out:
        yield f"… {left_out:,} more, which --all prints …"
    yield from moments[_SHOWN // 2 + left_out :]


def _known_name(name: str, row: dict[str, Any]) -> str:
    """Return the name with the job's identifier in the log, if the table has one."""
    job, identifier = JobName.parse(name), row.get("job_id")
    if identifier is None:
        return name
    return f"{job.group}/{identifier}" if job.group and row.get("load") else str(identifier)


def _outcome_line(job: str, variant: Variant, row: dict[str, Any]) -> str:
    """Return how long the job waited under a variant, and why it started when it did."""
    reason = f": {row['why']}." if row.get("why") else "."
    return f"Job {job} {outcome_text(row)} under {variant.name}, seed {row['seed']}{reason}"


def _compare(
    question: ExplainOptions,
    job: JobName,
    variants: Sequence[Variant],
    rows: Sequence[dict[str, Any]],
    as_json: bool,
) -> None:
    """Print the job's wait under each variant, from the table."""
    pairs = list(zip(variants, rows, strict=True))
    if as_json:
        listed = [
            {"variant": each.name, **{key: value for key, value in row.items() if key != "variant"}}
            for each, row in pairs
        ]
        number = rows[0]["job"]
        name = number if number == job.number and not job.load else str(job)
        write_json({"run": str(question.folder), "job": name, "variants": listed})
        return
    lines = [_outcome_line(str(job), variant, row) for variant, row in pairs]
    print_lines([*lines, "Pass --variant with one of these to print each decision."], wrap=True)
