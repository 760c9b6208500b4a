"""``--set PATH=V[,V…]``: any field of a scenario, set or swept from the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from windlass.cli.field_paths import check_path
from windlass.experiment.scenario.files import resolve_policy
from windlass.experiment.scenario.source import with_value
from windlass.experiment.worlds import World
from windlass.model import InputError
from windlass.model.nearest import did_you_mean

_TOP = ("name", "seeds")


def field_set(tree: dict[str, Any], text: str, world: World) -> dict[str, Any]:
    """Return a scenario's tree with one field set, or with a sweep if the option has several values.

    Values are YAML; a comma inside brackets, braces or quotes belongs to a value.

    Parameters
    ----------
    tree
        Plain values, which are not changed.
    text
        The value of the option: ``PATH=VALUE``, or ``PATH=VALUE,VALUE,…``.
    world
        The scenario's world.

    Raises
    ------
    InputError
        The world has no such field, or a value cannot be read.

    Examples
    --------
    >>> from windlass.experiment.worlds import find_world
    >>> field_set({"policies": {"order": "easy"}}, "cluster.processors=100,200", find_world("batch"))["cluster"]
    {'processors': [100, 200]}
    """
    path, equals, given = text.partition("=")
    names = path.strip().split(".")
    if not equals or not all(names) or not given.strip():
        raise InputError(f"--set: {text!r} is not FIELD=VALUE, as in cluster.processors=100,200")
    values = [_value(text, each) for each in _parts(given)]
    value = values[0] if len(values) == 1 else values
    if names[0] == "policies" and len(names) > 1:
        return tree | {"policies": _with_policies(tree.get("policies"), names[1:], value, text, world)}
    if path.strip() not in _TOP:
        check_path(world, names, tree)
    changed: dict[str, Any] = with_value(tree, names, value)
    return changed


def _parts(text: str) -> Iterator[str]:
    """Split at commas outside of brackets, braces and quotes."""
    depth, quote, part = 0, "", ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
        elif char == "," and depth == 0:
            yield part
            part = ""
            continue
        part += char
    yield part


def _value(text: str, part: str) -> Any:
    try:
        value = yaml.safe_load(part)
    except yaml.YAMLError as error:
        raise InputError(f"--set: {text!r}: {part.strip()!r} is not a value") from error
    if value is None and part.strip() not in ("null", "~"):
        raise InputError(f"--set: {text!r} has an empty value")
    return value


def _with_policies(given: Any, names: list[str], value: Any, text: str, world: World) -> dict[str, Any]:
    """Set the policies of a decision, or one parameter of a listed policy."""
    known = [registry.key for registry in world.decisions]
    decision, own = names[0], given if isinstance(given, dict) else {}
    if decision not in known:
        raise InputError(
            f"--set: {text!r}: world {world.name!r} has no decision {decision!r}, expected one of {', '.join(known)}"
            f"{did_you_mean(decision, known)}"
        )
    if len(names) == 1:
        # A file named on the command line is relative to the current folder, not to the scenario's.
        entries = value if isinstance(value, list) else [value]
        found = [resolve_policy(each, Path()) if isinstance(each, str) else each for each in entries]
        return own | {decision: found if isinstance(value, list) else found[0]}
    listed = own.get(decision)
    entries = listed if isinstance(listed, list) else [listed]
    here = [_policy_of(entry) for entry in entries if entry is not None]
    if len(names) != 3 or names[1] not in here:
        raise InputError(
            f"--set: {text!r}: expected policies.{decision}.POLICY.PARAMETER with one of the policies "
            f"{', '.join(here) or 'none'}{did_you_mean(names[1], here)}"
        )
    changed = [
        {names[1]: _parameters(entry, names[1]) | {names[2]: value}}
        if _policy_of(entry) == names[1]
        else entry
        for entry in entries
    ]
    return own | {decision: changed if isinstance(listed, list) else changed[0]}


def _policy_of(entry: Any) -> str:
    return str(next(iter(entry))) if isinstance(entry, dict) and entry else str(entry)


def _parameters(entry: Any, name: str) -> dict[str, Any]:
    given = entry.get(name) if isinstance(entry, dict) else None
    return given if isinstance(given, dict) else {}
