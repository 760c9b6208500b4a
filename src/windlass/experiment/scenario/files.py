"""The files that a scenario names, of data and of code, resolved to absolute paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from windlass.experiment.scenario.quoting import shown
from windlass.model import InputError


def code_in(tree: Any) -> list[str]:
    """Return the code files that a scenario names anywhere, as any value read as a policy may be a file.

    >>> code_in({"policies": {"order": ["easy", {"mine.py:Mine": {"depth": 3}}]}})
    ['mine.py']
    """
    if isinstance(tree, dict):
        return [file for pair in tree.items() for each in pair for file in code_in(each)]
    if isinstance(tree, list):
        return [file for each in tree for file in code_in(each)]
    file = tree.partition(":")[0] if isinstance(tree, str) else ""
    return [file] if file.endswith(".py") else []


def resolve_policy(policy: str, folder: Path) -> str:
    """Resolve the path of a policy's file; return a policy without a file unchanged.

    >>> resolve_policy("easy", Path("/home"))
    'easy'
    >>> resolve_policy("mine.py:Widest", Path("/home"))
    '/home/mine.py:Widest'
    """
    file, colon, cls = policy.partition(":")
    return f"{_full(folder, file)}{colon}{cls}" if file.endswith(".py") else policy


def _full(folder: Path, file: str) -> str:
    try:
        return str((folder / file).resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{shown(file)}: is not a file path: {' '.join(str(error).split())}") from error


def resolve_paths(tree: dict[str, Any], fields: Iterable[str], folder: Path) -> dict[str, Any]:
    """Resolve the paths in a tree: those of the given fields, and those of policies and custom parts.

    Parameters
    ----------
    tree
        Plain values.
    fields
        Dotted names, such as ``workload.trace``, where ``*`` is any name; absent fields are skipped, and each entry of
        a list is a path.
    folder
        The folder to which paths are relative.

    Examples
    --------
    >>> resolve_paths({"cluster": {"measured": {"prices": "a.csv"}}}, ["cluster.measured.prices"], Path("/home"))
    {'cluster': {'measured': {'prices': '/home/a.csv'}}}
    """
    for field in fields:
        tree = _resolve(tree, field.split("."), folder, _path)
    policies = tree.get("policies")
    if isinstance(policies, dict):
        resolved = {decision: resolve_policies(given, folder) for decision, given in policies.items()}
        tree = tree | {"policies": resolved}
    for field in _PARTS:
        tree = _resolve(tree, field.split("."), folder, resolve_policies)
    return tree


#: Fields that name custom parts by their files.
_PARTS = ("parts", "loads.*.part")


def _path(value: Any, folder: Path) -> Any:
    return _full(folder, value) if isinstance(value, str) else value


def _resolve(value: Any, names: list[str], folder: Path, resolve: Callable[[Any, Path], Any]) -> Any:
    if isinstance(value, list):
        return [_resolve(entry, names, folder, resolve) for entry in value]
    if not names:
        return resolve(value, folder)
    if isinstance(value, dict) and names[0] == "*":
        return {name: _resolve(entry, names[1:], folder, resolve) for name, entry in value.items()}
    if isinstance(value, dict) and names[0] in value:
        return value | {names[0]: _resolve(value[names[0]], names[1:], folder, resolve)}
    return value


def resolve_policies(given: Any, folder: Path) -> Any:
    """Resolve the paths of policies' files, and of files among their parameters.

    >>> resolve_policies([{"queue": {"priority": ["sjf", "mine.py"]}}], Path("/home"))
    [{'queue': {'priority': ['sjf', '/home/mine.py']}}]
    """
    if isinstance(given, list):
        return [resolve_policies(entry, folder) for entry in given]
    if isinstance(given, dict):
        return {
            resolve_policy(key, folder) if isinstance(key, str) else key: resolve_policies(value, folder)
            for key, value in given.items()
        }
    return resolve_policy(given, folder) if isinstance(given, str) else given
