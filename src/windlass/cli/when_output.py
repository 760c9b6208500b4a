"""What ``windlass when`` and ``windlass slurm when`` print."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.table import Table

from windlass.cli.output import print_lines, print_tables, write_json
from windlass.experiment.start_times.question import StartAnswer
from windlass.experiment.start_times.start_check import StartCheck
from windlass.report.units import duration


def show(lines: Iterable[str], tree: dict[str, Any], as_json: bool) -> None:
    """Print sentences, or a tree as JSON."""
    if as_json:
        write_json(tree)
    else:
        print_lines(lines, wrap=True)


def show_waiting(table: pl.DataFrame, at: float, when: str, as_json: bool) -> None:
    """Print the predictions of all jobs that wait at an instant."""
    if as_json:
        write_json({"at_s": at, "waiting": table.to_dicts()})
        return
    shown = Table(title=f"{table.height:,} jobs wait {when}", title_justify="left", box=SIMPLE_HEAD)
    for name in ("job", "procs", "walltime", "starts in", "from", "to", "Slurm's rule"):
        shown.add_column(name, justify="left" if name == "job" else "right")
    for job, _, procs, *times in table.iter_rows():
        request, low, median, high, planned = (duration(each) for each in times)
        shown.add_row(job, f"{procs:,}", request, median, low, high, planned)
    print_tables(shown)


def answer_tree(answer: StartAnswer) -> dict[str, Any]:
    """Return a prediction for JSON."""
    return {
        "job": answer.job or None,
        "at_s": answer.at,
        "ahead": answer.ahead,
        "running": answer.running,
        "level": answer.level,
        **{f"{name}_s": value for name, value in dataclasses.asdict(answer.forecast).items()},
        "planned_s": answer.planned,
        "waited_s": answer.waited,
        "checked": None if answer.checked is None else checked_tree(answer.checked),
    }


def checked_tree(checked: StartCheck) -> dict[str, Any]:
    """Return the accuracy of earlier predictions for JSON."""
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
