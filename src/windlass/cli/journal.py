"""Journals of the control plane and of drivers: ``windlass journal``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from windlass.cli.output import note

journal_app = typer.Typer(help="Read the journals of the control plane and of drivers.", no_args_is_help=True)


class _Table(StrEnum):
    """Tables of a journal."""

    DECISIONS = "decisions"
    EVENTS = "events"
    ACTS = "acts"
    ACTIONS = "actions"
    VIEWS = "views"
    PREDICTIONS = "predictions"


@journal_app.callback()
def _journal() -> None:
    pass


@journal_app.command()
def export(
    journal: Annotated[Path, typer.Argument(help="Journal that windlass serve writes or has written.")],
    out: Annotated[Path, typer.Argument(help="Parquet file to write or replace.")],
    table: Annotated[_Table, typer.Option("--table", help="Table to export.")] = _Table.DECISIONS,
) -> None:
    """Write a table of a journal as a Parquet file, also while the journal is written."""
    from windlass.control.journal.export import export_journal

    note(f"{out}: {export_journal(journal, out, table.value):,} {table.value}")


@journal_app.command()
def lines(
    journal: Annotated[Path, typer.Argument(help="Journal of windlass slurm drive or windlass k8s drive.")],
) -> None:
    """Print the entries of a driver's journal, one JSON object a line, also while the driver runs."""
    from windlass.cli.output import print_lines
    from windlass.engines.batch.journal import stored_lines

    print_lines(stored_lines(journal))
