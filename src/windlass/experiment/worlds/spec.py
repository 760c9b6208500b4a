"""The base of every world's specification: unknown fields are rejected, values are immutable and finite."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from windlass.io import Fields

#: A number above 0, and a number of at least 0.
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


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
