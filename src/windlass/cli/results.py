"""Results of ``windlass run`` as sentences with a table, as CSV, or as JSON."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from rich.text import Text

from windlass.cli.answer import AnswerOptions
from windlass.cli.output import note, write_json, write_raw
from windlass.cli.results_json import results_tree, verdict_tree
from windlass.cli.terminal import terminal
from windlass.experiment.judged import JudgedResults
from windlass.report import ablation_tables, group_table, metrics_table, winner_tables
from windlass.report.group_sentence import losses_sentence
from windlass.results.group_losses import group_losses
from windlass.results.groups import divisions_of

#: A width in columns that no table exceeds.
_WIDE = 10_000


def print_results(
    results: JudgedResults, options: AnswerOptions, out: Path | None, report: Path | None, *, as_json: bool
) -> None:
    """Print results and write the report.

    Parameters
    ----------
    results
        The results of an experiment.
    options
        The form of the output.
    out
        The folder of the tables, which are written already; the last line names it.
    report
        The HTML file to write.
    as_json
        Print one JSON document and nothing else.
    """
    if options.per is not None and options.per not in (known := divisions_of(results.variants)):
        note(f"note: --per {options.per}: the jobs have no {options.per}, expected one of {', '.join(known)}")
        options = dataclasses.replace(options, per=None)
    losses = (
        "" if options.per is None else losses_sentence(group_losses(results, results.verdict, options.per))
    )
    try:
        for line in results.notes():
            note(f"note: {line}")
        if as_json:
            write_json(
                results_tree(results, verdict_tree(results.answer)) | _groups(results, options.per, losses)
            )
        elif options.csv:
            for line in filter(None, (losses, *results.sentences)):
                note(line)
            table = results.metrics() if options.per is None else results.by(options.per)
            write_raw(table.write_csv())
        else:
            _print_table(results, options, losses)
    finally:
        # Files are named also if the reader of standard output ends early, as `| head` does.
        if out is not None:
            note(f"Tables and the scenario as run are in {out}")
        if report is not None:
            note(f"The report is {results.report(report)}")


def _groups(results: JudgedResults, per: str | None, losses: str) -> dict[str, Any]:
    if per is None:
        return {}
    return {"per": {"division": per, "sentence": losses or None, "rows": results.by(per).to_dicts()}}


def _print_table(results: JudgedResults, options: AnswerOptions, losses: str) -> None:
    console, wide = terminal(), options.wide
    lines = [line for line in (losses, *results.sentences) if line]
    for number, line in enumerate(lines):
        # In a pipe a sentence is a line, so that the first line is the verdict.
        console.print(Text(line, "bold" if number == 0 else ""), soft_wrap=not console.is_terminal)
    if lines:
        console.print()
    width = _WIDE if wide else console.width
    shown = terminal(width=width) if wide else console
    for matrix in winner_tables(results.answer.matrices):
        shown.print(matrix)
        shown.print()
    shown.print(metrics_table(results, width))
    for part in ablation_tables(results):
        shown.print(part)
    if options.per is not None:
        shown.print()
        shown.print(group_table(results, options.per))
