"""Consoles on which nothing from outside tells the terminal what to do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook
from rich.segment import Segment

from windlass.model.text import printable


def terminal(
    *, stderr: bool = False, highlight: bool = False, soft_wrap: bool = False, width: int | None = None
) -> Console:
    """A console that prints text as it is: no markup, no names of emoji, signs that steer a terminal written out.

    Parameters
    ----------
    stderr, highlight, soft_wrap, width
        As for :class:`rich.console.Console`.

    Examples
    --------
    >>> terminal().print("[bold]a:smile:\\x1b[2J")
    [bold]a:smile:\\x1b[2J
    """
    console = Console(
        stderr=stderr, highlight=highlight, soft_wrap=soft_wrap, width=width, markup=False, emoji=False
    )
    console.push_render_hook(_Cleaning())
    return console


def say(line: str) -> None:
    """A line with the time of day on standard error, as commands that go on for long have it."""
    print(f"{datetime.now():%H:%M:%S} {printable(line)}", file=sys.stderr, flush=True)


class _Cleaning(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Clean(each) for each in renderables]


@dataclass(frozen=True, slots=True)
class _Clean:
    """What is inside, once it is laid out: rich has signs of its own that steer, apart from text."""

    inside: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self.inside, options):
            yield segment if segment.control else Segment(_lines(segment.text), segment.style)


def _lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
