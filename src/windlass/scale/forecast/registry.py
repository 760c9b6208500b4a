"""Forecasters by name, discovered in the folder ``models/``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from windlass.model import InputError
from windlass.model.nearest import did_you_mean
from windlass.policy.discovery import classes_in
from windlass.scale.forecast.protocol import Forecaster

_MODELS = "windlass.scale.forecast.models"


def forecasters() -> tuple[str, ...]:
    """Return the names of all forecasters, sorted.

    Examples
    --------
    >>> "seasonal-naive" in forecasters()
    True
    """
    return tuple(sorted(cls.name for cls in classes_in(_MODELS, "forecast")))


def make(name: str, seasons: Sequence[int] = (144,), seed: int = 1, **parameters: Any) -> Forecaster:
    """Make a forecaster by its name.

    Parameters
    ----------
    name
        Name of the forecaster.
    seasons
        Rows of each season, passed to forecasters that take it.
    seed
        Seed, passed to forecasters that take it.
    parameters
        Other parameters of the forecaster.

    Raises
    ------
    InputError
        The name or a parameter is unknown, or a value is out of bounds.

    Examples
    --------
    >>> make("seasonal-native")
    Traceback (most recent call last):
    windlass.model.errors.InputError: unknown forecaster 'seasonal-native'; did you mean 'seasonal-naive'?
    """
    found = {cls.name: cls for cls in classes_in(_MODELS, "forecast")}
    if name not in found:
        hint = did_you_mean(name, found) or f"; expected one of {', '.join(sorted(found))}"
        raise InputError(f"unknown forecaster {name!r}{hint}")
    accepted = inspect.signature(found[name]).parameters
    for parameter in parameters:
        if parameter not in accepted:
            takes = ", ".join(accepted) or "none"
            raise InputError(
                f"{name} has no parameter {parameter!r}, it takes {takes}{did_you_mean(parameter, accepted)}"
            )
    given = {key: value for key, value in (("seasons", seasons), ("seed", seed)) if key in accepted}
    made: Forecaster = found[name](**{**given, **parameters})
    return made
