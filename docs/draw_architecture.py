"""Draws ``docs/images/architecture.svg`` from the imports of the source: rooms as boxes, an arrow for "imports".

``python docs/draw_architecture.py`` rewrites the picture; ``--check`` says whether it is up to date.

A room is a module or package right below ``windlass``. Rooms of one layer of ``[tool.importlinter]`` share a frame.
An arrow is drawn only where no longer way leads to the same room. A room is in a row above all that it imports.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
import tomllib
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path

from graph_layout import Group, Item, arranged, is_bend, rows_of

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "windlass"
PICTURE = ROOT / "docs" / "images" / "architecture.svg"

BOX, HIGH, PAD, BETWEEN, MARGIN = 176, 58, 9, 44, 26
STYLE = """
  .sheet { fill: #ffffff } text { fill: #1f2937; font: 11.5px system-ui, sans-serif; text-anchor: middle }
  .name { font-weight: 600; font-size: 15px } .note { fill: #6b7280 }
  .room { fill: #eef3fa; stroke: #7790b3 } .decision { fill: #fdf1dc; stroke: #c2913a }
  .frame { fill: none; stroke: #9aa5b5; stroke-dasharray: 4 3 }
  .way { fill: none; stroke: #64748b; stroke-width: 1.4 } .head { fill: #64748b }
  @media (prefers-color-scheme: dark) {
    .sheet { fill: #10161f } text { fill: #e5e9f0 } .note { fill: #9aa5b5 }
    .room { fill: #1d2a3d; stroke: #55719b } .decision { fill: #3a2d14; stroke: #b58a3f }
    .frame { stroke: #64748b } .way { stroke: #93a1b5 } .head { fill: #93a1b5 }
  }
"""


def layers() -> list[Group]:
    """The rooms of each layer, from the top of the house to its bottom."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contract = next(each for each in tools["importlinter"]["contracts"] if each["type"] == "layers")
    return [tuple(re.findall(r"windlass\.(\w+)", layer)) for layer in contract["layers"]]


def files(room: str) -> list[Path]:
    """The modules of a room, the one that says what it is first; policies are exempt, as anybody adds them."""
    found = sorted((SOURCE / room).rglob("*.py")) or [SOURCE / f"{room}.py"]
    return [file for file in found if "policies" not in file.parts]


def imports(room: str) -> set[str]:
    """Which rooms a room imports."""
    names: set[str] = set()
    for node in (
        node for file in files(room) for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    ):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name.split(".")[1] for name in names if name.startswith("windlass.")} - {room}


def arrows(groups: list[Group]) -> list[tuple[Group, Group]]:
    """From each group to those that it imports, where no longer way leads there."""
    home = {room: group for group in groups for room in group}
    onto = {own: {home[to] for room in own for to in imports(room) if to in home} - {own} for own in groups}

    @cache
    def below(group: Group) -> frozenset[Group]:
        return frozenset(onto[group]).union(*map(below, onto[group]))

    return [
        (a, b) for a in groups for b in groups if b in onto[a] and not any(b in below(c) for c in onto[a])
    ]


def width(item: Item) -> float:
    """How wide a group's frame or a bend is."""
    return 4.0 if is_bend(item) else len(item) * (BOX + PAD) - PAD + 2 * PAD * (len(item) > 1)


def box(room: str, x: float, y: float) -> str:
    """A room: its name, and what it is, as the first words of its docstring say."""
    doc = ast.get_docstring(ast.parse(files(room)[0].read_text(encoding="utf-8"))) or ""
    what = re.split(r"[:.;,]\s", doc.split("\n")[0].replace("`", "").rstrip(".") + ": ")[0]
    kind = "decision" if any((SOURCE / room).rglob("policies")) else "room"
    lines = textwrap.wrap(what, 26, max_lines=2, placeholder=" …")
    words = [
        f'<text x="{x:.0f}" y="{y + 36 + 14 * at:.0f}">{escape(line)}</text>' for at, line in enumerate(lines)
    ]
    return (
        f'<rect class="{kind}" x="{x - BOX / 2:.0f}" y="{y:.0f}" width="{BOX}" height="{HIGH}" rx="7"/>'
        f'<text class="name" x="{x:.0f}" y="{y + 19:.0f}">{room}{"/" * (SOURCE / room).is_dir()}</text>'
        + "".join(words)
    )


def draw() -> str:
    """The picture as SVG."""
    groups = layers()
    ways = arrows(groups)
    rows = rows_of(groups, ways)
    bends = [item for row in reversed(rows) for item in row if is_bend(item)]
    chains = {(a, b): [a, *(bend for bend in bends if bend[:2] == (a, b)), b] for a, b in ways}
    links = [link for chain in chains.values() for link in pairwise(chain)]
    wide = {item: width(item) for row in rows for item in row}
    x = {item: own + MARGIN for item, own in arranged(rows, links, wide).items()}
    y = {
        item: MARGIN + (len(rows) - 1 - at) * (HIGH + BETWEEN) for at, row in enumerate(rows) for item in row
    }

    def port(item: Item, other: Item, down: bool) -> float:
        mates = sorted((b if down else a for a, b in links if item == (a if down else b)), key=x.__getitem__)
        return x[item] + (mates.index(other) - (len(mates) - 1) / 2) * min(26, BOX / len(mates))

    def edge(item: Item, down: bool) -> float:
        frame = PAD * (len(item) > 1 and not is_bend(item))
        return y[item] + (HIGH + frame if down else -frame)

    parts = []
    for chain in chains.values():
        path = ""
        for upper, lower in pairwise(chain):
            x1, y1, x2, y2 = (
                port(upper, lower, True),
                edge(upper, True),
                port(lower, upper, False),
                edge(lower, False),
            )
            middle = (y1 + y2) / 2
            path += f"{'L' if path else 'M'}{x1:.0f} {y1} C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f} {x2:.0f} {y2}"
        parts.append(f'<path class="way" d="{path}" marker-end="url(#head)"/>')
    for group in groups:
        left = x[group] - wide[group] / 2
        if len(group) > 1:
            parts.append(
                f'<rect class="frame" x="{left:.0f}" y="{y[group] - PAD}" width="{wide[group]:.0f}" '
                f'height="{HIGH + 2 * PAD}" rx="10"/>'
            )
            left += PAD
        parts += [box(room, left + BOX / 2 + at * (BOX + PAD), y[group]) for at, room in enumerate(group)]
    right = max(own + wide[item] / 2 for item, own in x.items()) + MARGIN
    high = len(rows) * (HIGH + BETWEEN) + MARGIN
    note = "An arrow: imports. What a room imports by way of another has no arrow of its own. Yellow: a decision."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right:.0f} {high}" role="img">\n'
        f"<title>The rooms of Windlass, and which imports which</title>\n<style>{STYLE}</style>\n"
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto"><path class="head" d="M0 0L10 5L0 10z"/></marker></defs>\n'
        f'<rect class="sheet" width="{right:.0f}" height="{high}" rx="12"/>\n'
        + "\n".join(parts)
        + f'\n<text class="note" x="{right / 2:.0f}" y="{high - MARGIN + 4}">{note}</text>\n</svg>\n'
    )


def main() -> None:
    """Write the picture, or check it."""
    if "--check" not in sys.argv[1:]:
        PICTURE.write_text(draw(), encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != draw():
        sys.exit(
            f"{PICTURE.relative_to(ROOT)} is out of date: run python docs/draw_architecture.py to redraw it"
        )


if __name__ == "__main__":
    main()
