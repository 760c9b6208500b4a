"""One line for a field of Slurm's JSON that has a shape which is not known."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from windlass.io.json_errors import fault_and_place

_MISSING = re.compile(r"Object missing required field `(\w+)`")
_EXPECTED = re.compile(r"Expected (.*?)(?:, got .*)?$", re.DOTALL)
#: Longest value that is printed.
_LONGEST = 60


def describe_misfit(data: bytes, error: msgspec.ValidationError) -> str:
    """Describe the first field that does not fit.

    Parameters
    ----------
    data
        The JSON.
    error
        The error of the decoder.

    Raises
    ------
    msgspec.DecodeError, RecursionError
        The JSON breaks behind that field.

    Examples
    --------
    >>> data = b'{"jobs": [{"job_id": 7, "cpus": "many"}]}'
    >>> error = msgspec.ValidationError("Expected `int | null`, got `str` - at `$.jobs[0].cpus`")
    >>> describe_misfit(data, error)
    'job 7: cpus is "many", expected int or null'
    """
    why, steps, _ = fault_and_place(error)
    if missing := _MISSING.match(why):
        steps.append(missing[1])
    row, value, named = _walk(msgspec.json.decode(data), steps)
    field = ".".join(str(step) for step in named)
    what = f"{row}: " if row else ""
    if missing:
        return f"{what}there is no field {field}"
    printed = json.dumps(value)
    printed = printed if len(printed) <= _LONGEST else f"{printed[:_LONGEST]}…"
    return f"{what}{field or 'the output'} is {printed}, expected {_kinds(why)}"


def release_in(meta: Any) -> str:
    """Return the release of Slurm in ``meta``, or in a tree that has ``meta``; empty if there is none.

    >>> release_in({"Slurm": {"release": "22.05.9"}}), release_in({"meta": {"slurm": {"release": "25.11.4"}}})
    ('22.05.9', '25.11.4')
    """
    if isinstance(meta, dict) and isinstance(meta.get("meta"), dict):
        meta = meta["meta"]
    for key in ("slurm", "Slurm"):
        slurm = meta.get(key) if isinstance(meta, dict) else None
        if isinstance(slurm, dict) and isinstance(slurm.get("release"), str):
            return str(slurm["release"])
    return ""


def _walk(tree: Any, steps: list[str | int]) -> tuple[str, Any, list[str | int]]:
    """Return the name of the row that the steps pass, the value at their end, and the steps within the row."""
    row, named = "", steps
    for place, step in enumerate(steps):
        try:
            tree = tree[step]
        except (KeyError, IndexError, TypeError):
            tree = None
        if isinstance(step, int) and not row and isinstance(tree, dict):
            row, named = _name(tree, step), steps[place + 1 :]
    return row, tree, named


def _name(row: dict[str, Any], place: int) -> str:
    if "job_id" in row:
        return f"job {json.dumps(row['job_id'])}"
    is_node = isinstance(row.get("name"), str) and "job_state" not in row
    return f"node {row['name']}" if is_node else f"row {place + 1}"


def _kinds(why: str) -> str:
    found = _EXPECTED.match(why)
    if found is None:
        return why
    words = found[1].replace("`", "").split(" | ")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
