"""A progress bar on standard error, where somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from windlass.cli.terminal import terminal
from windlass.experiment.runner import Progress as RunProgress
from windlass.jit import Compiling
from windlass.model.text import printable


@dataclass(frozen=True, slots=True)
class ProgressCallbacks:
    """Callbacks for the runner that draw on one bar; None where nobody would see it."""

    running: Callable[[RunProgress], None] | None = None
    compiling: Callable[[Compiling], None] | None = None


@contextmanager
def progress_bar() -> Iterator[ProgressCallbacks]:
    """Callbacks for the runner that draw a bar; none when standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield ProgressCallbacks()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=terminal(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def run(progress: RunProgress) -> None:
            what = f"{printable(progress.variant)}, seed {progress.seed}" if progress.variant else "done"
            bar.update(task, description=what, completed=progress.done, total=progress.total)

        def compiled(progress: Compiling) -> None:
            what = (
                f"compiling for this machine (first use only): {progress.done} of {progress.total} functions"
            )
            bar.update(task, description=what, completed=progress.done, total=progress.total)

        yield ProgressCallbacks(run, compiled)
