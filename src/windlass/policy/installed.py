"""Policies of installed packages: entry points in the group ``windlass.policies``.

A package offers a policy with one line in its ``pyproject.toml``. The entry point's name is the decision's name and the
policy's name; its value is the class::

    [project.entry-points."windlass.policies"]
    "order.site.widest-first" = "my_package.widest:WidestFirst"
"""

from __future__ import annotations

import functools
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from windlass.model import InputError

GROUP = "windlass.policies"


@functools.cache
def _entries() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


@functools.cache
def packages() -> frozenset[str]:
    """Return the top-level import names of the packages that offer policies."""
    return frozenset(entry.value.partition(":")[0].partition(".")[0] for entry in _entries())


def names_of(decision: str) -> tuple[str, ...]:
    """Return the names of the installed policies of a decision, sorted; nothing is imported.

    >>> names_of("no.such.decision")
    ()
    """
    start = f"{decision}."
    found = {entry.name.removeprefix(start) for entry in _entries() if entry.name.startswith(start)}
    # One decision's name can be the beginning of another's, such as `order` and `order.site`.
    return tuple(sorted(name for name in found if "." not in name))


def find(decision: str, name: str, method: str) -> Any:
    """Import an installed policy.

    Parameters
    ----------
    decision
        Dotted name of the decision, such as ``order.site``.
    name
        The policy's name.
    method
        Name of the method that a policy of the decision has.

    Raises
    ------
    InputError
        Not exactly one package offers the name, the import fails, or the entry point is not such a class.
    """
    entries = [entry for entry in _entries() if entry.name == f"{decision}.{name}"]
    values = sorted({entry.value for entry in entries})
    if len(values) != 1:
        raise InputError(
            f"policy {name!r} is offered by {' and '.join(values) or 'no package'}, expected one"
        )
    where = f"policy {name!r} of the installed {values[0]!r}"
    try:
        cls = entries[0].load()
    except Exception as error:
        raise InputError(f"{where} cannot be imported: {type(error).__name__}: {error}") from error
    if not isinstance(cls, type) or not hasattr(cls, method):
        raise InputError(f"{where}: expected a class with {method}()")
    if getattr(cls, "name", None) != name:
        raise InputError(f"{where}: its name is {getattr(cls, 'name', None)!r}, expected {name!r}")
    return cls
