"""Results on standard output: sentences and a table, CSV, or one JSON object; notes on standard error."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.text import Text

from windlass.cli.answer import AnswerOptions, verdict_tree
from windlass.cli.json_text import results_json
from windlass.cli.terminal import terminal
from windlass.experiment.judged import JudgedResults
from windlass.model.text import printable
from windlass.report import metrics_table

#: Wider than any table.
_WIDE = 10_000


def print_results(
    results: JudgedResults, asked: AnswerOptions, out: Path | None, report: Path | None, *, as_json: bool
) -> None:
    """Print results and write the report.

    Parameters
    ----------
    results
        Of an experiment.
    asked
        How they are printed.
    out
        The folder that has the tables already; it is named at the end.
    report
        The HTML file to write.
    as_json
        Print one JSON object and nothing else.
    """
    said = terminal(stderr=True, soft_wrap=True)
    try:
        for note in results.notes():
            said.print(f"note: {note}")
        if as_json:
            sys.stdout.write(results_json(results, verdict_tree(results.answer)) + "\n")
        elif asked.csv:
            _print_csv(results)
        else:
            _print_table(results, asked.wide)
    finally:
        # Also where the reader of standard output ends early, as `| head` does.
        if out is not None:
            said.print(f"Tables and the scenario as run are in {out}")
        if report is not None:
            said.print(f"The report is {results.report(report)}")


def _print_csv(results: JudgedResults) -> None:
    """The table alone on standard output; the sentences go to standard error."""
    said = terminal(stderr=True, soft_wrap=True)
    for line in results.sentences:
        said.print(line)
    table = results.metrics().write_csv()
    # A program gets every character as it is, and a terminal none that controls it.
    lines = "".join(printable(line) + "\n" for line in table.splitlines())
    sys.stdout.write(lines if sys.stdout.isatty() else table)


def _print_table(results: JudgedResults, wide: bool) -> None:
    console = terminal()
    for number, line in enumerate(results.sentences):
        # In a pipe a sentence is a line, so that the first line is the answer.
        console.print(Text(line, "bold" if number == 0 else ""), soft_wrap=not console.is_terminal)
    if results.sentences:
        console.print()
    width = _WIDE if wide else console.width
    (terminal(width=width) if wide else console).print(metrics_table(results, width))
