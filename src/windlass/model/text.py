"""Text from outside, as a terminal may show it."""

from __future__ import annotations

from unicodedata import category


def printable(text: str) -> str:
    r"""Text on one line, in which nothing tells a terminal what to do.

    Names come from files that others made. One that holds ESC could move the cursor and paint over what was said, and
    one with a sign that turns the direction of writing could pass for another.

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
