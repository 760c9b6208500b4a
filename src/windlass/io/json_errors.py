"""The first error of a JSON message in one line: the field, what is expected, and the value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from windlass.model.nearest import did_you_mean

_Error = msgspec.MsgspecError | UnicodeDecodeError | RecursionError
_Step = str | int

#: The longest text of a value, in characters.
_LONGEST: Final = 60
_PLACE: Final = re.compile(r" - at `\$(.*)`$", re.DOTALL)
_STEP: Final = re.compile(r"\[(\d+)\]|\.([^.\[]+)")
_LACKS: Final = re.compile(r"Object missing required field `(.+)`$", re.DOTALL)
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.+)`$", re.DOTALL)
_TYPE: Final = re.compile(r"Expected `([^`]+)`, got `.*`$")
_BOUND: Final = re.compile(r"Expected `(\w+)`( of length)? (<=|>=|<|>) (\S+)$")
_BOUNDS: Final = {"<=": "at most", ">=": "at least", "<": "below", ">": "above"}
_KINDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object with fields",
    "null": "null",
}
#: The error of msgspec from 0.23 on for bytes that are not UTF-8; earlier releases raise UnicodeDecodeError.
_NOT_UTF_8: Final = "Invalid UTF-8 encoded string"
#: What the length of a kind counts: one, and several.
_UNITS: Final = {
    "str": ("character", "characters"),
    "array": ("entry", "entries"),
    "object": ("field", "fields"),
}


def json_error(error: _Error, message: Any, kind: Any) -> str:
    """Return the first error of a message in one line.

    Parameters
    ----------
    error
        The error of the decoder: of the syntax, or of a field.
    message
        The message: its text, bytes, or the value that it was decoded to.
    kind
        The type that was expected.

    Returns
    -------
    str
        Field, expectation and value. The value is left out if the field is an entry of a mapping.

    Examples
    --------
    >>> class Request(msgspec.Struct, forbid_unknown_fields=True):
    ...     limit: int = 1
    >>> for text in ('{"limit": "x"}', '{"limt": 3}', '{"limit"'):
    ...     try:
    ...         msgspec.json.decode(text, type=Request)
    ...     except msgspec.MsgspecError as error:
    ...         json_error(error, text, Request)
    'limit: expected a whole number, found "x"'
    "limt: no such field, found 3; did you mean 'limit'?"
    'expected JSON, found text that ends too early'
    """
    if not isinstance(error, msgspec.ValidationError):
        return f"expected JSON{_broken(error)}"
    why, steps, entry = fault_and_place(error)
    if lacks := _LACKS.match(why):
        return f"{_name([*steps, lacks[1]])}: missing"
    unknown = _UNKNOWN.match(why)
    hint = _instead(unknown[1], kind, steps) if unknown else ""
    if unknown:
        steps.append(unknown[1])
    where = f"{_name(steps)}: " if steps else ""
    found = "" if entry else f", found {_found(message, steps)}"
    return f"{where}{_expected(why, kind, steps)}{found}{hint}"


def fault_and_place(error: msgspec.ValidationError) -> tuple[str, list[str | int], bool]:
    """Return the fault of a field, the steps that lead to it, and whether it is in the entry of a mapping behind them.

    Examples
    --------
    >>> fault_and_place(msgspec.ValidationError("Expected `int`, got `str` - at `$.jobs[0].cpus`"))
    ('Expected `int`, got `str`', ['jobs', 0, 'cpus'], False)
    """
    text = str(error)
    place = _PLACE.search(text)
    why, path = (text[: place.start()], place[1]) if place else (text, "")
    # msgspec writes `[...]` for the entry of a mapping, whose key it does not name.
    path, entry, _ = path.partition("[...]")
    return why, [int(index) if index else name for index, name in _STEP.findall(path)], bool(entry)


def json_value(value: Any) -> str:
    """Return a value as it is written in an error: short ones in JSON.

    Parameters
    ----------
    value
        A value that was decoded from JSON.

    Examples
    --------
    >>> json_value(None), json_value("x"), json_value({}), json_value([1, 2])
    ('null', '"x"', 'an empty object', 'a list of 2 entries')
    """
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list | tuple):
        return f"a list of {_count(len(value), 'array')}" if value else "an empty list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _broken(error: Exception) -> str:
    reason = str(error)
    if isinstance(error, UnicodeDecodeError) or reason == _NOT_UTF_8:
        return ", found bytes that are not UTF-8"
    if isinstance(error, RecursionError):
        return ", found text that is nested too deeply"
    if reason == "Input data was truncated":
        return ", found text that ends too early"
    return f", found a fault: {reason.removeprefix('JSON is malformed: ')}"


def _expected(why: str, kind: Any, steps: Sequence[_Step]) -> str:
    if _UNKNOWN.match(why):
        return "no such field"
    if wrong := _TYPE.match(why):
        *kinds, last = (_KINDS.get(each, each) for each in wrong[1].split(" | "))
        return f"expected {', '.join(kinds)} or {last}" if kinds else f"expected {last}"
    if bound := _BOUND.match(why):
        number = _count(int(bound[4]), bound[1]) if bound[2] else bound[4]
        return f"expected {_BOUNDS[bound[3]]} {number}"
    values = [
        json.dumps(each.value)
        for found in _types_at(msgspec.inspect.type_info(kind), steps)
        if isinstance(found, msgspec.inspect.EnumType)
        for each in found.cls
    ]
    return f"expected one of {', '.join(values)}" if values else f"{why[:1].lower()}{why[1:]}"


def _instead(name: str, kind: Any, steps: Sequence[_Step]) -> str:
    """Return a similar field, or all fields of the object at a path."""
    known = [
        field.encode_name
        for found in _types_at(msgspec.inspect.type_info(kind), steps)
        if isinstance(found, msgspec.inspect.StructType | msgspec.inspect.DataclassType)
        for field in found.fields
    ]
    return did_you_mean(name, known) or (f"; the fields are {', '.join(known)}" if known else "")


def _types_at(kind: msgspec.inspect.Type, steps: Sequence[_Step]) -> Iterator[msgspec.inspect.Type]:
    """Yield each alternative of the type that a message has at a path."""
    if isinstance(kind, msgspec.inspect.Metadata):
        yield from _types_at(kind.type, steps)
    elif isinstance(kind, msgspec.inspect.UnionType):
        for each in kind.types:
            yield from _types_at(each, steps)
    elif not steps:
        yield kind
    elif isinstance(kind, msgspec.inspect.StructType | msgspec.inspect.DataclassType):
        for field in kind.fields:
            if field.encode_name == steps[0]:
                yield from _types_at(field.type, steps[1:])
    elif isinstance(kind, msgspec.inspect.ListType | msgspec.inspect.VarTupleType):
        yield from _types_at(kind.item_type, steps[1:])


def _count(number: int, kind: str) -> str:
    one, several = _UNITS[kind]
    return f"{number} {one if number == 1 else several}"


def _name(steps: Sequence[_Step]) -> str:
    return ".".join(str(step) for step in steps)


def _found(message: Any, steps: Sequence[_Step]) -> str:
    """Return the value at a path."""
    try:
        value = msgspec.json.decode(message) if isinstance(message, str | bytes) else message
        for step in steps:
            value = value[step]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        # The decoder of a type may stop before a fault of the syntax.
        return "text that is not JSON"
    return json_value(value)
