"""Fragments of HTML that several sections use. All text from users and policies passes through :func:`text`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from windlass.model.text import printable
from windlass.report.figures import Plot
from windlass.report.job_columns import VariantLane
from windlass.report.palette import Ink

#: The end of the answer within the first sentence.
_END = re.compile(r"[;.](?= )")


@dataclass(frozen=True, slots=True)
class PageSection:
    """A section of the page: its HTML, and the plots that it contains."""

    html: str
    plots: tuple[Plot, ...] = ()


NOTHING = PageSection("")


def text(value: object) -> str:
    """Escape a value as HTML text; line breaks are kept, and other control characters are made printable.

    >>> text("a<b>")
    'a&lt;b&gt;'
    """
    return escape("\n".join(map(printable, str(value).split("\n"))))


def heading(title: str, lead: str) -> str:
    """Return the header of a page: its title is text, and the line below it is HTML."""
    return f'<header><p class="over">Windlass report</p><h1>{text(title)}</h1><p class="lead">{lead}</p></header>'


def answer(sentences: Sequence[str]) -> str:
    """Return the verdict: the first sentence in large type and its answer bold, the others as a list; may be empty.

    >>> answer(["easy is best; barely.", "It costs more."])
    '<section class="answer"><p><b>easy is best;</b> barely.</p><ul><li>It costs more.</li></ul></section>'
    """
    if not sentences:
        return ""
    rest = "".join(f"<li>{_unbroken(each)}</li>" for each in sentences[1:])
    more = f"<ul>{rest}</ul>" if rest else ""
    # The evidence follows the first semicolon or the first sentence.
    found = _END.search(sentences[0])
    end = len(sentences[0]) if found is None else found.end()
    first = f"<b>{_unbroken(sentences[0][:end])}</b>{_unbroken(sentences[0][end:])}"
    return f'<section class="answer"><p>{first}</p>{more}</section>'


def _unbroken(sentence: str) -> str:
    """Return a sentence without line breaks between numbers and %."""
    return text(sentence.replace(" %", "\N{NO-BREAK SPACE}%"))


def remarks(notes: Sequence[str]) -> str:
    """Return notes on the input; empty without notes."""
    if not notes:
        return ""
    items = "".join(f"<li>{text(note)}</li>" for note in notes)
    return f'<aside class="notes"><b>About the input</b><ul>{items}</ul></aside>'


def key(lane: VariantLane) -> str:
    """Return a short line with the variant's colour and dash, as SVG."""
    dash = f' stroke-dasharray="{lane.stroke.svg_dash}"' if lane.stroke.svg_dash != "none" else ""
    return (
        '<svg class="key" viewBox="0 0 24 8" aria-hidden="true">'
        f'<line x1="0" y1="4" x2="24" y2="4" stroke="var(--{lane.stroke.ink.name})"{dash}/></svg>'
    )


def named(lane: VariantLane) -> str:
    """Return the variant's line key and name."""
    return f'<span class="name">{key(lane)}<span>{text(lane.name)}</span></span>'


def figure(plot: Plot, title: str, caption: str) -> str:
    """Return a plot with a title above and a caption below; the caption is HTML, the title is text."""
    return (
        f"<figure><h3>{text(title)}</h3>"
        f'<div class="plot" id="{text(plot.key)}" style="height:{plot.height}px"></div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def bar(lane: VariantLane, part: float) -> str:
    """Return a bar in the variant's colour over a part of the width, 0 to 1."""
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{100 * part:.2f}" height="10" fill="var(--{lane.stroke.ink.name})"/></svg>'
    )


def narrow(cell: str) -> str:
    """Return a cell for a narrow column: it breaks before an interval in parentheses, and not within it.

    >>> narrow("0.4 (0.2-0.7)"), narrow("-5%")
    ('0.4 <span class="whole">(0.2−0.7)</span>', '−5 %')
    """
    value, opened, interval = cell.replace("-", "−").replace("%", " %").partition(" (")
    return text(value) + (f' <span class="whole">({text(interval)}</span>' if opened else "")


def rows(cells: list[str]) -> str:
    """Return table rows, given the cells of each."""
    return "".join(f"<tr>{each}</tr>" for each in cells)


def chooser(lanes: Sequence[VariantLane]) -> str:
    """Return a menu of the variants for plots that show one at a time; empty for a single variant.

    All menus of a page choose the same variant. Such a plot has ``one_variant`` in the ``meta`` of its layout.
    """
    if len(lanes) < 2:
        return ""
    options = "".join(f'<option value="{lane.position}">{text(lane.name)}</option>' for lane in lanes)
    return f'<label class="choose">Variant <select>{options}</select></label>'


def swatch(ink: Ink, name: str, *, line: bool = False) -> str:
    """Return a legend's entry: an area's colour, or that of a line, and its name."""
    height, y = (2, 3) if line else (8, 0)
    return (
        '<li><svg class="swatch" viewBox="0 0 12 8" aria-hidden="true">'
        f'<rect y="{y}" width="12" height="{height}" fill="var(--{ink.name})"/></svg>{text(name)}</li>'
    )
