"""Text from outside, as a terminal may show it."""

from __future__ import annotations

from unicodedata import category


def printable(text: str) -> str:
    r"""Return text on one line, without control sequences for a terminal.

    Names come from files of unknown origin. A name with ESC could move the cursor and overwrite earlier output, and
    one with a mark that turns the direction of writing could pass for another.

    Parameters
    ----------
    text
        Any.

    Returns
    -------
    str
        The same, each sign that is not printed written as in a Python string.

    Examples
    --------
    >>> printable("caf\u00e9 \x1b[31mred\nand more\u202e")
    'café \\x1b[31mred\\nand more\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(
        sign
        if sign.isprintable() or category(sign) == "Zs"
        else sign.encode("unicode_escape").decode("ascii")
        for sign in text
    )
