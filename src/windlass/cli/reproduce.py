"""``windlass reproduce``."""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from windlass.cli.signals import stopped_by_signals
from windlass.cli.stderr_capture import errors_apart
from windlass.cli.terminal import terminal
from windlass.engines.worker_pool import crews_on
from windlass.io import added_to, check_file, check_folder
from windlass.model import InputError
from windlass.report import BEGINS

_GROUP = "windlass.reproductions"


def reproductions() -> Any:
    """Return the module of the installed package of reproductions.

    Raises
    ------
    InputError
        No such package is installed.
    """
    found = entry_points(group=_GROUP)
    if not found:
        raise InputError(
            "reproduce: the package windlass-reproductions is not installed; in a checkout of Windlass, run:"
            " pip install -e reproductions"
        )
    return next(iter(found)).load()


def engine_of(engine: str | None, *, slurm: bool) -> str | None:
    """Which engine is asked for, where ``--slurm`` is another word for one.

    >>> engine_of(None, slurm=True)
    'slurm'
    """
    if slurm and engine not in (None, "slurm"):
        raise InputError(f"--slurm: --engine {engine} is given as well, expected one of the two")
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
    """Run a reproduction, print its rows, save its page."""
    if on is not None and engine is not None:
        raise InputError("--on: --engine is given as well, expected one of the two")
    package = reproductions()
    paper = package.on_engine(package.find_paper(name), engine)
    paper = package.by_crews(paper, None if on is None else partial(crews_on, on))
    if out is not None:
        check_folder("--out", out)
        if out.is_dir():
            check_file("--out", out / f"{paper.name}.html", begins=BEGINS)
    shown = sys.stderr.isatty()
    with (
        stopped_by_signals(True),
        errors_apart("a library"),
        Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            console=terminal(stderr=True),
            transient=True,
            disable=not shown,
        ) as bar,
    ):
        task = bar.add_task(paper.title, total=1.0)
        # Some engines print warnings to standard output, where the rows go.
        with contextlib.redirect_stdout(sys.stderr):
            reproduction = paper.reproduce(
                quick=quick, tell=lambda step, share: bar.update(task, description=step, completed=share)
            )
    try:
        if as_json:
            sys.stdout.write(package.rows_json(reproduction) + "\n")
        else:
            terminal().print(package.rows_table(paper, reproduction))
    finally:
        # Also where nobody reads to the end what is shown, as `| head` does.
        if out is not None:
            with added_to(out, "--out") as fresh:
                package.save(paper, reproduction, fresh)
            terminal(stderr=True, soft_wrap=True).print(
                f"{paper.name}.html and {paper.name}.json are in {out}"
            )
