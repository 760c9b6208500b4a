"""Imports of optional packages that only some forecasters need."""

from __future__ import annotations

import importlib
from typing import Any

from windlass.model import InputError


def need(module: str, forecaster: str) -> Any:
    """Import a module of the extra ``forecast``.

    Parameters
    ----------
    module
        Its import name.
    forecaster
        Name of the forecaster, for the message.

    Raises
    ------
    InputError
        The module is not installed; the message names the command that installs it.

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
        # An installed package may lack one of its own dependencies; that error is passed on.
        if error.name != module.partition(".")[0]:
            raise
        raise InputError(
            f"{forecaster} needs {error.name}, which is not installed: pip install 'windlass[forecast]'"
        ) from error
