"""``windlass slurm log``, and the client of Slurm that all of its commands use."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from windlass.cli.output import log_line, write_raw

if TYPE_CHECKING:
    from windlass.engines.slurm.client import Client

Conf = Annotated[
    Path | None, typer.Option("--conf", help="File slurm.conf.", show_default="$SLURM_CONF, or the system's")
]


def client_of(conf: Path | None, patience: float, notify: Callable[[str], None] = log_line) -> Client:
    """Return a client of the Slurm that a ``slurm.conf`` describes, or that the system selects."""
    from windlass.engines.slurm.client import Client
    from windlass.engines.slurm.commands import Commands
    from windlass.model import InputError

    if conf is not None and not conf.is_file():
        raise InputError(f"--conf: {conf}: no such file")
    return Client(Commands(conf), patience=patience, notify=notify)


def log(
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write.", show_default="standard output")
    ] = None,
    conf: Conf = None,
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="Include every run of a requeued job, not only the last.")
    ] = False,
) -> None:
    """Write finished jobs as CSV, for windlass run."""
    from windlass.engines.slurm.log import read_log, read_site, write_log
    from windlass.io import check_file, write_text
    from windlass.model import BatchError, InputError

    if out is not None:
        check_file("--out", out, begins=b"job,submit,start,")
    client = client_of(conf, 60.0)
    found, site = read_log(client, duplicates), None
    try:
        site = read_site(client)
    except (BatchError, InputError) as error:
        log_line(f"the size of the site is left out, pass --procs to windlass run: {error}")
    table = io.StringIO()
    write_log(found.jobs, table, site)
    if out is None:
        write_raw(table.getvalue())
    else:
        write_text(table.getvalue(), out)
    what, why = ("runs", "never ran") if duplicates else ("jobs", "never ran or ran again")
    log_line(f"{len(found.jobs)} {what}; {found.left_out} records of jobs that {why} are left out")
