"""The pages as commands and snippets: the kind of each block, and how it is run.

A comment right above a block declares a special case:

- ``<!-- not run: REASON -->``: it cannot run on an arbitrary machine.
- ``<!-- run as: COMMAND -->``: the command that runs in its place, if the block takes long or needs a file of the user.
- ``<!-- file: NAME -->``: it is a file of that name, used later on the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md"))]
#: What blocks may be in: commands, code, and what is only to be read.
RUN, READ = ("sh", "python"), ("text", "yaml", "toml", "mermaid")
_MARK = re.compile(r"<!-- (not run|run as|file): (.*) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block: its page, the line of its first line, its language and text, and what comments above it say."""

    page: str
    line: int
    language: str
    text: str
    not_run: str = ""
    run_as: str = ""
    file: str = ""


def blocks_of(page: str) -> list[Block]:
    """All blocks of a page, in order."""
    found: list[Block] = []
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    begun: int | None = None
    marks: dict[str, str] = {}
    for number, line in enumerate(lines):
        if begun is None and line.startswith("```"):
            begun = number
        elif begun is not None and line == "```":
            text = "\n".join(lines[begun + 1 : number]) + "\n"
            options = {name.replace(" ", "_"): value for name, value in marks.items()}
            found.append(Block(page, begun + 2, lines[begun][3:], text, **options))
            begun, marks = None, {}
        elif begun is None and (mark := _MARK.fullmatch(line)):
            marks[mark[1]] = mark[2]
        elif begun is None and not line.startswith("<!--"):
            assert not marks, f"{page}, line {number + 1}: the comment above is not followed by a block"
    assert begun is None, f"{page}: a block does not end"
    return found


def prose_of(page: str) -> str:
    """A page without its blocks."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
