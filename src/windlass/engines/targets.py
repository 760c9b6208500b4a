"""The live engine that a command selects, its location, and executors on it for several runs."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Protocol

from windlass.engines.address import ray_head
from windlass.engines.live.executor import Executor
from windlass.model.errors import ParameterError
from windlass.model.fleet import Fleet

#: Engines by name: the module with a function ``executors(target)``, and the extra that installs its dependencies.
_MODULES = {"ray": ("windlass.engines.ray.target", "ray")}

ENGINES = tuple(_MODULES)


@dataclass(frozen=True, slots=True)
class Target:
    """A target of live runs.

    Parameters
    ----------
    engine
        The engine's name, such as ``ray``.
    address
        The address of a user's cluster; None for a private one on this machine.
    nodes
        Nodes per site of a private cluster.
    emulate
        True to emulate links between sites; False to use the real network.
    """

    engine: str
    address: str | None = None
    nodes: int = 1
    emulate: bool = True


class Executors(Protocol):
    """A factory of executors on one target."""

    def describe(self, fleet: Fleet, store: int) -> tuple[str, ...]:
        """Describe what :meth:`open` would do, one line each; nothing is started.

        Raises
        ------
        InputError
            The executor cannot be opened on this target.
        """
        ...

    def open(self, fleet: Fleet, store: int) -> Executor:
        """Open an executor over these sites, each of which must be able to hold ``store`` bytes of data."""
        ...

    def close(self) -> None:
        """Stop what this object started, and nothing else."""
        ...


def executors(target: Target) -> Executors:
    """Return executors on a target; nothing is started yet.

    Raises
    ------
    InputError
        The engine is unknown or not installed, or the address is malformed.

    Examples
    --------
    >>> executors(Target("mesos"))
    Traceback (most recent call last):
    windlass.model.errors.ParameterError: engine: unknown engine 'mesos', expected one of sim, ray
    """
    if target.engine not in _MODULES:
        raise ParameterError(
            "engine", f"unknown engine {target.engine!r}, expected one of sim, {', '.join(ENGINES)}"
        )
    if target.address is not None:
        ray_head("address", target.address)
    name, extra = _MODULES[target.engine]
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("windlass"):
            raise
        raise ParameterError(
            "engine",
            f"{target.engine} is not installed ({error.name} is missing); in a checkout of Windlass, run"
            f" pip install '.[{extra}]'",
        ) from error
    made: Executors = module.executors(target)
    return made
