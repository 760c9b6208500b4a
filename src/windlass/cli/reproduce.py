"""``windlass reproduce``: tables and figures of a paper, reproduced."""

from __future__ import annotations

import contextlib
import json
import sys
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from windlass.cli.output import note, print_tables, write_json
from windlass.cli.progress import progress_rows
from windlass.cli.signals import stopped_by_signals
from windlass.cli.stderr_capture import errors_apart
from windlass.engines.worker_pool import crews_on
from windlass.io import add_to_folder, check_file, check_folder
from windlass.model import InputError
from windlass.report import PAGE_PREFIX

_GROUP = "windlass.reproductions"


def installed_reproductions() -> Any | None:
    """Return the module of the installed package of reproductions, or None."""
    found = entry_points(group=_GROUP)
    return next(iter(found)).load() if found else None


def reproductions() -> Any:
    """Return the module of the installed package of reproductions.

    Raises
    ------
    InputError
        No such package is installed.
    """
    found = installed_reproductions()
    if found is None:
        raise InputError(
            "the package windlass-reproductions is not installed; in a checkout of Windlass, run:"
            " pip install -e reproductions"
        )
    return found


def engine_of(engine: str | None, *, slurm: bool) -> str | None:
    """Return the engine that the options name; ``--slurm`` is short for ``--engine slurm``.

    >>> engine_of(None, slurm=True)
    'slurm'
    """
    if slurm and engine not in (None, "slurm"):
        raise InputError(f"--slurm: --engine {engine} is also given, expected one of the two")
    return "slurm" if slurm else engine


def reproduce_command(
    name: str,
    *,
    quick: bool,
    out: Path | None,
    as_json: bool,
    engine: str | None = None,
    on: str | None = None,
) -> None:
    """Run a reproduction, print its rows, and write its page."""
    if on is not None and engine is not None:
        raise InputError("--on: --engine is also given, expected one of the two")
    package = reproductions()
    paper = package.on_engine(package.find_paper(name), engine)
    paper = package.by_crews(paper, None if on is None else partial(crews_on, on))
    if out is not None:
        check_folder("--out", out)
        if out.is_dir():
            check_file("--out", out / f"{paper.name}.html", begins=PAGE_PREFIX)
    with stopped_by_signals(True), errors_apart("a library"), progress_rows() as rows:
        update = rows.row(paper.title)
        # Some engines print warnings to standard output, which is for the rows.
        with contextlib.redirect_stdout(sys.stderr):
            reproduction = paper.reproduce(quick=quick, notify=lambda step, share: update(step, share, 1.0))
    try:
        if as_json:
            write_json(json.loads(package.rows_json(reproduction)))
        else:
            print_tables(package.rows_table(paper, reproduction))
    finally:
        # Files are written also if the reader of standard output ends early, as `| head` does.
        if out is not None:
            with add_to_folder(out, "--out") as fresh:
                package.save(paper, reproduction, fresh)
            note(f"{paper.name}.html and {paper.name}.json are in {out}")
