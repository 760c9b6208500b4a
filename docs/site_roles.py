"""Has the site show docstrings as they are meant: roles as links to what they name, and examples as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:mod|class|func|meth|data|attr|exc|obj):`(~?)([\w.]+)`")
_EXAMPLE = re.compile(r"(?:^>>> .*(?:\n(?!\n).+)*)", flags=re.MULTILINE)


def _linked(role: re.Match[str]) -> str:
    """The name as code; it is a link where the reference has what it names."""
    short = role[2].rpartition(".")[2] if role[1] else role[2]
    return f'<autoref identifier="{role[2]}" optional><code>{short}</code></autoref>'


class Roles(griffe.Extension):
    """Rewrites the docstring of every object."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """One object, when it has been read."""
        if obj.docstring is None:
            return
        text = _ROLE.sub(_linked, obj.docstring.value)
        # A section of examples is known for what it is; an example by itself is not.
        if "\nExamples\n---" not in text:
            text = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
        obj.docstring.value = text
