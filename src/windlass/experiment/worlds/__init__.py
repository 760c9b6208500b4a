"""What can be run: each world composes parts of the simulator with the decisions that it leaves to policies.

- :mod:`~windlass.experiment.worlds.batch`: rigid parallel jobs on one site; which goes first?
- :mod:`~windlass.experiment.worlds.sharing`: the same, of which some share allocations; who, with whom, at what quota?
- :mod:`~windlass.experiment.worlds.elastic`: jobs on instances that come and go; how many of which type?
- :mod:`~windlass.experiment.worlds.dispatch`: small tasks on many workers; which worker gets this one?
- :mod:`~windlass.experiment.worlds.admission`: small tasks on nodes that say whether they take more; which do?
- :mod:`~windlass.experiment.worlds.colocated`: batch jobs and small tasks on the nodes of one site; tasks have what is
  idle.
- :mod:`~windlass.experiment.worlds.video`: streaming queries on clusters in tiers; with which configuration, and where?
- :mod:`~windlass.experiment.worlds.fleet`: jobs over the sites of a fleet; which job goes first, or where does each
  task run? Live too.
- :mod:`~windlass.experiment.worlds.contents`: what a workload holds; what a job waited for is
  :mod:`~windlass.results.explanation`.
- :mod:`~windlass.experiment.worlds.spec`, :mod:`~windlass.experiment.worlds.policy`: what all of them share: fields
  that are checked, and how a scenario names a policy.

A world checks its part of a scenario, makes the workload, and runs one variant with one seed. Adding a world is
adding a folder here whose ``world.py`` has one public :class:`World`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

from windlass.engines.targets import Executors
from windlass.experiment.worlds.contents import Contents
from windlass.io import Fields
from windlass.jit import Kernel
from windlass.model import InputError
from windlass.policy.discovery import classes_in
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.explanation import Waited


class Setting(Fields):
    """One variant of a scenario, every value known; a world adds its fields."""

    #: Dotted names of fields that are lists by nature; any other list in a scenario is a sweep.
    plain_lists: ClassVar[frozenset[str]] = frozenset()
    #: Dotted names of fields that are files: in a scenario they are relative to the scenario's folder.
    path_fields: ClassVar[tuple[str, ...]] = ("workload.trace",)
    #: The field, by dotted name, that each option of ``windlass run`` sets: ``--procs``, ``--where``,
    #: ``--skip-bad-lines`` (to true), ``--no-kill`` (to false). An option that is not here is refused.
    options: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def together(cls, variants: Sequence[Self]) -> tuple[Self, ...]:
        """All variants of a scenario, seen side by side: what one must leave out, others may have to leave out too."""
        return tuple(variants)


class LiveWorld(Protocol):
    """What the runner needs of a world that runs on live engines too."""

    def describe(self, setting: Any, workload: Any, executors: Executors) -> tuple[str, ...]:
        """What :meth:`run` would do, a line each; nothing is started. InputError where it could not be done."""
        ...

    def run(
        self,
        setting: Any,
        seed: int,
        workload: Any,
        executors: Executors,
        progress: Callable[[float], None],
    ) -> Outcome:
        """Run it for real; ``progress`` is told the share that is done."""
        ...


class LoggedWorld(Protocol):
    """What the runner needs of a world whose logs say what their own systems did."""

    def outcome(self, setting: Any, seed: int, workload: Any) -> Outcome | None:
        """The same jobs as they were in the log; None where it does not say when they started."""
        ...

    def own(self, setting: Any, workload: Any) -> bool:
        """Whether a variant has the log's own site and arrivals."""
        ...

    def choices(self, setting: Any) -> tuple[Choice, ...]:
        """What the log's system ran, where that is known."""
        ...


class Explainer(Protocol):
    """What ``windlass explain`` needs of a world whose runs can be gone through again for one job."""

    def waited(self, setting: Any, seed: int, workload: Any, job: int) -> Waited:
        """What a job of the workload, by its number, waited for."""
        ...


class World(Protocol):
    """What the runner needs of a world.

    Parameters
    ----------
    name, summary
        What scenarios call it, and what it is in a line.
    setting
        What a variant of a scenario may say.
    decisions
        What it leaves to policies.
    live
        How it runs on live engines; None for a world of the simulator only.
    logged
        What its logs say of their own systems; None for a world whose logs say nothing of that.
    metrics
        The class of what it measures.
    explainer
        How it says what a job waited for; None where it cannot.
    """

    name: str
    summary: str
    setting: type[Setting]
    decisions: tuple[Registry, ...]
    live: LiveWorld | None
    logged: LoggedWorld | None
    metrics: type[Any]
    explainer: Explainer | None

    def choices(self, setting: Any) -> tuple[Choice, ...]:
        """Which policy makes which decision."""
        ...

    def kernels(self, setting: Any) -> tuple[Kernel, ...]:
        """What to compile ahead; raises InputError where a policy does not exist or refuses a parameter."""
        ...

    def workload_key(self, setting: Any, seed: int) -> Hashable:
        """Equal for variants and seeds that share a workload."""
        ...

    def workload(self, setting: Any, seed: int) -> Any:
        """Read or draw what the variant runs; raises InputError where the variant cannot be run with it."""
        ...

    def contents(self, workload: Any) -> Contents:
        """What a workload holds."""
        ...

    def run(self, setting: Any, seed: int, workload: Any, progress: Callable[[float], None]) -> Outcome:
        """Run it; ``progress`` is told the share that is done."""
        ...


def worlds() -> tuple[World, ...]:
    """All worlds, by name."""
    return tuple(
        sorted(
            (cls() for cls in classes_in(__name__, "workload_key", room="world")),
            key=lambda world: world.name,
        )
    )


def find_world(name: str) -> World:
    """The world of this name.

    >>> find_world("batch").name
    'batch'
    """
    for world in worlds():
        if world.name == name:
            return world
    raise InputError(
        f"world: unknown world {name!r}, expected one of {', '.join(known.name for known in worlds())}"
    )
