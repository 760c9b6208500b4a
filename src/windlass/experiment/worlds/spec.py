"""The base of every world's specification: unknown fields are rejected, values are immutable and finite."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from windlass.io import Fields

#: A number above 0, and a number of at least 0.
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
#: Whether a dispatch policy receives the work of each finished task. Version 0.1 spelt ``known`` as ``told``.
Sizes = Annotated[
    Literal["known", "hidden"], BeforeValidator(lambda value: "known" if value == "told" else value)
]


class Spec(Fields):
    """A part of a scenario; its fields are the keys that are allowed there.

    Raises
    ------
    pydantic.ValidationError
        A field is unknown, or its value out of bounds; the error names the field.

    Examples
    --------
    >>> class Queue(Spec):
    ...     length: Positive
    >>> Queue(length=3).length
    3.0
    """
