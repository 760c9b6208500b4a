"""The option ``--columns``: columns of a table by field."""

from __future__ import annotations

import re
from collections.abc import Sequence

from windlass.io.traces.roles import field_and_unit
from windlass.model import InputError

_NEXT = re.compile(r",(?=\s*(\w+)\s*=)")


def columns_given(texts: Sequence[str]) -> dict[str, str]:
    """Return the column of each field from texts such as ``submit=Submit Time,run=Length``.

    A comma separates two columns only if the name of a field and ``=`` follow it, so names of columns may have commas.

    Raises
    ------
    InputError
        A text has no ``=``, no such field, or a field twice.

    Examples
    --------
    >>> columns_given(["submit=Submit Time, UTC,procs=CPUs", "run=Length"])
    {'submit': 'Submit Time, UTC', 'procs': 'CPUs', 'run': 'Length'}
    """
    found: dict[str, str] = {}
    for text in texts:
        for part in _parts(text):
            field, equals, column = part.partition("=")
            field, column = field.strip(), column.strip()
            if not equals or not column:
                raise InputError(
                    f"--columns: {part!r} names no column, expected FIELD=COLUMN as in submit=Start"
                )
            if field in found:
                raise InputError(f"--columns: {field} is given twice, expected one column of each field")
            found[field] = column
    return found


def _parts(text: str) -> list[str]:
    parts, begin = [], 0
    for match in _NEXT.finditer(text):
        if field_and_unit(match[1]) is not None:
            parts.append(text[begin : match.start()])
            begin = match.end()
    return [*parts, text[begin:]]
