"""From what a user names (a log, a scenario file, or nothing) to a scenario's tree of plain values."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from windlass.io import read_yaml
from windlass.io.traces.files import stem

#: Policies that a log is run with when none are named.
DEFAULT_POLICIES = ("fcfs", "sjf", "easy", "conservative")


@dataclass(frozen=True, slots=True)
class ScenarioSource:
    """A scenario that is not validated yet.

    Parameters
    ----------
    tree
        Plain values, as a YAML file holds them.
    name
        How error messages name it.
    folder
        What relative paths in it are relative to.
    """

    tree: Any
    name: str
    folder: Path = Path()


def source_of(target: str | Path | None) -> ScenarioSource:
    """Return what a target means: a scenario file (``.yaml``, ``.yml``), a log, or the bundled example for None.

    Raises
    ------
    InputError
        A scenario file cannot be read, or is not YAML.

    Examples
    --------
    >>> source_of("jobs.swf.gz").tree["workload"]
    {'trace': 'jobs.swf.gz'}
    """
    if target is None:
        bundled = resources.files("windlass.experiment.scenario") / "lublin.yaml"
        return ScenarioSource(yaml.safe_load(bundled.read_text(encoding="utf-8")), "lublin")
    path = Path(target)
    if path.suffix in (".yaml", ".yml"):
        return ScenarioSource(read_yaml(path), str(target), path.parent)
    tree = {
        "name": stem(path),
        "workload": {"trace": str(target)},
        "policies": {"order": list(DEFAULT_POLICIES)},
    }
    return ScenarioSource(tree, str(target))


def with_value(tree: Any, names: list[str], value: Any) -> Any:
    """Return a tree with a value at a dotted name, in each entry of a list on the way: a list is a sweep.

    >>> with_value({"cluster": {"processors": 8}}, ["cluster", "processors"], 16)
    {'cluster': {'processors': 16}}
    """
    if not names:
        return value
    if isinstance(tree, list):
        return [with_value(entry, names, value) for entry in tree]
    own = tree if isinstance(tree, dict) else {}
    return own | {names[0]: with_value(own.get(names[0]), names[1:], value)}
