"""Scenarios from YAML: a world, its cluster and workload, a policy for each decision, and seeds.

Every list in a scenario is swept: ``order: [fcfs, easy]`` with ``processors: [64, 128]`` makes four variants. A list
within a list is one value: ``without: [[], [share]]`` makes two. ``seeds`` is not a sweep: each variant runs once per
seed. ``variants`` names choices of policies that are made together.

- :mod:`~windlass.experiment.scenario.variants`: named variants.
- :mod:`~windlass.experiment.scenario.source`: the plain values of a log, a scenario file or the bundled example.
- :mod:`~windlass.experiment.scenario.files`: the files that a scenario names, resolved to absolute paths.
- :mod:`~windlass.experiment.scenario.quoting`: values as shown in messages.
- :mod:`~windlass.experiment.scenario.annotations`: the models below the type of a field.
- :mod:`~windlass.experiment.scenario.hints`: what to write in place of a wrong field.
"""

from __future__ import annotations

import datetime
import itertools
import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pydantic import ValidationError

from windlass.experiment.scenario.files import resolve_paths
from windlass.experiment.scenario.hints import field_hint
from windlass.experiment.scenario.quoting import shown
from windlass.experiment.scenario.variants import FIELD, named_variants
from windlass.experiment.worlds import Setting, World, find_world
from windlass.io import read_yaml
from windlass.io.field_errors import field_error
from windlass.model import InputError
from windlass.model.limits import RUNS, VARIANTS
from windlass.results import At

_TOP = ("name", "seeds")
#: Seeds are 64-bit integers in tables.
_SEEDS = 2**63


