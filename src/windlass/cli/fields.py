"""``--set PATH=V[,V…]``: any field of a scenario, set or swept from the command line."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from windlass.experiment.scenario.files import resolve_policy
from windlass.experiment.scenario.source import with_value
from windlass.experiment.worlds import World
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError
from windlass.policy.nearest import did_you_mean

_TOP = ("name", "seeds")
#: The most names in a suggested path.
_DEPTH = 5


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
        _check(world, names, tree)
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


def _check(world: World, names: list[str], tree: Any) -> None:
    """Check that a path leads to a field of the world, and through names that the scenario has."""
    kinds: list[type[BaseModel]] = [world.setting]
    entries: list[Any] = []
    for depth, name in enumerate(names):
        if entries:
            # A name that the user chose, such as that of a site.
            _check_name(names[: depth + 1], tree)
            kinds, entries = [found for annotation in entries for found in _models(annotation)], []
            continue
        below = [kind.model_fields[name].annotation for kind in kinds if name in kind.model_fields]
        if not below:
            where = ".".join(names[:depth])
            known = ", ".join(dict.fromkeys(field for kind in kinds for field in kind.model_fields))
            within = f"{where} has {known}" if known else f"{where} has no fields"
            raise InputError(
                f"--set: {'.'.join(names)}: world {world.name!r} has no such field; "
                f"{within if depth else f'its fields are name, seeds, {known}'}{_suggestion(world, names)}"
            )
        kinds = [found for annotation in below for found in _models(annotation)]
        entries = [found for annotation in below for found in _values(annotation)]


def _check_name(path: list[str], tree: Any) -> None:
    """Check that the scenario has an entry of a name that the user chose."""
    for name in path[:-1]:
        tree = tree.get(name) if isinstance(tree, dict) else None
    known = [str(each) for each in tree] if isinstance(tree, dict) else []
    if path[-1] not in known:
        raise InputError(
            f"--set: {'.'.join(path)}: the scenario has no {path[-1]!r} in {'.'.join(path[:-1])}, expected one of "
            f"{', '.join(known) or 'none'}{did_you_mean(path[-1], known)}"
        )


def _suggestion(world: World, names: list[str]) -> str:
    """Return a suggestion for a path: one that ends in the same name, or else the most similar one."""
    paths = list(_paths(world.setting, ()))
    same = [path for path in paths if path.rpartition(".")[2] == names[-1]]
    return f"; did you mean {same[0]!r}?" if same else did_you_mean(".".join(names), paths)


def _paths(kind: type[BaseModel], above: tuple[str, ...]) -> Iterator[str]:
    for name, field in kind.model_fields.items():
        path = (*above, name)
        yield ".".join(path)
        if len(path) < _DEPTH:
            for below in _models(field.annotation):
                yield from _paths(below, path)


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that a field may hold; none for a value, a list or a policy."""
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, BaseModel) and annotation is not PolicySpec else []
    if typing.get_origin(annotation) in (typing.Union, types.UnionType, typing.Annotated):
        return [found for each in typing.get_args(annotation) for found in _models(each)]
    return []


def _values(annotation: Any) -> list[Any]:
    """Return the types of the entries of a field that is a mapping from names; none for others."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is dict:
        return [arguments[1]]
    if origin is typing.Annotated:
        return _values(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return [found for each in arguments for found in _values(each)]
    return []
