"""The picture of the packages in docs/architecture.md matches the imports."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "windlass"


@pytest.fixture
def drawing(monkeypatch):
    """The script that draws, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("draw_architecture")


@pytest.mark.slow
def test_the_picture_is_up_to_date(drawing, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["draw_architecture.py", "--check"])
    drawing.main()


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("# A\n```mermaid\nflowchart TD\n```\n", r"out of date: run python docs/draw_architecture\.py"),
        ("# A\n", "no block of Mermaid"),
    ],
)
def test_an_old_or_missing_picture_is_reported(drawing, monkeypatch, tmp_path, page, words):
    (tmp_path / "architecture.md").write_text(page)
    monkeypatch.setattr(drawing, "ROOT", tmp_path)
    monkeypatch.setattr(drawing, "PAGE", tmp_path / "architecture.md")
    monkeypatch.setattr(drawing, "draw", lambda: "```mermaid\nflowchart TD\n    a --> b\n```\n")
    monkeypatch.setattr(sys, "argv", ["draw_architecture.py", "--check"])
    with pytest.raises(SystemExit, match=words):
        drawing.main()


def test_redrawing_the_picture_keeps_the_text(drawing, monkeypatch, tmp_path):
    page = tmp_path / "architecture.md"
    page.write_text("# A\n```mermaid\nold\n```\nText.\n```python\n1\n```\n")
    monkeypatch.setattr(drawing, "PAGE", page)
    monkeypatch.setattr(drawing, "draw", lambda: "```mermaid\nnew\n```\n")
    monkeypatch.setattr(sys, "argv", ["draw_architecture.py"])
    drawing.main()
    assert page.read_text() == "# A\n```mermaid\nnew\n```\nText.\n```python\n1\n```\n"


@pytest.mark.slow
def test_every_package_is_in_the_picture_once(drawing):
    rooms = [path.parent.name for path in SOURCE.glob("*/__init__.py")]
    rooms += [path.stem for path in SOURCE.glob("*.py") if not path.stem.startswith("__")]
    assert sorted(re.findall(r"^ +(\w+)[\[(]\"", drawing.draw(), flags=re.MULTILINE)) == sorted(rooms)


@pytest.mark.slow
def test_arrows_match_the_imports_of_each_layer(drawing):
    layers = drawing.layers()
    ways = drawing.arrows(layers)
    reached = {layer: {layer} for layer in layers}
    for layer in reversed(layers):
        for start, to in ways:
            if start == layer:
                reached[layer] |= reached[to]
    for at, layer in enumerate(layers):
        below = {room for each in reached[layer] for room in each}
        assert set().union(*map(drawing.imports, layer)) & {room for each in layers for room in each} <= below
        assert all(layers.index(to) > at for start, to in ways if start == layer)
