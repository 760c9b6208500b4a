"""An HTML page, parsed by the standard library."""

from __future__ import annotations

import base64
import gzip
from html.parser import HTMLParser
from pathlib import Path

from windlass.report import write_report
from windlass.results import Results

_VOID = {"meta", "link", "img", "br", "hr", "input", "line", "rect"}


class Page(HTMLParser):
    """Elements in order, texts outside scripts and styles, and texts of scripts by id, the figures uncompressed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: dict[str, str] = {}
        self.feed(html)
        self.close()
        assert self.open == [], "every element that is opened is closed"
        if "plots" in self.scripts:
            self.scripts["plots"] = gzip.decompress(base64.b64decode(self.scripts["plots"])).decode()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute of <{tag}> is given twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        opened = self.open.pop()[0]
        assert opened == tag, f"<{opened}> is closed by </{tag}>"

    def handle_data(self, data: str) -> None:
        tag, attributes = self.open[-1] if self.open else ("", {})
        if tag == "script":
            name = attributes.get("id") or ""
            self.scripts[name] = self.scripts.get(name, "") + data
        elif tag != "style":
            self.texts.append(data)

    def text(self) -> str:
        """All visible text, without plots."""
        return " ".join(" ".join(self.texts).split())

    def ids(self) -> set[str]:
        """Ids of all elements."""
        return {attributes["id"] or "" for _, attributes in self.elements if "id" in attributes}


def page_of(results: Results, folder: Path) -> Page:
    """Write the report of these results, and parse it."""
    path = folder / "new" / "report.html"
    write_report(results, path)
    return Page(path.read_text(encoding="utf-8"))
