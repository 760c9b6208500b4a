"""What to write in place of a wrong field of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from windlass.experiment.scenario.annotations import entries_of, items_of, models_of
from windlass.io.field_errors import first_error
from windlass.model.nearest import did_you_mean

#: Pydantic's types of errors of a value that should be a mapping, or that is missing.
_MAPPING: Final = ("model_type", "model_attributes_type", "dict_type", "missing")
#: Those of a value that should be a list.
_LIST: Final = ("list_type", "tuple_type")


def field_hint(error: ValidationError, setting: type[BaseModel], also: Sequence[str] = ()) -> str:
    """Return what the first wrong field of a file should be replaced by, to append to its error.

    Parameters
    ----------
    error
        The error of Pydantic.
    setting
        The class that it is of: the top of the file.
    also
        Further fields at the top, which the class does not have.

    Returns
    -------
    str
        A similar name, the names of all fields, or the form of a mapping; empty if none applies.

    Examples
    --------
    >>> from windlass.experiment.worlds import find_world
    >>> setting = find_world("batch").setting
    >>> try:
    ...     setting.model_validate({"workload": {"lublin": {"jobs": 9}}, "policies": {"odrer": "easy"}})
    ... except ValidationError as error:
    ...     print(field_hint(error, setting))
    ; did you mean 'order'?
    """
    found = first_error(error)
    *above, name = found["loc"] or ("",)
    kinds: list[type[BaseModel]] = [setting]
    entries: list[Any] = []
    for part in above:
        annotations = entries or _annotations(kinds, str(part))
        kinds = [model for each in annotations for model in models_of(each)]
        below = () if entries else annotations
        entries = [entry for each in below for entry in (entries_of(each) or items_of(each))]
    if found["type"] == "extra_forbidden":
        return _instead(str(name), ".".join(map(str, above)), kinds, also)
    if found["type"] in _LIST:
        return f"; write a list, as in {name}: [{'{…}' if isinstance(found['input'], dict) else '…'}]"
    if found["type"] not in _MAPPING:
        return ""
    if entries and isinstance(name, str):
        field = str(above[-1])
        return f"; {field} is a mapping of names, as in {field}: {{{_name(name, found['input'])}: {{…}}}}"
    annotations = _annotations(kinds, str(name))
    if any(entries_of(each) for each in annotations):
        return f"; {name} is a mapping of names, as in {name}: {{NAME: {{…}}}}"
    known = _fields([model for each in annotations for model in models_of(each)])
    return f"; {name} has {', '.join(known)}" if known else ""


def _name(key: Any, value: Any) -> str:
    """Return the name of an entry: the value of ``name`` if it was written as a field."""
    return value if key == "name" and isinstance(value, str) else "NAME"


def _instead(name: str, where: str, kinds: list[type[BaseModel]], also: Sequence[str]) -> str:
    known = _fields(kinds) if where else [*also, *_fields(kinds)]
    similar = did_you_mean(name, known)
    if similar or not known:
        return similar
    return f"; {where} has {', '.join(known)}" if where else f"; the fields are {', '.join(known)}"


def _fields(kinds: list[type[BaseModel]]) -> list[str]:
    return list(dict.fromkeys(field for kind in kinds for field in kind.model_fields))


def _annotations(kinds: list[type[BaseModel]], name: str) -> list[Any]:
    return [kind.model_fields[name].annotation for kind in kinds if name in kind.model_fields]
