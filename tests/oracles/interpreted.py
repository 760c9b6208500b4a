"""Run compiled functions and their callees as plain Python, in which an index beyond an array is an error."""

from __future__ import annotations

import types

from numba.core.dispatcher import Dispatcher


def interpreted(function):
    """Return the function, and every compiled function that it uses directly or not, as plain Python.

    Machine code reads and writes beyond the end of an array silently; plain Python raises IndexError.
    """
    return _plain(function, {})


def _plain(value, names):
    if isinstance(value, Dispatcher):
        value = value.py_func
    return types.FunctionType(
        value.__code__,
        _names(value.__globals__, names),
        value.__name__,
        value.__defaults__,
        value.__closure__
        and tuple(types.CellType(_of(cell.cell_contents, names)) for cell in value.__closure__),
    )


def _names(known, names):
    """The names of a module; each module is visited once, because functions of two modules may call each other."""
    if id(known) not in names:
        names[id(known)] = dict(known)
        for name, value in known.items():
            names[id(known)][name] = _of(value, names)
    return names[id(known)]


def _of(value, names):
    if isinstance(value, Dispatcher):
        return _plain(value, names)
    if isinstance(value, types.ModuleType) and value.__name__.startswith("windlass."):
        return types.SimpleNamespace(**_names(vars(value), names))
    return value
