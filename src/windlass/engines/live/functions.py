"""Loading of functions that a scenario names."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from windlass.model import InputError


def function_of(spec: str) -> Callable[[Sequence[bytes], int], Sequence[bytes]]:
    """Return the function that ``package.module:name`` or ``./file.py:name`` names.

    Raises
    ------
    InputError
        There is no such function; the message has the cause.

    Examples
    --------
    >>> function_of("os.path:join").__name__
    'join'
    """
    where, colon, name = spec.rpartition(":")
    if not colon:
        raise InputError(f"call: {spec!r}, expected package.module:function or ./file.py:function")
    try:
        module = _from_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except Exception as error:  # a user's module may raise any exception when it is imported
        reason = (
            str(error) if isinstance(error, ImportError | OSError) else f"{type(error).__name__}: {error}"
        )
        raise InputError(f"call: {spec!r}: {reason}") from error
    found: Any = getattr(module, name, None)
    if not callable(found):
        raise InputError(f"call: {spec!r}: {where} has no function {name!r}")
    return found  # type: ignore[no-any-return]


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    # Pickle sends functions of the module __main__ by value, so workers need not have the file.
    spec = importlib.util.spec_from_file_location("__main__", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
