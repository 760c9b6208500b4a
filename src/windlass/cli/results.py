"""Results of ``windlass run`` as sentences with a table, as CSV, or as JSON."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from windlass.cli.answer import AnswerOptions
from windlass.cli.output import note, write_json, write_raw
from windlass.cli.results_json import results_tree, verdict_tree
from windlass.cli.terminal import terminal
from windlass.experiment.judged import JudgedResults
from windlass.report import ablation_tables, metrics_table

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
    try:
        for line in results.notes():
            note(f"note: {line}")
        if as_json:
            write_json(results_tree(results, verdict_tree(results.answer)))
        elif options.csv:
            for line in results.sentences:
                note(line)
            write_raw(results.metrics().write_csv())
        else:
            _print_table(results, options.wide)
    finally:
        # Files are named also if the reader of standard output ends early, as `| head` does.
        if out is not None:
            note(f"Tables and the scenario as run are in {out}")
        if report is not None:
            note(f"The report is {results.report(report)}")


def _print_table(results: JudgedResults, wide: bool) -> None:
    console = terminal()
    for number, line in enumerate(results.sentences):
        # In a pipe a sentence is a line, so that the first line is the verdict.
        console.print(Text(line, "bold" if number == 0 else ""), soft_wrap=not console.is_terminal)
    if results.sentences:
        console.print()
    width = _WIDE if wide else console.width
    shown = terminal(width=width) if wide else console
    shown.print(metrics_table(results, width))
    for part in ablation_tables(results):
        shown.print(part)
