"""What the command line says over a scenario: its options, written into the scenario's tree of plain values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from windlass.cli.fields import field_set
from windlass.experiment.scenario import Scenario, make_scenario
from windlass.experiment.scenario.files import code_in, resolve_policies
from windlass.experiment.scenario.source import source_of, with_value
from windlass.experiment.worlds import World, find_world, worlds
from windlass.model import InputError
from windlass.model.limits import RUNS

_DECISION = re.compile(r"[a-z][a-z._-]*")
#: A value that has parameters of its own, such as multifactor(weight_age=500); what YAML would read begins otherwise.
_WITH_OWN = re.compile(r"""[^\s\[\]{}'"(),=]+\s*\(.*""", re.DOTALL)

#: More of them is no list of policies; each one within another is a call within another here.
_BRACKETS = 100


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says over the scenario; None or False where it says nothing.

    Parameters
    ----------
    procs, where, no_kill, skip_bad_lines, format
        For the fields that the scenario's world maps them to, as its ``Setting.options`` says.
    policies
        Names or files with commas between, each with parameters in brackets, as ``queue(priority=sjf,backfill=easy)``;
        ``decision=`` before a name says for which decision it and those that follow are.
    seeds
        As in ``1,2,7`` or ``1-5``.
    fields
        Any fields of the world, each as ``PATH=VALUE``, or with several values to sweep.
    """

    procs: int | str | None = None
    policies: str | None = None
    seeds: str | None = None
    where: str | None = None
    no_kill: bool = False
    skip_bad_lines: bool = False
    format: str | None = None
    fields: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """The values that go into fields of the world, by option; only those that were given."""
        said: dict[str, Any] = {}
        if self.procs is not None:
            said["--procs"] = _counts(self.procs)
        if self.where is not None:
            said["--where"] = self.where
        if self.format is not None:
            said["--format"] = self.format
        if self.skip_bad_lines:
            said["--skip-bad-lines"] = True
        if self.no_kill:
            said["--no-kill"] = False
        return said


def overridden(tree: Any, overrides: Overrides) -> Any:
    """The scenario's tree with what the options say; a tree that is no scenario is left for its own error.

    Parameters
    ----------
    tree
        Plain values, as a YAML file holds them; it is not changed.
    overrides
        The options.

    Raises
    ------
    InputError
        The scenario's world has no such field or no such decision, or a value cannot be read; names the option.

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
        tree["policies"] = _policies(overrides.policies, _section(tree, "policies"), world)
    for option, value in options.items():
        if option not in world.setting.options:
            raise InputError(_no_such_field(option, world))
        tree = with_value(tree, world.setting.options[option].split("."), value)
    for text in overrides.fields:
        tree = field_set(tree, text, world)
    return tree


def scenario_of(target: str | None, overrides: Overrides, *, code: bool = True) -> Scenario:
    """Return the scenario that a target and the options mean; without ``code`` one that names a policy file is refused.

    >>> scenario_of(None, Overrides(policies="easy")).name
    'lublin'
    """
    source = source_of(target)
    tree = overridden(source.tree, overrides)
    named = [] if code else code_in(tree)
    if named:
        raise InputError(
            f"--no-code: {source.name} names {named[0]}, which would be imported; nothing of it was"
        )
    return make_scenario(tree, source.name, source.folder)


def _counts(given: int | str) -> int | list[int]:
    """One number of processors, or several to sweep."""
    parts = str(given).split(",")
    for part in parts:
        if not part.strip().isdecimal():
            raise InputError(f"--procs: {part.strip()!r} is not a whole number, as in 64 or 64,128")
    counts = [int(part) for part in parts]
    return counts[0] if len(counts) == 1 else counts


def _no_such_field(option: str, world: World) -> str:
    able = ", ".join(known.name for known in worlds() if option in known.setting.options)
    return (
        f"{option}: world {world.name!r} has no such field, its cluster and workload are set in the scenario; "
        f"worlds that take {option}: {able}"
    )


def _policies(text: str, given: dict[str, Any], world: World) -> dict[str, Any]:
    """The scenario's policies with those of some decisions replaced.

    Names without a decision are for the first that the scenario has policies for, or else the world's first.
    """
    if text.count("(") > _BRACKETS:
        raise InputError(f"--policies: has {text.count('('):,} brackets, expected at most {_BRACKETS}")
    known = [registry.key for registry in world.decisions]
    decision = next(iter(given), known[0])
    named: dict[str, list[Any]] = {}
    for entry in _split(text):
        head, equals, policy = entry.strip().partition("=")
        if equals and _DECISION.fullmatch(head):
            if head not in known:
                raise InputError(
                    f"--policies: world {world.name!r} has no decision {head!r}, expected one of {', '.join(known)}"
                )
            decision = head
        else:
            policy = entry.strip()
        chosen = named.setdefault(decision, [])
        if policy.strip():
            # A file named on the command line is relative to the current folder, not to the scenario's.
            chosen.append(resolve_policies(_with_parameters(policy.strip()), Path()))
    if not all(named.values()):
        raise InputError(f"--policies: {text!r} names no policy")
    return given | named


def _split(text: str) -> list[str]:
    """Where there are commas outside of brackets.

    >>> _split("easy,queue(priority=sjf,backfill=easy)")
    ['easy', 'queue(priority=sjf,backfill=easy)']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    if depth != 0:
        raise InputError(f"--policies: {text!r} has a bracket without its other one")
    return parts


def _with_parameters(text: str) -> Any:
    """A policy as a scenario has it: its name, or its name with parameters.

    >>> _with_parameters("easy"), _with_parameters("mine.py:Mine(depth=3, of=[a, b])")
    ('easy', {'mine.py:Mine': {'depth': 3, 'of': ['a', 'b']}})
    >>> _with_parameters("queue(priority=multifactor(weight_age=5, weight_qos=1), backfill=easy)")
    {'queue': {'priority': {'multifactor': {'weight_age': 5, 'weight_qos': 1}}, 'backfill': 'easy'}}
    """
    name, opened, rest = text.partition("(")
    if not opened:
        return text
    if not name.strip() or not rest.endswith(")"):
        raise InputError(f"--policies: {text!r} is no policy, expected one such as queue(priority=sjf)")
    parameters: dict[str, Any] = {}
    for each in _split(rest[:-1]):
        parameter, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not parameter.isidentifier():
            raise InputError(f"--policies: {each.strip()!r} in {text!r} is no parameter, expected name=value")
        if parameter in parameters:
            raise InputError(f"--policies: {text!r} has {parameter} twice")
        parameters[parameter] = _given(value, text)
    return {name.strip(): parameters}


def _given(value: str, text: str) -> Any:
    """The value of a parameter: as YAML reads it, or a name with parameters of its own, or a list of such."""
    if _WITH_OWN.fullmatch(value):
        return _with_parameters(value)
    if value.startswith("[") and value.endswith("]") and "(" in value:
        return [_given(each.strip(), text) for each in _split(value[1:-1])]
    try:
        return yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise InputError(f"--policies: {value!r} in {text!r} is no value") from error


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
            raise InputError(
                f"--seeds: {part.strip()!r} is a range without a seed, expected the smaller one first"
            )
        seeds.extend(range(int(first), int(last or first) + 1))
    return seeds
