"""A bar of how much is done, where somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from windlass.cli.terminal import terminal


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with how many are done, of how many; it draws on standard error if that is a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=terminal(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as drawn:
        task = drawn.add_task(what, total=None)
        yield lambda done, of: drawn.update(task, completed=done, total=of)
