"""Parameters of Pronto, as users and saved states give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from pydantic import TypeAdapter, ValidationError

from windlass.io.field_errors import field_error
from windlass.model import InputError

#: Weights of a projection: its singular value as printed; that divided by their sum; or all equal.
WEIGHTS = ("raw", "unit", "equal")


@dataclass(frozen=True, slots=True)
class Settings:
    """Parameters of Pronto for a node; see :class:`~windlass.admit.Pronto`."""

    rank: int = 4
    block: int = 20
    tracker: str = "fpca"
    forget: float = 1.0
    energy: tuple[float, float] | None = None
    lag: int = 10
    alpha: float = 3.5
    beta: float = 0.5
    weights: str = "raw"
    spectrum: str = "decay"
    signal: str = "spikes"
    signs: str = "load"
    threshold: float = 1.0
    downtime: float | None = None
    memory: float = 1000.0
    clip: float = 10.0
    between: bool = False
    spike: float | None = None
    share: float = 0.05


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Return validated settings from values by name; the error names the first invalid one.

    >>> settings_of({"rank": 2}).rank
    2
    """
    known = [field.name for field in fields(Settings)]
    for name in given:
        if name not in known:
            raise InputError(f"there is no parameter {name}, expected one of {', '.join(known)}")
    try:
        found = TypeAdapter(Settings).validate_python(dict(given))
    except ValidationError as error:
        raise InputError(field_error(error)) from error
    if found.weights not in WEIGHTS:
        raise InputError(f"weights is {found.weights!r}, expected one of {', '.join(WEIGHTS)}")
    return found
