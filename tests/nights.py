"""Which part of the nightly checks one night runs: a quarter, so that four nights in a row run all of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

#: Number of nights within which everything is run once.
NIGHTS = 4
#: Environment variable with the number of the night, which ``.ci/nightly`` sets; without it nothing is left out.
VARIABLE = "WINDLASS_NIGHT"

_Part = TypeVar("_Part")


def night() -> int | None:
    """Return the number of the night; None if nothing is left out.

    Raises
    ------
    ValueError
        The variable holds anything else than a whole number.
    """
    given = os.environ.get(VARIABLE, "")
    if not given:
        return None
    if not given.isdecimal():
        raise ValueError(f"{VARIABLE} is {given!r}, expected a whole number such as the days since 1970")
    return int(given)


def of_night(parts: Sequence[_Part], number: int | None) -> list[_Part]:
    """Return the parts that are run in a night: every fourth of them, another fourth each night."""
    return list(parts) if number is None else list(parts[number % NIGHTS :: NIGHTS])
