"""Custom parts of a simulated cluster, which a scenario names by their files."""

from __future__ import annotations

from typing import cast

import numpy as np

from windlass.experiment.worlds.policy import PolicySpec
from windlass.policy.registry import Registry
from windlass.sim.nodes import Ledger
from windlass.sim.part import NamedPart

#: Registry of custom parts; none is built in.
_PARTS = Registry(
    "sim", "What else happens at the site?", "", "windlass.sim", "horizon", key="parts", field="parts"
)
#: Parameters of a custom part that the world passes.
_GIVEN = frozenset({"ledger", "site", "number"})


def check_part(part: PolicySpec, name: str) -> PolicySpec:
    """Return a part of a scenario.

    Parameters
    ----------
    part, name
        The part's file and parameters, and what an error calls it.

    Raises
    ------
    ValueError
        It is no file, or has a parameter that the world passes.

    Examples
    --------
    >>> check_part(PolicySpec(name="backup.py:Backup"), "part").name
    'backup.py:Backup'
    """
    if not part.name.partition(":")[0].endswith(".py"):
        raise ValueError(f"{name} is {part.name!r}, expected a file such as backup.py:Backup")
    for given in sorted(_GIVEN & part.parameters.keys()):
        raise ValueError(f"{name}: {given} is set by the world, remove it from the scenario")
    return part


def part_name(spec: PolicySpec) -> str:
    """Return the name of a custom part."""
    return str(_PARTS.find(spec.name).name)


def make_part(
    spec: PolicySpec, rng: np.random.Generator, ledger: Ledger, site: int, number: int | None = None
) -> NamedPart:
    """Import and create a custom part.

    Parameters
    ----------
    spec
        Its file and parameters.
    rng
        Its random generator.
    ledger, site
        The ledger, and the site's number in it.
    number
        The part's number in the ledger; None for the lowest that no part has.

    Raises
    ------
    InputError
        The file has no part, or the part rejects a parameter.
    """
    free = len(ledger.joined) if number is None else number
    part = _PARTS.make(spec.name, rng, ledger=ledger, site=site, number=free, **spec.parameters)
    return cast(NamedPart, part)
