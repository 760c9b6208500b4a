"""Packages that only some forecasters need."""

from __future__ import annotations

import importlib
from typing import Any

from windlass.model import InputError


def need(module: str, who: str) -> Any:
    """A module of the extra ``forecast``.

    Parameters
    ----------
    module
        Its import name.
    who
        Which forecaster needs it.

    Raises
    ------
    InputError
        It is not installed; says how to.

    Examples
    --------
    >>> need("no_such_package", "transformer")
    Traceback (most recent call last):
    windlass.model.errors.InputError: transformer needs no_such_package, which is not installed: \
pip install 'windlass[forecast]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A package that is there and lacks one of its own is another matter, and says so itself.
        if error.name != module.partition(".")[0]:
            raise
        raise InputError(
            f"{who} needs {error.name}, which is not installed: pip install 'windlass[forecast]'"
        ) from error
