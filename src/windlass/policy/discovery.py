"""Discovery of classes in a folder's files: each extensible folder of Windlass is its own registry."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any


def classes_in(package: str, method: str, room: str = "") -> Iterator[Any]:
    """Yield the named classes with this method in a package's public modules, in the order of module names.

    Parameters
    ----------
    package
        The import name of the package.
    method
        Name of the method that such a class has.
    room
        If each class has a folder instead of a file, the name of the module in that folder that defines the class.

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


@functools.cache
def named_classes(module: ModuleType, method: str) -> tuple[Any, ...]:
    """Return the public classes that are defined in a module and have a ``name`` and this method.

    A module that is imported again is another module, and is searched again.
    """
    return tuple(
        cls
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if cls.__module__ == module.__name__
        and not cls.__name__.startswith("_")
        and isinstance(getattr(cls, "name", None), str)
        and hasattr(cls, method)
    )
