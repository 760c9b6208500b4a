"""Draw the picture in ``docs/architecture.md`` from the imports of the source, as Mermaid.

``python docs/draw_architecture.py`` rewrites the picture; ``--check`` fails if it is out of date.

A room is a module or package directly below ``windlass``. The rooms of one layer of ``[tool.importlinter]`` share a
frame. An arrow is drawn from a layer to each layer that it imports, unless a longer path of arrows leads there.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "windlass"
PAGE = ROOT / "docs" / "architecture.md"
#: The picture's place in the page.
_BLOCK = re.compile(r"^```mermaid\n.*?^```\n", flags=re.DOTALL | re.MULTILINE)

Layer = tuple[str, ...]


def layers() -> list[Layer]:
    """Return the rooms of each layer, from the top to the bottom."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contract = next(each for each in tools["importlinter"]["contracts"] if each["type"] == "layers")
    return [tuple(re.findall(r"windlass\.(\w+)", layer)) for layer in contract["layers"]]


def files(room: str) -> list[Path]:
    """Return the modules of a room without its policies, because a new policy must not change the picture."""
    found = sorted((SOURCE / room).rglob("*.py")) or [SOURCE / f"{room}.py"]
    return [file for file in found if "policies" not in file.parts]


def imports(room: str) -> set[str]:
    """Return the rooms that a room imports."""
    names: set[str] = set()
    for file in files(room):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name.split(".")[1] for name in names if name.startswith("windlass.")} - {room}


def arrows(found: list[Layer]) -> list[tuple[Layer, Layer]]:
    """Return pairs of a layer and a layer that it imports, without pairs that a longer path connects."""
    home = {room: layer for layer in found for room in layer}
    onto = {own: {home[to] for room in own for to in imports(room) if to in home} - {own} for own in found}

    @cache
    def below(layer: Layer) -> frozenset[Layer]:
        return frozenset(onto[layer]).union(*map(below, onto[layer]))

    return [(a, b) for a in found for b in found if b in onto[a] and not any(b in below(c) for c in onto[a])]


def node(room: str) -> str:
    """Return a room as a Mermaid node; rooms that have policies are decisions, and round."""
    label = f'"{room}/"' if (SOURCE / room).is_dir() else f'"{room}.py"'
    decision = any((SOURCE / room).rglob("policies"))
    return f"{room}({label}):::decision" if decision else f"{room}[{label}]"


def name_of(layer: Layer) -> str:
    """Return the identifier of a layer: its room, or its rooms joined."""
    return "_".join(layer)


def draw() -> str:
    """Return the picture as a fenced block of Mermaid."""
    found = layers()
    lines = ["```mermaid", "flowchart TD", "    classDef decision fill:#fdf1dc,stroke:#c2913a,color:#1f2937"]
    for layer in found:
        if len(layer) == 1:
            lines.append(f"    {node(layer[0])}")
        else:
            rooms = [f"        {node(room)}" for room in layer]
            lines += [f'    subgraph {name_of(layer)}[" "]', *rooms, "    end"]
    lines += [f"    {name_of(a)} --> {name_of(b)}" for a, b in arrows(found)]
    return "\n".join([*lines, "```"]) + "\n"


def main() -> None:
    """Write the picture into the page, or check it."""
    page = PAGE.read_text(encoding="utf-8")
    if not _BLOCK.search(page):
        sys.exit(f"{PAGE.relative_to(ROOT)} has no block of Mermaid, expected the one to replace")
    fresh = _BLOCK.sub(lambda _: draw(), page, count=1)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(fresh, encoding="utf-8")
    elif page != fresh:
        sys.exit(
            f"{PAGE.relative_to(ROOT)}: the picture is out of date: run python docs/draw_architecture.py"
        )


if __name__ == "__main__":
    main()
