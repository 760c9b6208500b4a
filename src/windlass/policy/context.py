"""Constructor arguments that every engine offers to a policy, beyond the parameters that a user gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Context:
    """Constructor arguments that every engine offers; the context of a decision adds fields.

    A policy whose constructor has a parameter with a field's name receives the field's value. A field that is None is
    not offered.

    Parameters
    ----------
    rng
        The policy's only source of randomness.

    Examples
    --------
    >>> context = Context(np.random.default_rng(1))
    >>> [name for name, _ in context.offers()]
    ['rng']
    """

    rng: np.random.Generator

    def offers(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and values that are offered."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                yield field.name, value
