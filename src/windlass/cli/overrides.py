"""A scenario with the options of the command line applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from windlass.cli.column_names import columns_given
from windlass.cli.fields import field_set
from windlass.cli.policy_list import policies_given
from windlass.experiment.scenario import Scenario, make_scenario
from windlass.experiment.scenario.files import code_in
from windlass.experiment.scenario.source import source_of, with_value
from windlass.experiment.worlds import World, find_world, worlds
from windlass.model import InputError
from windlass.model.limits import RUNS


@dataclass(frozen=True, slots=True)
class Overrides:
    """Options that replace values of a scenario; None or False for options that are not given.

    Parameters
    ----------
    procs, where, no_kill, skip_bad_lines, format, columns
        Values of the fields to which ``Setting.options`` of the scenario's world maps the options.
    policies
        Names or files separated by commas, each with parameters in brackets, as in
        ``queue(priority=sjf,backfill=easy)``; ``decision=`` before a name sets the decision from there on.
    seeds
        Seeds, as in ``1,2,7`` or ``1-5``.
    fields
        Fields of the world, each as ``PATH=VALUE``, or with several values to sweep.
    """

    procs: int | str | None = None
    policies: str | None = None
    seeds: str | None = None
    where: str | None = None
    no_kill: bool = False
    skip_bad_lines: bool = False
    format: str | None = None
    fields: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """Return the values of the options that are given and set fields of the world."""
        given: dict[str, Any] = {}
        if self.procs is not None:
            given["--procs"] = _counts(self.procs)
        if self.where is not None:
            given["--where"] = self.where
        if self.format is not None:
            given["--format"] = self.format
        if self.columns:
            given["--columns"] = columns_given(self.columns)
        if self.skip_bad_lines:
            given["--skip-bad-lines"] = True
        if self.no_kill:
            given["--no-kill"] = False
        return given


def overridden(tree: Any, overrides: Overrides) -> Any:
    """Return a scenario's tree with the options applied; a tree that is not a scenario is returned unchanged.

    Parameters
    ----------
    tree
        Plain values, as read from YAML; they are not changed.
    overrides
        The options.

    Raises
    ------
    InputError
        The scenario's world has no such field or decision, or a value cannot be read; the error names the option.

    Examples
    --------
    >>> overridden({"policies": {"order": "fcfs"}}, Overrides(procs=64, policies="easy,sjf", seeds="1-2"))
    {'policies': {'order': ['easy', 'sjf']}, 'seeds': [1, 2], 'cluster': {'processors': 64}}
    """
    if not isinstance(tree, dict):
        return tree
    tree = dict(tree)
    if overrides.seeds is not None:
        tree["seeds"] = _seeds(overrides.seeds)
    options = overrides.options()
    if not options and not overrides.fields and overrides.policies is None:
        return tree
    try:
        world = find_world(tree.get("world", "batch"))
    except InputError:
        return tree
    if overrides.policies is not None:
        tree["policies"] = policies_given(overrides.policies, _section(tree, "policies"), world)
    for option, value in options.items():
        if option not in world.setting.options:
            raise InputError(_no_such_field(option, world))
        tree = with_value(tree, world.setting.options[option].split("."), value)
    for text in overrides.fields:
        tree = field_set(tree, text, world)
    return tree


def scenario_of(target: str | None, overrides: Overrides, *, code: bool = True) -> Scenario:
    """Return the scenario of a target with the options applied.

    Parameters
    ----------
    target
        A scenario, a log, or None for the bundled workload.
    overrides
        The options.
    code
        False to reject a scenario that names a policy file.

    Raises
    ------
    InputError
        The scenario is invalid; the error names file and field, or the option.

    Examples
    --------
    >>> scenario_of(None, Overrides(policies="easy")).name
    'lublin'
    """
    source = source_of(target)
    tree = overridden(source.tree, overrides)
    named = [] if code else code_in(tree)
    if named:
        raise InputError(
            f"--no-code: {source.name} names {named[0]}, expected a scenario without policy files"
        )
    return make_scenario(tree, source.name, source.folder)


def _counts(given: int | str) -> int | list[int]:
    """Return a number of processors, or several to sweep."""
    parts = str(given).split(",")
    for part in parts:
        if not part.strip().isdecimal():
            raise InputError(f"--procs: {part.strip()!r} is not a whole number, as in 64 or 64,128")
    counts = [int(part) for part in parts]
    return counts[0] if len(counts) == 1 else counts


def _no_such_field(option: str, world: World) -> str:
    able = ", ".join(known.name for known in worlds() if option in known.setting.options)
    return (
        f"{option}: world {world.name!r} has no field for it, its cluster and workload are set in the scenario; "
        f"worlds with {option}: {able}"
    )


def _section(tree: dict[str, Any], name: str) -> dict[str, Any]:
    section = tree.get(name)
    return section if isinstance(section, dict) else {}


def _seeds(text: str) -> list[int]:
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InputError(f"--seeds: {part.strip()!r} is neither a seed nor a range of seeds such as 1-5")
        if len(first) > 18 or len(last) > 18:
            raise InputError(f"--seeds: {part.strip()[:40]!r} is too large, expected seeds below 10**18")
        RUNS.check(len(seeds) + int(last or first) + 1 - int(first), f"--seeds: {part.strip()}")
        if dash and int(last) < int(first):
            raise InputError(f"--seeds: {part.strip()!r} is an empty range, expected the smaller seed first")
        seeds.extend(range(int(first), int(last or first) + 1))
    return seeds
