"""The character between the fields of a table, and lines before the names of its columns."""

from __future__ import annotations

from collections.abc import Mapping

from windlass.io.traces.csv_text import first_fields
from windlass.io.traces.roles import known_names

SEPARATORS = (",", ";", "\t", "|")
_NAMED = "sep="


def separator_of(text: str, columns: Mapping[str, str] | None = None) -> str:
    """Return the separator for which the first line names the most fields of a job, or else has the most fields.

    Parameters
    ----------
    text
        A text from :func:`without_preamble`.
    columns
        Columns by field that the user names.

    Examples
    --------
    >>> separator_of("Submit Time;Run, s;CPUs\\n0;1,5;4\\n")
    ';'
    """
    rated = []
    for place, separator in enumerate(SEPARATORS):
        names = first_fields(text, separator)
        rated.append((known_names(names, columns or {}), len(names), -place))
    return SEPARATORS[-max(rated)[2]]


def without_preamble(text: str) -> tuple[str, str | None]:
    """Return a text with its comments before the names of columns left blank, and the separator if a line names it.

    Comments begin with ``#``. A first line that begins with it and names columns is no comment. Line numbers and the
    other lines do not change, except that a text of lines that end in CR alone gets LF.

    Examples
    --------
    >>> without_preamble("sep=;\\n# from our cluster\\n#submit;run\\n0;1\\n")
    ('\\n\\nsubmit;run\\n0;1\\n', ';')
    """
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    separator: str | None = None
    begin = 0
    blanks = 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        line = text[begin:end].strip("\r \t")
        if line.lower().startswith(_NAMED) and len(line) == len(_NAMED) + 1 and separator is None:
            separator = line[-1]
        elif line.startswith("#"):
            names = line[1:]
            own = separator_of(names) if separator is None else separator
            if known_names(first_fields(names, own), {}) > 1:
                return "\n" * blanks + text[begin:].replace("#", "", 1).lstrip(), separator
        elif line:
            break
        blanks += 1
        begin = end + 1
    return ("\n" * blanks + text[begin:] if blanks else text), separator
