"""Add pages to the site that are not in docs/: the README as its first page, and reference pages from the code.

The Python API has one page per package: its docstring, then each of its modules. ``site_reference.py`` makes the pages
on the command line, the fields of scenarios and the metrics. A link to a module leads to the Python API, and a link to
another file of the repository to a copy of the file.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "docs")]

import site_reference  # noqa: E402

SOURCE = ROOT / "src"
#: Pages outside docs/, by their place on the site.
ELSEWHERE = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def modules_of(room: Path) -> list[str]:
    """Return a package and its public modules, by import name."""
    name = ".".join(room.relative_to(SOURCE).parts)
    files = sorted(file.stem for file in room.glob("*.py") if not file.stem.startswith("_"))
    return [name, *(f"{name}.{each}" for each in files)]


def rooms() -> Iterator[Path]:
    """Yield all packages, from the top."""
    for file in sorted(SOURCE.rglob("__init__.py")):
        yield file.parent


def reference_of(room: Path) -> str:
    """Return the reference page of a package."""
    name, *others = modules_of(room)
    return "\n\n".join([f"# {name}", *(f"::: {each}" for each in (name, *others))]) + "\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add to the navigation the pages that are not listed, and to its last section the generated reference."""
    listed = set(re.findall(r"[\w-]+\.md", repr(config.nav)))
    others = sorted({file.name for file in (ROOT / "docs").glob("*.md")} - listed)
    more: list[Any] = [{"More": list(others)}] if others else []
    generated: list[Any] = [{title: place} for place, (title, _) in site_reference.PAGES.items()]
    api = [{page.removesuffix(".md"): f"reference/{page}"} for page in map(_page_of, rooms())]
    *sections, reference = config.nav or [{"Reference": []}]
    ((title, pages),) = reference.items()
    config.nav = [*sections, *more, {title: [*pages, *generated, {"Python API": api}]}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere, the reference, and the files that pages link to."""
    for place, source in ELSEWHERE.items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text(encoding="utf-8")))
    for room in rooms():
        files.append(File.generated(config, f"reference/{_page_of(room)}", content=reference_of(room)))
    for place, (_, made) in site_reference.PAGES.items():
        files.append(File.generated(config, place, content=made()))
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / source for source in ELSEWHERE.values())]
    linked = {
        _in_repository(page, target)
        for page in pages
        for _, target, _ in _LINK.findall(page.read_text("utf-8"))
    }
    for path in sorted(filter(None, linked)):
        file = ROOT / path
        place = _on_site(path)
        if place is not None and place.startswith("files/"):
            files.append(File.generated(config, place, content=file.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links to the places that the site gives their targets."""
    place = page.file.src_uri
    if place.startswith("reference/"):
        return markdown
    source = ROOT / ELSEWHERE.get(place, f"docs/{place}")
    markdown = re.sub(r"^<!--.*?-->\n", "", markdown, flags=re.MULTILINE)

    def moved(link: re.Match[str]) -> str:
        path = _in_repository(source, link[2])
        target = None if path is None else _on_site(path)
        if target is None:
            return link[1]
        file, _, module = target.partition("#")
        anchor = link[3] or (f"#{module}" if module else "")
        return f"[{link[1]}]({posixpath.relpath(file, posixpath.dirname(place) or '.')}{anchor})"

    return _LINK.sub(moved, markdown)


def _in_repository(page: Path, target: str) -> str | None:
    """Return a link's target relative to the repository's root; None outside of the repository."""
    path = Path(posixpath.normpath(posixpath.join(page.parent.as_posix(), target)))
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else None


def _on_site(path: str) -> str | None:
    """Return the place of a repository's file on the site; None if the site does not have it."""
    for place, source in ELSEWHERE.items():
        if path == source:
            return place
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("src/") and path.endswith(".py"):
        file = Path(path).relative_to("src")
        room = file.parent
        module = ".".join(room.parts if file.stem == "__init__" else file.with_suffix("").parts)
        return f"reference/{'.'.join(room.parts)}.md#{module}"
    # Copied as text, because `exclude_docs` omits files that end in .py.
    return f"files/{path}{'.txt' if path.endswith('.py') else ''}" if (ROOT / path).is_file() else None


def _page_of(room: Path) -> str:
    return f"{'.'.join(room.relative_to(SOURCE).parts)}.md"
