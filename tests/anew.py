"""A class as its file defines it when that is executed once more."""

from __future__ import annotations

import importlib.util
import inspect


def anew(cls):
    """Return the class of that name after its file was executed in a module of its own.

    Defaults and constants are set while a file is executed, which is once in a process: a test of them that executes
    the file itself is recorded as one that does.
    """
    spec = importlib.util.spec_from_file_location(cls.__module__, inspect.getsourcefile(cls))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, cls.__qualname__)


def defaults(function):
    """Return the parameters of a function or class that have defaults, with these."""
    found = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in found if each.default is not inspect.Parameter.empty}
