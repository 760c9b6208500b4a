"""Worlds: each composes parts of the simulator and leaves some decisions to policies.

- :mod:`~windlass.experiment.worlds.batch`: rigid parallel jobs on one site; the policy orders the queue.
- :mod:`~windlass.experiment.worlds.sharing`: the same, where some jobs share allocations; the policy chooses the pairs
  and their quotas.
- :mod:`~windlass.experiment.worlds.elastic`: jobs on cloud instances; the policy chooses how many of each type.
- :mod:`~windlass.experiment.worlds.dispatch`: small tasks on many workers; the policy chooses a worker for each.
- :mod:`~windlass.experiment.worlds.admission`: small tasks on nodes; each node's policy admits or rejects tasks.
- :mod:`~windlass.experiment.worlds.colocated`: batch jobs and small tasks on the nodes of one site; tasks use idle
  cores.
- :mod:`~windlass.experiment.worlds.video`: streaming queries on tiers of clusters; the policy chooses a configuration
  and a placement for each.
- :mod:`~windlass.experiment.worlds.fleet`: jobs over the sites of a fleet; a policy orders jobs or places tasks. It
  runs on live engines too.
- :mod:`~windlass.experiment.worlds.cluster`: sites with all of these loads at once, which share nodes and instances;
  up to seven decisions.
- :mod:`~windlass.experiment.worlds.contents`: the contents of a workload; a job's wait is explained by
  :mod:`~windlass.results.explanation`.
- :mod:`~windlass.experiment.worlds.composition`: the cluster that a scenario of an older world stands for.
- :mod:`~windlass.experiment.worlds.stands_for`: worlds that run as the cluster that their scenarios stand for.
- :mod:`~windlass.experiment.worlds.custom_parts`: parts of the simulator that a scenario names by their files.
- :mod:`~windlass.experiment.worlds.outages`: outages of nodes, drawn or listed.
- :mod:`~windlass.experiment.worlds.spec`, :mod:`~windlass.experiment.worlds.policy`: shared by all worlds: validated
  fields, and the notation for a policy in a scenario.

A world validates its part of a scenario, makes the workload, and runs one variant with one seed. To add a world, add a
folder here whose ``world.py`` has one public :class:`World`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, cast

from windlass.engines.targets import Executors
from windlass.experiment.worlds.contents import Contents
from windlass.io import Fields
from windlass.jit import Kernel
from windlass.model import InputError
from windlass.policy.discovery import classes_in, named_classes
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome
from windlass.results.explanation import Explanation


class Setting(Fields):
    """One fully specified variant of a scenario; a world adds its fields."""

    #: Dotted names of fields whose values are lists; a list in any other field of a scenario is a sweep. In these
    #: names and those of paths, ``*`` is any one name.
    plain_lists: ClassVar[frozenset[str]] = frozenset()
    #: First names of the fields that choose policies: variants that differ only in them are compared with each other.
    policy_fields: ClassVar[frozenset[str]] = frozenset({"policies"})
    #: Dotted names of fields that are file paths, relative to the scenario's folder.
    path_fields: ClassVar[tuple[str, ...]] = ("workload.trace",)
    #: The dotted name of the field that each option of ``windlass run`` sets: ``--procs``, ``--where``,
    #: ``--skip-bad-lines`` (to true), ``--no-kill`` (to false). Other options are rejected.
    options: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def together(cls, variants: Sequence[Self]) -> tuple[Self, ...]:
        """Adjust all variants of a scenario together, so that they run the same jobs."""
        return tuple(variants)

    @classmethod
    def is_plain(cls, path: str) -> bool:
        """Return whether the field with this dotted name has a list as its value.

        >>> class Sites(Setting):
        ...     plain_lists = frozenset({"sites.*.nodes"})
        >>> Sites.is_plain("sites.iowa.nodes"), Sites.is_plain("sites.iowa.up")
        (True, False)
        """
        return path in cls.plain_lists or any(_matches(path, each) for each in cls.plain_lists if "*" in each)

    @classmethod
    def chooses_policies(cls, path: str) -> bool:
        """Return whether the field with this dotted name chooses policies."""
        return path.partition(".")[0] in cls.policy_fields

    @classmethod
    def written_policies(cls, defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the policies of a scenario and defaults of the others; a policy that is given replaces its default."""
        return {**defaults, **given}

    @classmethod
    def written_long(cls, tree: dict[str, Any]) -> dict[str, Any]:
        """Return a scenario, in plain values with all defaults, as its long form is written."""
        return tree

    def called(self) -> str:
        """Return the name of this choice of policies; by default empty, for the names of the policies."""
        return ""

    def reservation(self) -> str:
        """Return a sentence on what several seeds of the workload leave open; by default empty."""
        return ""


