"""What a folder's files offer: each folder of Windlass that can be added to is its own registry."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any


def classes_in(package: str, method: str, room: str = "") -> Iterator[Any]:
    """All named classes with this method in the public modules of a package, by module name.

    Parameters
    ----------
    package
        Its import name.
    method
        What makes a class one of them.
    room
        Where each thing is a folder and not a file: the module of each folder that holds the class.

    Examples
    --------
    >>> "easy" in [cls.name for cls in classes_in("windlass.order.site.policies", "decide")]
    True
    >>> "batch" in [cls.name for cls in classes_in("windlass.experiment.worlds", "workload_key", room="world")]
    True
    """
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if not found.name.startswith("_") and found.ispkg == bool(room):
            module = f"{package}.{found.name}.{room}".rstrip(".")
            yield from named_classes(importlib.import_module(module), method)


def named_classes(module: ModuleType, method: str) -> Iterator[Any]:
    """The public classes that a module itself defines, with a ``name`` and this method."""
    for _, cls in inspect.getmembers(module, inspect.isclass):
        own = cls.__module__ == module.__name__ and not cls.__name__.startswith("_")
        if own and isinstance(getattr(cls, "name", None), str) and hasattr(cls, method):
            yield cls
