"""Reading of JSON lines, or of a list of JSON objects, as a table of text."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import polars as pl

from windlass.io.traces.columns import quote
from windlass.io.traces.csv_text import TextTable
from windlass.io.traces.roles import known_names
from windlass.io.traces.trace import BadLine
from windlass.model import InputError

#: The beginning of a list, or of an object whose first value is a list.
_LIST = re.compile(r'\s*(?:\{\s*"(?P<key>[^"\\]*)"\s*:\s*)?\[\s*')


def looks_like_json_lines(head: str) -> bool:
    """Return whether the first line is a whole JSON object, or the text a list of objects that name fields of a job.

    The list may be the first value of an object.

    >>> looks_like_json_lines('{"submit": 0, "run": 60}\\n'), looks_like_json_lines('{"jobs": [{"cpu": 1}]}\\n')
    (True, False)
    >>> looks_like_json_lines('{"jobs": [{"submit": 0, "run": 60, "procs": 1}]}')
    True
    """
    if begins := _LIST.match(head):
        return _begins_a_list_of_jobs(head[begins.end() :])
    first = next((line for line in head.split("\n") if line.strip()), "").strip()
    if not (first.startswith("{") and first.endswith("}")):
        return False
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and not any(isinstance(value, list | dict) for value in found.values())


def _begins_a_list_of_jobs(text: str) -> bool:
    try:
        found, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and known_names(found, {}) > 2


def read_json_lines(name: str, text: str) -> TextTable:
    """Read a JSON object per line, or a list of objects, which may be the first value of an object.

    All values become text, and missing ones null.

    Parameters
    ----------
    name
        Name of the file in messages.
    text
        The whole text.

    Raises
    ------
    InputError
        A list cannot be read, or has an item that is no object.

    Examples
    --------
    >>> table = read_json_lines("jobs.jsonl", '{"submit": 0, "user": "ann"}\\n\\n{"submit": 1.50}\\n')
    >>> table.records.rows(), table.line_of(1)
    ([('0', 'ann'), ('1.50', None)], 3)
    """
    items: list[dict[str, str | None]] = []
    lines: list[int] = []
    bad: list[BadLine] = []
    begins = _LIST.match(text)
    if begins is not None and (begins["key"] is None or _is_one_document(text)):
        found = _list(name, text, begins["key"])
        sources: list[tuple[int, Any]] = list(enumerate(found, start=1))
    else:
        sources = [(place, line) for place, line in enumerate(text.split("\n"), start=1) if line.strip()]
    for place, source in sources:
        try:
            item = _loaded(source) if isinstance(source, str) else source
        except (ValueError, RecursionError) as error:
            bad.append(BadLine(place, f"cannot be read as JSON: {_reason(error, source)}"))
            continue
        if not isinstance(item, dict):
            bad.append(BadLine(place, f"{quote(json.dumps(item))} is not an object, expected {{…}}"))
            continue
        items.append({key.strip(): _text(value) for key, value in item.items()})
        lines.append(place)
    names = list(dict.fromkeys(key for item in items for key in item))
    table = pl.DataFrame(
        {key: pl.Series([item.get(key) for item in items], dtype=pl.String) for key in names}
    )
    at = np.array(lines, np.int64)
    return TextTable(table, lambda row: int(at[row]), tuple(bad))


def _is_one_document(text: str) -> bool:
    """Return whether the text is one JSON value, or none that can be read; objects on several lines are more."""
    begin = len(text) - len(text.lstrip())
    try:
        _, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return True
    return not text[end:].strip()


def _list(name: str, text: str, key: str | None) -> list[Any]:
    try:
        found = _loaded(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}, line {error.lineno}: cannot be read as JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: cannot be read as JSON: {_reason(error, '')}") from error
    items = found if key is None else found[key]
    assert isinstance(items, list)
    return items


class _Number(str):
    """A number as the file has it."""

    __slots__ = ()


def _loaded(text: str) -> Any:
    return json.loads(
        text, parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=_once
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"the key {quote(twice)} appears twice")
    return found


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    return json.dumps(value)


def _reason(error: Exception, source: Any) -> str:
    if isinstance(error, json.JSONDecodeError):
        cut = error.pos >= len(str(source).rstrip()) or error.msg.startswith("Unterminated string")
        return f"{error.msg} at column {error.colno}" + ("; the line is cut short" if cut else "")
    return next(iter(str(error).splitlines()), "no reason given")
