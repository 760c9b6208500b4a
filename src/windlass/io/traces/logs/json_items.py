"""Reading of a JSON file's items, each validated by a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from windlass.io.traces.columns import quote
from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.files import read_text, stem
from windlass.io.traces.logs.record import LoggedJob, LogReading, Omission, trace_of
from windlass.io.traces.trace import BadLine, Trace
from windlass.model import InputError


class JsonItem(BaseModel):
    """Base class of items of a JSON log; fields that a class does not declare are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, coerce_numbers_to_str=True)


M = TypeVar("M", bound=JsonItem)


def read_items(path: Path, *keys: str) -> tuple[Any, ...]:
    """Return the list in a JSON file, or the one under one of these keys of an object; another object is a single item.

    Raises
    ------
    InputError
        The file cannot be read, is not JSON, or has no such list.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = path.write_text('{"jobs": [1, 2]}')
    >>> read_items(path, "jobs")
    (1, 2)
    """
    try:
        tree = json.loads(read_text(path), parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: cannot be read as JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read as JSON: {next(iter(str(error).splitlines()), '')}"
        ) from error
    if isinstance(tree, dict):
        lists = [tree[key] for key in keys if key in tree]
        tree = lists[0] if lists else [tree]
    if not isinstance(tree, list):
        raise InputError(
            f"{path}: is {quote(str(tree))}, expected a list or an object with {' or '.join(keys)}"
        )
    return tuple(tree)


def read_json_log(
    path: Path,
    keys: tuple[str, ...],
    job: Callable[[Any], LoggedJob | Omission],
    skip_bad_lines: bool,
    notes: Callable[[LogReading], list[str]] = lambda reading: [],
) -> Trace:
    """Read the trace of a JSON file whose items are jobs; messages count items from 1.

    Parameters
    ----------
    path
        The file.
    keys
        Possible keys of the list.
    job
        Converts an item; raises :class:`~windlass.io.traces.fields.UnreadableError` for an invalid one.
    skip_bad_lines
        Whether to continue without items that cannot be read.
    notes
        Returns further notes for the user.

    Raises
    ------
    InputError
        The file cannot be read (see :func:`read_items`), an item is invalid, or no job ran.
    """
    reading = LogReading()
    for count, item in enumerate(read_items(path, *keys), start=1):
        try:
            reading.take(job(item))
        except UnreadableError as error:
            reading.bad.append(BadLine(count, str(error)))
    return trace_of(str(path), stem(path), reading, skip_bad_lines, "item", notes(reading))


def validate_item(model: type[M], item: object) -> M:
    """Validate an item by a model.

    Raises
    ------
    UnreadableError
        A field does not match the model; names the first.

    Examples
    --------
    >>> class Job(JsonItem):
    ...     cpus: int
    >>> validate_item(Job, {"cpus": "many"})
    Traceback (most recent call last):
    windlass.io.traces.fields.UnreadableError: cpus is 'many', expected a valid integer
    """
    try:
        return model.model_validate(item)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the item"
        if first["type"] == "missing":
            raise UnreadableError(f"{where} is missing") from error
        wanted = first["msg"].partition("should be ")[2].partition(",")[0] or first["msg"]
        raise UnreadableError.of(where, _plain(first["input"]), wanted) from error


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
