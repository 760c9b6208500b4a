"""The plain values of a scenario, from a log, a scenario file or the bundled example."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from windlass.io import read_yaml
from windlass.io.traces.files import stem
from windlass.io.traces.pipes import as_file

#: The policies for a log if none are named.
DEFAULT_POLICIES = ("fcfs", "sjf", "easy", "conservative")


@dataclass(frozen=True, slots=True)
class ScenarioSource:
    """A scenario that has not been validated.

    Parameters
    ----------
    tree
        Plain values, as in a YAML file.
    name
        Its name in error messages.
    folder
        The folder to which its paths are relative.
    """

    tree: Any
    name: str
    folder: Path = Path()


def source_of(target: str | Path | None) -> ScenarioSource:
    """Return the scenario of a target: a scenario file (``.yaml``, ``.yml``), a log, or the bundled example for None.

    A log may come through a named pipe, or through standard input (``-``).

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
    path = as_file(target)
    if path.suffix in (".yaml", ".yml"):
        return ScenarioSource(read_yaml(path), str(target), path.parent)
    tree = {
        "name": stem(path),
        "workload": {"trace": str(path)},
        "policies": {"order": list(DEFAULT_POLICIES)},
    }
    return ScenarioSource(tree, str(path))


def with_value(tree: Any, names: list[str], value: Any) -> Any:
    """Set a value at a dotted name, in each entry of any list on the way, as a list is a sweep.

    >>> with_value({"cluster": {"processors": 8}}, ["cluster", "processors"], 16)
    {'cluster': {'processors': 16}}
    """
    if not names:
        return value
    if isinstance(tree, list):
        return [with_value(entry, names, value) for entry in tree]
    own = tree if isinstance(tree, dict) else {}
    return own | {names[0]: with_value(own.get(names[0]), names[1:], value)}
