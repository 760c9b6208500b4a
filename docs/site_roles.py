"""Render roles in docstrings as links, and examples as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:mod|class|func|meth|data|attr|exc|obj):`(~?)([\w.]+)`")
_EXAMPLE = re.compile(r"(?:^>>> .*(?:\n(?!\n).+)*)", flags=re.MULTILINE)


def _linked(role: re.Match[str]) -> str:
    """Return the name as code; it becomes a link if the reference has the object."""
    short = role[2].rpartition(".")[2] if role[1] else role[2]
    return f'<autoref identifier="{role[2]}" optional><code>{short}</code></autoref>'


class Roles(griffe.Extension):
    """Griffe extension that rewrites the docstring of every object."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is None:
            return
        text = _ROLE.sub(_linked, obj.docstring.value)
        # mkdocstrings recognises a section of examples, but not a single example.
        if "\nExamples\n---" not in text:
            text = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
        obj.docstring.value = text
