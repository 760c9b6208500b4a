"""Suggestions for misspelt names in error messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion to append to an error, or an empty string if no known name is similar.

    Parameters
    ----------
    name
        The unknown name.
    known
        All known names.

    Examples
    --------
    >>> did_you_mean("conservatve", ["easy", "conservative"]), did_you_mean("x", ["easy"])
    ("; did you mean 'conservative'?", '')
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
