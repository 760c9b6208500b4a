"""A progress bar on standard error, where somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from windlass.runner import Progress as RunProgress


@contextmanager
def progress_bar() -> Iterator[Callable[[RunProgress], None] | None]:
    """A callback for the runner that draws a bar; None when standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def tell(progress: RunProgress) -> None:
            what = f"{progress.variant}, seed {progress.seed}" if progress.variant else "done"
            bar.update(task, description=what, completed=progress.done, total=progress.total)

        yield tell
