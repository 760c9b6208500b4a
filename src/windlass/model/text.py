"""Text from untrusted sources, made safe for a terminal."""

from __future__ import annotations

from unicodedata import category


def printable(text: str) -> str:
    r"""Return text on one line, without control sequences for a terminal.

    Names come from files of unknown origin. A name with an ESC character could move the cursor and overwrite earlier
    output, and a name with a bidirectional control character could look like another name.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    str
        The same text, with each non-printable character as an escape sequence of Python.

    Examples
    --------
    >>> printable("caf\u00e9 \x1b[31mred\nand more\u202e")
    'café \\x1b[31mred\\nand more\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or category(character) == "Zs"
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
