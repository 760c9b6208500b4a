"""Progress on standard error; nothing is drawn if that is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from windlass.cli.terminal import terminal
from windlass.model.text import printable

if TYPE_CHECKING:  # not imported at run time: agents draw progress too and need neither
    from windlass.experiment.runner import Progress as RunProgress
    from windlass.jit import Compiling

#: Updates a row, given its description, the completed amount and the total.
Update = Callable[[str, float, float], None]


class ProgressRows:
    """Rows of a progress display, each a description and a bar.

    Parameters
    ----------
    bar
        The display; None to draw nothing.
    """

    def __init__(self, bar: Progress | None) -> None:
        self._bar = bar

    @property
    def shown(self) -> bool:
        """True if anything is drawn."""
        return self._bar is not None

    def row(self, description: str) -> Update:
        """Add a row without a total, and return the function that updates it."""
        bar = self._bar
        if bar is None:
            return lambda description, done, total: None
        task = bar.add_task(printable(description), total=None)

        def update(description: str, done: float, total: float) -> None:
            bar.update(task, description=printable(description), completed=done, total=total)

        return update


@dataclass(frozen=True, slots=True)
class ProgressCallbacks:
    """Callbacks for the runner; None if nothing is drawn."""

    running: Callable[[RunProgress], None] | None = None
    compiling: Callable[[Compiling], None] | None = None


@contextmanager
def progress_rows(*, counted: bool = False) -> Iterator[ProgressRows]:
    """Draw progress on standard error until the block ends, and remove it then.

    Parameters
    ----------
    counted
        Print ``3/10`` instead of a percentage.
    """
    if not sys.stderr.isatty():
        yield ProgressRows(None)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn() if counted else TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=terminal(stderr=True), transient=True) as bar:
        yield ProgressRows(bar)


@contextmanager
def counted_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Draw one row of a count; yields a function to call with the completed number and the total."""
    with progress_rows(counted=True) as rows:
        update = rows.row(what)
        yield lambda done, total: update(what, done, total)


@contextmanager
def run_progress() -> Iterator[ProgressCallbacks]:
    """Draw the progress of an experiment on one row; yields callbacks for the runner."""
    with progress_rows() as rows:
        if not rows.shown:
            yield ProgressCallbacks()
            return
        update = rows.row("starting")

        def running(progress: RunProgress) -> None:
            what = f"{progress.variant}, seed {progress.seed}" if progress.variant else "done"
            update(what, progress.done, progress.total)

        def compiling(progress: Compiling) -> None:
            what = (
                f"compiling for this machine (first use only): {progress.done} of {progress.total} functions"
            )
            update(what, progress.done, progress.total)

        yield ProgressCallbacks(running, compiling)


def status_line(text: str) -> None:
    """Replace the last line on standard error with a text, if that is a terminal; an empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{printable(text)}", end="", file=sys.stderr, flush=True)
