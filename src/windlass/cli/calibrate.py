"""``windlass calibrate``: what a log does not state about its site, fitted and judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from windlass.cli.column_names import columns_given
from windlass.cli.output import note, print_lines, print_tables, write_json
from windlass.cli.progress import counted_progress
from windlass.experiment.site_fit.accuracy import WaitAccuracy
from windlass.experiment.site_fit.calibrate import CalibratedSite, calibrate
from windlass.experiment.site_fit.sentences import lacking, parameters, sentences, signed
from windlass.experiment.site_fit.site_file import scenario_text
from windlass.io.files import write_text
from windlass.io.traces import read_trace, to_workload
from windlass.io.traces.pipes import as_file
from windlass.model import InputError
from windlass.report.units import duration


@dataclass(frozen=True, slots=True)
class CalibrateOptions:
    """A log, and how its site is fitted.

    Parameters
    ----------
    log
        The log.
    share
        Share of the jobs on which the site is fitted.
    out
        The scenario to write; None for none.
    procs, where, format, columns
        How the log is read, as in ``windlass run``.
    """

    log: Path
    share: float
    out: Path | None
    procs: int | None
    where: str | None
    format: str | None
    columns: Sequence[str]


def calibrate_command(given: CalibrateOptions, *, as_json: bool) -> None:
    """Fit the site of a log, print the result, and write it as a scenario."""
    if given.out is not None and given.out.suffix not in (".yaml", ".yml"):
        raise InputError(f"--out is {given.out}, expected a file that ends in .yaml")
    if given.out is not None and (str(given.log) == "-" or given.log.is_fifo()):
        raise InputError(
            "--out: the log comes through a pipe, which a scenario cannot read again; save it to a file"
        )
    columns = columns_given(given.columns)
    trace = read_trace(as_file(given.log), given.format, columns=columns)
    workload = to_workload(trace, given.procs, given.where)
    with counted_progress("sites replayed") as update:
        found = calibrate(workload, given.share, lambda done: update(done, done))
    if given.out is not None:
        text = scenario_text(
            found, given.log.resolve(), log_format=given.format, columns=columns, where=given.where
        )
        write_text(text, given.out)
    if as_json:
        write_json(_tree(found))
        return
    print_lines(sentences(found), wrap=True)
    print_tables(_parameters(found), _waits(found))
    if given.out is not None:
        note(f"site: {given.out}; run it with: windlass run {given.out}")


def _parameters(found: CalibratedSite) -> Table:
    shown = Table(title="Fitted site", title_justify="left", box=SIMPLE_HEAD)
    shown.add_column("quantity")
    shown.add_column("value")
    for name, value in parameters(found.model, found.workload.processors):
        shown.add_row(name, value)
    return shown


def _waits(found: CalibratedSite) -> Table:
    shown = Table(title="Waits", title_justify="left", box=SIMPLE_HEAD)
    for name in ("part", "site", "jobs", "recorded mean", "replayed", "error", "p95 error", "corr."):
        shown.add_column(name, justify="left" if name in ("part", "site") else "right")
    for part, site, waits in _rows(found):
        errors = signed(waits.mean_error), signed(waits.p95_error), f"{waits.correlation:.2f}"
        means = duration(waits.recorded_mean), duration(waits.replayed_mean)
        shown.add_row(part, site, f"{waits.jobs:,}", *means, *errors)
    return shown


def _rows(found: CalibratedSite) -> tuple[tuple[str, str, WaitAccuracy], ...]:
    return (
        ("fitted", "fitted", found.fitted),
        ("judged", "fitted", found.judged),
        ("fitted", "EASY", found.plain_fitted),
        ("judged", "EASY", found.plain_judged),
    )


def _tree(found: CalibratedSite) -> dict[str, Any]:
    return {
        "close": found.close,
        "replays": found.replays,
        "model": dataclasses.asdict(found.model),
        "waits": [
            {
                "part": part,
                "site": site,
                **dataclasses.asdict(waits),
                "mean_error": waits.mean_error,
                "p95_error": waits.p95_error,
            }
            for part, site, waits in _rows(found)
        ],
        "quarters": [
            {"first_submit_s": first, "mean_error": waits.mean_error} for first, waits in found.quarters
        ],
        "idle_waiting": dataclasses.asdict(found.gaps.idle),
        "idle_waiting_replayed": dataclasses.asdict(found.gaps.idle_replayed),
        "lacking": list(lacking(found)),
    }
