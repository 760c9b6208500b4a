"""Changes that no test has to notice, each with the reason.

A change belongs here if the program means the same with it (*equivalent*), if only speed, a message's wording or a
tolerance far below any result changes, or if what it breaks can be seen on a real engine alone.
"""

from __future__ import annotations

import functools
from pathlib import Path

import yaml

from tests.mutants.changes import Change

#: A file a room.
_FOLDER = Path(__file__).parent / "equivalent_changes"


@functools.cache
def load() -> dict[tuple[str, ...], str]:
    """Return the listed changes, each with its reason: file, function, line, old and new text."""
    listed = [
        each
        for path in sorted(_FOLDER.glob("*.yaml"))
        for each in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]
    return {
        tuple(_plain(each[name]) for name in ("file", "function", "line", "old", "new")): each["reason"]
        for each in listed
    }


def reason_of(change: Change) -> str:
    """Return why a change need not be noticed; empty if it must be."""
    key = (change.file, change.function, change.text, change.old, change.new)
    return load().get(tuple(map(_plain, key)), "")


def _plain(text: object) -> str:
    return " ".join(str(text).split())
