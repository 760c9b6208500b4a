"""Fields of a file, each of its type."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

#: Up to here every whole number is one of float64 too.
_LARGEST = 2**53


class Fields(BaseModel):
    """A mapping of a file: unknown fields are refused, values do not change, none is infinite.

    Python counts ``true`` as 1, and YAML reads ``yes`` and ``on`` as true. None of these is accepted as a number.

    Raises
    ------
    pydantic.ValidationError
        An unknown field, or a value of another type or out of bounds; it names the field.

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
    def _no_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        field = cls.model_fields.get(info.field_name or "")
        if _holds_huge(value):
            raise ValueError("expected a number of at most 2**53, as tables have no larger ones")
        if field is None or _takes(field.annotation, (bool, Any)):
            return value
        held = value.values() if isinstance(value, dict) and _maps(field.annotation) else [value]
        if any(map(_holds_truth, held)):
            wanted = "number" if _takes(field.annotation, (int, float)) else "name"
            raise ValueError(f"expected a {wanted}, not true or false")
        return value


def _holds_truth(value: Any) -> bool:
    """Whether it is a truth value or a list with one; mappings are for the fields that they are read into."""
    if isinstance(value, list | tuple):
        return any(_holds_truth(each) for each in value)
    return isinstance(value, bool)


def _holds_huge(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_huge, value))
    return isinstance(value, int) and abs(value) > _LARGEST


def _maps(annotation: Any) -> bool:
    """Whether it takes a mapping of names to values; another mapping is for the fields of a class, which look."""
    return get_origin(annotation) is dict or any(map(_maps, get_args(annotation)))


def _takes(annotation: Any, types: tuple[Any, ...]) -> bool:
    if any(annotation is each for each in types):
        return True
    return any(_takes(each, types) for each in get_args(annotation))