@dataclass(frozen=True, slots=True)
class Variant:
    """One point of the sweep: its policies, and its other swept values as text (``point``) and by axis (``at``)."""

    name: str
    setting: Setting
    point: str = ""
    at: tuple[At, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """A validated scenario.

    Parameters
    ----------
    name
        Its name in reports.
    world
        The world that runs it.
    variants
        The points of the sweep, in order.
    seeds
        The seeds; each variant runs once per seed.
    as_run
        The scenario with all defaults, as YAML text that can be run again.
    """

    name: str
    world: World
    variants: tuple[Variant, ...]
    seeds: tuple[int, ...]
    as_run: str


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file; paths in it are relative to its folder.

    Raises
    ------
    InputError
        The file cannot be read, is not YAML, or has an invalid value; the error names file, field and value.
    """
    return make_scenario(load_tree(path), source=str(path), folder=path.parent)


def load_tree(path: Path) -> Any:
    """Return the plain values of a YAML file."""
    return read_yaml(path)


def make_scenario(tree: Any, source: str = "scenario", folder: Path = Path()) -> Scenario:
    """Validate a scenario given as a tree of plain values.

    Parameters
    ----------
    tree
        The content of a YAML file.
    source
        Its name in error messages.
    folder
        The folder to which paths are relative.

    Raises
    ------
    InputError
        A value is invalid; the error names source, field and value.

    Examples
    --------
    >>> scenario = make_scenario({"workload": {"lublin": {"jobs": 10}}, "policies": {"order": ["fcfs", "easy"]}})
    >>> [variant.name for variant in scenario.variants]
    ['fcfs', 'easy']
    """
    if not isinstance(tree, dict):
        found = "nothing" if tree is None else "a list" if isinstance(tree, list) else shown(tree)
        raise InputError(
            f"{source}: expected a scenario (a mapping of fields, as in policies: {{order: easy}}), found {found}"
        )
    tree = _plain(tree)
    name = tree.get("name", Path(source).stem)
    if not isinstance(name, str | int | float | datetime.date) or isinstance(name, bool):
        raise InputError(f"{source}: name: {shown(name)} is not a name")
    name = str(name)
    seeds = _seeds(tree.get("seeds", [1]), source)
    rest = {key: value for key, value in tree.items() if key not in _TOP}
    try:
        world = find_world(rest.get("world", "batch"))
        fields = world.setting.path_fields
        named = [
            (own, resolve_paths(each, fields, folder)) for own, each in named_variants(rest, world.setting)
        ]
    except InputError as error:
        raise InputError(f"{source}: {error}") from error
    count = VARIANTS.check(sum(_points(each, "", world.setting) for _, each in named), source)
    RUNS.check(count * len(seeds), source)
    variants = tuple(_variants(named, world, source))
    for label, times in Counter(variant.name for variant in variants).items():
        if times > 1:
            raise InputError(f"{source}: variant {label!r} appears {times} times")
    filled = _filled(rest, variants[0], world.setting, folder)
    as_run = yaml.safe_dump(
        {"name": name, **filled, "seeds": list(seeds)}, sort_keys=False, allow_unicode=True
    )
    return Scenario(name, world, variants, seeds, as_run)


def _plain(value: Any) -> Any:
    """Return a tree without numbers of NumPy, arrays, tuples and paths, as YAML has none of them.

    >>> _plain({"load": np.linspace(0, 1, 3), "trace": Path("a.csv"), "n": np.int64(4)})
    {'load': [0.0, 0.5, 1.0], 'trace': 'a.csv', 'n': 4}
    """
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _seeds(value: Any, source: str) -> tuple[int, ...]:
    seeds = value if isinstance(value, list) else [value]
    for seed in seeds:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise InputError(f"{source}: seeds: {shown(seed)} is not a whole number of 0 or more")
        if seed >= _SEEDS:
            raise InputError(f"{source}: seeds: {shown(seed)} is too large, expected one below 2**63")
    if not seeds:
        raise InputError(f"{source}: seeds: the list is empty, expected at least one")
    if len(set(seeds)) != len(seeds):
        raise InputError(f"{source}: seeds: {shown(seeds)} has a duplicate seed")
    return tuple(seeds)


def _filled(rest: dict[str, Any], variant: Variant, setting: type[Setting], folder: Path) -> dict[str, Any]:
    """Return the scenario with all defaults and absolute paths."""
    given = resolve_paths(rest, setting.path_fields, folder)
    defaults = variant.setting.model_dump(mode="json", exclude_none=True)
    if FIELD in rest:
        # The policies of a variant are no defaults of others.
        defaults = {field: value for field, value in defaults.items() if field not in setting.policy_fields}
        resolved = {name: resolve_paths(changes or {}, (), folder) for name, changes in rest[FIELD].items()}
        given = given | {FIELD: resolved}
    filled: dict[str, Any] = _overlay(defaults, given)
    return filled | {
        field: setting.written_policies(defaults[field], given[field])
        for field in setting.policy_fields
        if isinstance(defaults.get(field), dict) and isinstance(given.get(field), dict)
    }


def _variants(named: Sequence[tuple[str, Any]], world: World, source: str) -> Iterator[Variant]:
    points: list[tuple[str, tuple[At, ...]]] = []
    settings: list[Setting] = []
    for own, tree in named:
        where = f"{source}: {FIELD}.{own}" if own else source
        try:
            for at, point in _sweep(tree, "", world.setting):
                settings.append(world.setting.model_validate(point))
                points.append((own, at))
        except ValidationError as error:
            raise InputError(
                f"{where}: {field_error(error)}{field_hint(error, world.setting, _TOP)}"
            ) from error
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
    try:
        together = world.setting.together(settings)
    except InputError as error:
        raise InputError(f"{source}: {error}") from error
    times = Counter(points)
    for (own, at), setting in zip(points, together, strict=True):
        chosen = setting.called() or ", ".join(choice.label for choice in world.choices(setting))
        called = own if own and times[own, at] == 1 else f"{own}: {chosen}" if own else chosen
        labels = [each.label for each in at]
        yield Variant(", ".join([called, *labels]), setting, ", ".join(labels), at)


def _points(value: Any, path: str, setting: type[Setting]) -> int:
    """Return the number of choices that :func:`_sweep` yields."""
    if isinstance(value, list) and not setting.is_plain(path):
        return sum(1 if isinstance(entry, list) else _points(entry, path, setting) for entry in value)
    if isinstance(value, dict):
        return math.prod(_points(entry, f"{path}.{key}".strip("."), setting) for key, entry in value.items())
    return 1


def _sweep(value: Any, path: str, setting: type[Setting]) -> Iterator[tuple[tuple[At, ...], Any]]:
    """Yield every choice of one entry from each list below ``value``, and the chosen entry of each axis."""
    if isinstance(value, list) and not setting.is_plain(path):
        # Policies and their parameters are already in the variant's name.
        if not value:
            raise InputError(f"{path}: the list is empty, expected at least one value")
        labelled = not setting.chooses_policies(path)
        for entry in value:
            found = [((), entry)] if isinstance(entry, list) else _sweep(entry, path, setting)
            for at, point in found:
                own = (At(path, entry),) if labelled and not isinstance(entry, dict | list) else ()
                yield own + at, point
    elif isinstance(value, dict):
        branches = [
            [(key, *found) for found in _sweep(entry, f"{path}.{key}".strip("."), setting)]
            for key, entry in value.items()
        ]
        for combination in itertools.product(*branches):
            at = tuple(each for _, own, _ in combination for each in own)
            yield at, {key: point for key, _, point in combination}
    else:
        yield (), value


def _overlay(defaults: Any, given: Any) -> Any:
    if isinstance(defaults, dict) and isinstance(given, dict):
        return {**defaults, **{key: _overlay(defaults.get(key), value) for key, value in given.items()}}
    return given
