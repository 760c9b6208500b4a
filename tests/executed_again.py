"""Execute the file of a class again, so that coverage records its defaults."""

from __future__ import annotations

import importlib.util
import inspect


def executed_again(cls):
    """Return the class from a fresh execution of its file in a new module.

    Defaults and constants are set when a file is executed, which happens once per process. A test of them that executes
    the file again is recorded as covering these lines.
    """
    spec = importlib.util.spec_from_file_location(cls.__module__, inspect.getsourcefile(cls))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, cls.__qualname__)


def defaults(function):
    """Return the default values of the parameters of a function or class."""
    found = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in found if each.default is not inspect.Parameter.empty}
