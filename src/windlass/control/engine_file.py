"""The file of the control plane for one engine, as the commands that drive one engine print it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from windlass.control.cluster_file import read_engine
from windlass.experiment.scenario.files import resolve_policies
from windlass.experiment.worlds.policy import PolicySpec

#: Fields that name files, which are relative to the folder of the command.
_FILES = ("types", "history", "kubeconfig", "book", "conf")
_POLICIES = ("policies", "policy")


def engine_file(fields: Mapping[str, Any], folder: Path) -> str:
    """Return the file for one engine: its fields without those that have their defaults, with absolute paths.

    Parameters
    ----------
    fields
        Fields of the engine by name, ``engine`` among them; None for one that is not given.
    folder
        The folder to which paths are relative.

    Raises
    ------
    InputError
        A field is wrong; the message names it.

    Examples
    --------
    >>> fields = {"engine": "slurm", "policies": {"order": "easy"}, "period": 0.25, "book": "b"}
    >>> print(engine_file(fields, Path("/srv")))
    engines:
    - engine: slurm
      policies:
        order: easy
      book: /srv/b
    <BLANKLINE>
    """
    tree = {
        name: resolve_policies(value, folder)
        if name in _POLICIES
        else str(folder / Path(value).expanduser())
        if name in _FILES
        else value
        for name, value in fields.items()
        if value is not None
    }
    known = type(read_engine(tree)).model_fields
    kept = {
        name: value
        for name, value in tree.items()
        if known[name].is_required() or _written(known[name].default) != value
    }
    text: str = yaml.safe_dump({"engines": [kept]}, sort_keys=False, default_flow_style=False)
    return text


def _written(default: object) -> object:
    """Return a default as a file has it."""
    return default.name if isinstance(default, PolicySpec) else default
