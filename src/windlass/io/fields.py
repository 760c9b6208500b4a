"""Base class of the typed fields of a file."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

#: Largest bound up to which float64 represents every whole number exactly.
_LARGEST = 2**53


class Fields(BaseModel):
    """Base class of a mapping in a file: immutable, without unknown fields or infinite numbers.

    Python treats ``true`` as 1, and YAML reads ``yes`` and ``on`` as true. None of these is accepted as a number.

    Raises
    ------
    pydantic.ValidationError
        A field is unknown, or a value has the wrong type or is out of bounds; names the field.

    Examples
    --------
    >>> class Queue(Fields):
    ...     length: int
    >>> Queue(length=3).length
    3
    >>> Queue(length=True)
    Traceback (most recent call last):
    pydantic_core._pydantic_core.ValidationError: 1 validation error for Queue
    length
      Value error, expected a number, not true or false [type=value_error, input_value=True, input_type=bool]
    ...
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _reject_boolean_as_number(cls, value: Any, info: ValidationInfo) -> Any:
        field = cls.model_fields.get(info.field_name or "")
        if _has_huge(value):
            raise ValueError("expected a number of at most 2**53: tables do not store larger ones exactly")
        if field is None or _accepts(field.annotation, (bool, Any)):
            return value
        entries = value.values() if isinstance(value, dict) and _is_mapping(field.annotation) else [value]
        if any(map(_has_boolean, entries)):
            wanted = "number" if _accepts(field.annotation, (int, float)) else "name"
            raise ValueError(f"expected a {wanted}, not true or false")
        return value


def _has_boolean(value: Any) -> bool:
    """Return whether a value is a boolean or a list with one; mappings are checked by the class that they become."""
    if isinstance(value, list | tuple):
        return any(_has_boolean(each) for each in value)
    return isinstance(value, bool)


def _has_huge(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_huge, value))
    return isinstance(value, int) and abs(value) > _LARGEST


def _is_mapping(annotation: Any) -> bool:
    """Return whether an annotation is or contains a ``dict``; other mappings are checked by the class they become."""
    return get_origin(annotation) is dict or any(map(_is_mapping, get_args(annotation)))


def _accepts(annotation: Any, types: tuple[Any, ...]) -> bool:
    if any(annotation is each for each in types):
        return True
    return any(_accepts(each, types) for each in get_args(annotation))
