"""Consoles that print text literally: text from logs and policies cannot control the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook
from rich.segment import Segment

from windlass.model.text import printable


def terminal(
    *, stderr: bool = False, highlight: bool = False, soft_wrap: bool = False, width: int | None = None
) -> Console:
    """Return a console without markup and emoji names, which escapes control characters.

    Parameters
    ----------
    stderr, highlight, soft_wrap, width
        See :class:`rich.console.Console`.

    Examples
    --------
    >>> terminal().print("[bold]a:smile:\\x1b[2J")
    [bold]a:smile:\\x1b[2J
    """
    console = Console(
        stderr=stderr, highlight=highlight, soft_wrap=soft_wrap, width=width, markup=False, emoji=False
    )
    console.push_render_hook(_Escaping())
    return console


class _Escaping(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Escaped(each) for each in renderables]


@dataclass(frozen=True, slots=True)
class _Escaped:
    """A renderable with text that is escaped after layout; the console's own control codes are separate segments."""

    inside: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self.inside, options):
            yield segment if segment.control else Segment(_escaped(segment.text), segment.style)


def _escaped(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
