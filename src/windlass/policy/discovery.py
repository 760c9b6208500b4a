"""Discovery of classes in a folder's files: each extensible folder of Windlass is its own registry."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
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
    folders = tuple(importlib.import_module(package).__path__)
    for name, is_package in _modules_in(folders, tuple(map(_changed_at, folders))):
        if not name.startswith("_") and is_package == bool(room):
            module = f"{package}.{name}.{room}".rstrip(".")
            yield from named_classes(importlib.import_module(module), method)


def _changed_at(folder: str) -> int:
    """Return when a folder last changed, ns; 0 for a package in an archive, which does not change."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=64)
def _modules_in(folders: tuple[str, ...], changed: tuple[int, ...]) -> tuple[tuple[str, bool], ...]:
    """Return the name of each module in folders, and whether it is a package.

    ``changed`` has the times of the folders' last changes, ns: a list takes 50 times as long as these times.
    """
    return tuple((found.name, found.ispkg) for found in pkgutil.iter_modules(folders))


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
