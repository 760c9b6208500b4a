"""The paths to the fields of a scenario: which there are, and whether one exists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from windlass.experiment.scenario.annotations import entries_of, models_of
from windlass.experiment.worlds import World
from windlass.model import InputError
from windlass.model.nearest import did_you_mean

#: The most names in a suggested path.
_DEPTH = 5


def check_path(world: World, names: list[str], tree: Any) -> None:
    """Check that a path leads to a field of the world, and through names that the scenario has.

    Parameters
    ----------
    world
        The scenario's world.
    names
        The names of the path, from the scenario's top to the field.
    tree
        Plain values of the scenario.

    Raises
    ------
    InputError
        The world has no such field, or the scenario has no entry of a name that the user chose.
    """
    kinds: list[type[BaseModel]] = [world.setting]
    entries: list[Any] = []
    for depth, name in enumerate(names):
        if entries:
            # A name that the user chose, such as that of a site.
            _check_name(names[: depth + 1], tree)
            kinds, entries = [found for annotation in entries for found in models_of(annotation)], []
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
        kinds = [found for annotation in below for found in models_of(annotation)]
        entries = [found for annotation in below for found in entries_of(annotation)]


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
            for below in models_of(field.annotation):
                yield from _paths(below, path)
