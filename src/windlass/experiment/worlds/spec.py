"""What the specifications of every world share: unknown fields are refused, values do not change, none is infinite."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from windlass.io import Fields

#: A number above 0, and one of at least 0.
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


class Spec(Fields):
    """A part of a scenario; its fields are the keys that the scenario may have there.

    Raises
    ------
    pydantic.ValidationError
        An unknown field, or a value out of bounds; it names the field.

    Examples
    --------
    >>> class Queue(Spec):
    ...     length: Positive
    >>> Queue(length=3).length
    3.0
    """
