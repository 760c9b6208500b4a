"""The picture of the rooms is what the imports say."""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def drawing(monkeypatch):
    """The script that draws, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("draw_architecture")


def test_the_picture_is_up_to_date(drawing, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["draw_architecture.py", "--check"])
    drawing.main()


def test_an_old_picture_is_told(drawing, monkeypatch, tmp_path):
    old = tmp_path / "architecture.svg"
    old.write_text("<svg/>")
    monkeypatch.setattr(drawing, "ROOT", tmp_path)
    monkeypatch.setattr(drawing, "PICTURE", old)
    monkeypatch.setattr(drawing, "draw", lambda: "<svg></svg>")
    monkeypatch.setattr(sys, "argv", ["draw_architecture.py", "--check"])
    with pytest.raises(SystemExit) as stop:
        drawing.main()
    assert "architecture.svg is out of date: run python docs/draw_architecture.py to redraw it" in str(
        stop.value
    )


def test_every_room_is_in_the_picture_and_arrows_go_down(drawing):
    source = ROOT / "src" / "windlass"
    rooms = [path.parent.name for path in source.glob("*/__init__.py")]
    rooms += [path.stem for path in source.glob("*.py") if not path.stem.startswith("__")]
    assert sorted(re.findall(r'class="name"[^>]*>(\w+)', drawing.draw())) == sorted(rooms)
    for path in re.findall(r'class="way" d="M\S+ ([\d.]+) .*? \S+ ([\d.]+)"', drawing.draw()):
        assert float(path[0]) < float(path[1])
