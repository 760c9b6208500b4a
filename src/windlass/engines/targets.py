"""Which live engine, where, and executors on it, run after run."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Protocol

from windlass.engines.address import ray_head
from windlass.engines.live.executor import Executor
from windlass.model import InputError
from windlass.model.fleet import Fleet

#: Engines by name: the module that has ``executors(target)``, and the extra to install for it.
_MODULES = {"ray": ("windlass.engines.ray.target", "ray")}

ENGINES = tuple(_MODULES)


@dataclass(frozen=True, slots=True)
class Target:
    """Where to run for real.

    Parameters
    ----------
    engine
        Its name, such as ``ray``.
    address
        Of a cluster that somebody runs; None for a private one on this machine.
    nodes
        Nodes a site of a private cluster.
    emulate
        Whether links between sites are emulated; not where sites are truly apart.
    """

    engine: str
    address: str | None = None
    nodes: int = 1
    emulate: bool = True


class Executors(Protocol):
    """Executors on one target."""

    def describe(self, fleet: Fleet, store: int) -> tuple[str, ...]:
        """What :meth:`open` would do, a line each; nothing is started.

        Raises
        ------
        InputError
            It could not be done.
        """
        ...

    def open(self, fleet: Fleet, store: int) -> Executor:
        """An executor over these sites, each of which must hold so many bytes of data."""
        ...

    def close(self) -> None:
        """Stop what was started, and nothing else."""
        ...


def executors(target: Target) -> Executors:
    """Executors on a target; nothing is started yet.

    Raises
    ------
    InputError
        No such engine, the address is none, or the engine is not installed.

    Examples
    --------
    >>> executors(Target("mesos"))
    Traceback (most recent call last):
    windlass.model.errors.InputError: --engine: unknown engine 'mesos', expected one of sim, ray
    """
    if target.engine not in _MODULES:
        raise InputError(
            f"--engine: unknown engine {target.engine!r}, expected one of sim, {', '.join(ENGINES)}"
        )
    if target.address is not None:
        ray_head("--address", target.address)
    name, extra = _MODULES[target.engine]
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("windlass"):
            raise
        raise InputError(
            f"--engine: {target.engine} is not installed ({error.name} is missing); where Windlass' source is:"
            f" pip install '.[{extra}]'"
        ) from error
    made: Executors = module.executors(target)
    return made
