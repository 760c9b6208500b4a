"""``windlass list`` and ``windlass trace``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from windlass.cli.catalogue import list_command
from windlass.cli.column_names import columns_given
from windlass.cli.output import print_lines, print_tables, write_json
from windlass.experiment.workloads.description import LogDescription, describe_log
from windlass.io.traces import read_trace, to_workload
from windlass.io.traces.pipes import as_file
from windlass.report.units import counted, duration, percentage

__all__ = ["list_command", "trace_command"]

#: The most unreadable lines that are printed.
_BAD_LINES = 20


def trace_command(
    file: Path,
    procs: int | None,
    skip_bad_lines: bool,
    format_: str | None = None,
    columns: Sequence[str] = (),
    *,
    as_json: bool,
) -> None:
    """Read a log and print its summary statistics, with notes on jobs that a run would leave out."""
    trace = read_trace(as_file(file), format_, skip_bad_lines, columns_given(columns))
    workload = to_workload(trace, procs)
    description = describe_log(trace, workload)
    if as_json:
        bad = [asdict(each) for each in trace.bad_lines]
        write_json({**asdict(description), "notes": workload.notes, "bad": bad})
        return
    print_lines([_summary(str(file), description)])
    print_tables(_table(description))
    print_lines((f"note: {note}" for note in workload.notes), wrap=True)
    print_lines(f"line {bad.line}: {bad.reason}" for bad in trace.bad_lines[:_BAD_LINES])


def _summary(name: str, of: LogDescription) -> str:
    span = duration(of.last_submit_s - of.first_submit_s)
    return (
        f"{name}: {counted(of.jobs, 'job')} within {span} on {counted(of.processors, 'processor')}, "
        f"a load of {percentage(of.load)}"
    )


def _table(description: LogDescription) -> Table:
    table = Table(show_header=False)
    for name, value in asdict(description).items():
        if isinstance(value, str):
            if value:
                table.add_row(name, value)
        else:
            table.add_row(name, f"{value:,.4g}" if isinstance(value, float) else f"{value:,}")
    return table