def _matches(path: str, pattern: str) -> bool:
    names, parts = path.split("."), pattern.split(".")
    return len(names) == len(parts) and all(
        part in ("*", name) for name, part in zip(names, parts, strict=True)
    )


class LiveWorld(Protocol):
    """The interface of a world that also runs on live engines."""

    def describe(self, setting: Any, workload: Any, executors: Executors) -> tuple[str, ...]:
        """Describe in lines what :meth:`run` would do, without starting anything; InputError if it cannot run."""
        ...

    def run(
        self,
        setting: Any,
        seed: int,
        workload: Any,
        executors: Executors,
        progress: Callable[[float], None],
    ) -> Outcome:
        """Run the variant on live engines; ``progress`` receives the completed share, 0 to 1."""
        ...


class LoggedWorld(Protocol):
    """The interface of a world whose logs record the decisions of the logged system."""

    def outcome(self, setting: Any, seed: int, workload: Any) -> Outcome | None:
        """Return the jobs with the log's own start times; None if the log has no start times."""
        ...

    def own(self, setting: Any, workload: Any) -> bool:
        """Return whether a variant has the log's own site and arrivals."""
        ...

    def choices(self, setting: Any) -> tuple[Choice, ...]:
        """Return the policies of the logged system, if known."""
        ...


class Explainer(Protocol):
    """The interface of a world that can repeat a run to explain one job's wait, for ``windlass explain``."""

    def explained(self, setting: Any, seed: int, workload: Any, row: dict[str, Any]) -> Explanation:
        """Explain the job with this row of the table of jobs."""
        ...


class World(Protocol):
    """The interface of a world, from which worlds inherit what most of them lack.

    Parameters
    ----------
    name, summary
        Its name in scenarios, and one line about it.
    setting
        The class of its variants.
    decisions
        A registry for each decision that it leaves to policies.
    live
        Runs it on live engines; None if it can only be simulated.
    logged
        Reads the logged system's own schedule; None if logs have none.
    metrics
        The class of its metrics.
    explainer
        Explains a job's wait; None if it cannot.
    """

    name: str
    summary: str
    setting: type[Setting]
    decisions: tuple[Registry, ...]
    metrics: type[Any]
    live: LiveWorld | None = None
    logged: LoggedWorld | None = None
    explainer: Explainer | None = None

    def choices(self, setting: Any) -> tuple[Choice, ...]:
        """Return the policy of each decision."""
        ...

    def kernels(self, setting: Any) -> tuple[Kernel, ...]:
        """Return the kernels to compile ahead; InputError for an unknown policy or a rejected parameter."""
        ...

    def workload_key(self, setting: Any, seed: int) -> Hashable:
        """Return a key that is equal for variants and seeds with the same workload."""
        ...

    def workload(self, setting: Any, seed: int) -> Any:
        """Read or generate the workload of a variant; InputError if the variant cannot run with it."""
        ...

    def contents(self, workload: Any) -> Contents:
        """Return the contents of a workload."""
        ...

    def runs_in_threads(self, setting: Any) -> bool:
        """Return whether a run needs Python's global lock only briefly and calls no code of a user; by default, no."""
        return False

    def run(self, setting: Any, seed: int, workload: Any, progress: Callable[[float], None]) -> Outcome:
        """Simulate the variant; ``progress`` receives the completed share, 0 to 1."""
        ...


def worlds() -> tuple[World, ...]:
    """Return all worlds, sorted by name."""
    return tuple(
        sorted(
            (cls() for cls in classes_in(__name__, "workload_key", room="world")),
            key=lambda world: world.name,
        )
    )


def find_world(name: str) -> World:
    """Return the world with this name.

    >>> find_world("batch").name
    'batch'
    """
    # Each world has a folder of its name, and the others are not imported: some of them load much.
    # A list, not a set: the name comes from a file, and may be a value without a hash.
    if name in [module.parent.name for module in Path(__file__).parent.glob("*/world.py")]:
        for cls in named_classes(importlib.import_module(f"{__name__}.{name}.world"), "workload_key"):
            if cls.name == name:
                return cast(World, cls())
    for world in worlds():
        if world.name == name:
            return world
    raise InputError(
        f"world: unknown world {name!r}, expected one of {', '.join(known.name for known in worlds())}"
    )
