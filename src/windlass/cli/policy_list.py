"""``--policies``: policies with parameters, read from the command line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from windlass.experiment.scenario.files import resolve_policies
from windlass.experiment.worlds import World
from windlass.model import InputError
from windlass.policy.nearest import did_you_mean

_DECISION = re.compile(r"[a-z][a-z._-]*")
#: A value with parameters, such as multifactor(weight_age=500); YAML values start with other characters.
_CALL = re.compile(r"""[^\s\[\]{}'"(),=]+\s*\(.*""", re.DOTALL)
#: The most brackets in the option, since brackets are parsed recursively.
_BRACKETS = 100


def policies_given(text: str, given: dict[str, Any], world: World) -> dict[str, Any]:
    """Return a scenario's policies by decision, with those that the option names replaced.

    Parameters
    ----------
    text
        The value of the option: names or files separated by commas, each with parameters in brackets. ``decision=``
        before a name sets the decision of the names from there on; the default is the first decision of the scenario,
        or else of the world.
    given
        The scenario's policies, which are not changed.
    world
        The scenario's world.

    Raises
    ------
    InputError
        The text cannot be parsed, or the world has no such decision.
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
                    f"{did_you_mean(head, known)}"
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
    """Split at commas outside of brackets.

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
        raise InputError(f"--policies: {text!r} has an unmatched bracket")
    return parts


def _with_parameters(text: str) -> Any:
    """Return a policy as in a scenario: its name, or a mapping from its name to its parameters.

    >>> _with_parameters("easy"), _with_parameters("mine.py:Mine(depth=3, of=[a, b])")
    ('easy', {'mine.py:Mine': {'depth': 3, 'of': ['a', 'b']}})
    >>> _with_parameters("queue(priority=multifactor(weight_age=5, weight_qos=1), backfill=easy)")
    {'queue': {'priority': {'multifactor': {'weight_age': 5, 'weight_qos': 1}}, 'backfill': 'easy'}}
    """
    name, opened, rest = text.partition("(")
    if not opened:
        return text
    if not name.strip() or not rest.endswith(")"):
        raise InputError(f"--policies: {text!r} is not a policy, expected one such as queue(priority=sjf)")
    parameters: dict[str, Any] = {}
    for each in _split(rest[:-1]):
        parameter, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not parameter.isidentifier():
            raise InputError(
                f"--policies: {each.strip()!r} in {text!r} is not a parameter, expected name=value"
            )
        if parameter in parameters:
            raise InputError(f"--policies: {text!r} has {parameter} twice")
        parameters[parameter] = _value(value, text)
    return {name.strip(): parameters}


def _value(value: str, text: str) -> Any:
    """Return the value of a parameter: as YAML reads it, a name with parameters, or a list of such names."""
    if _CALL.fullmatch(value):
        return _with_parameters(value)
    if value.startswith("[") and value.endswith("]") and "(" in value:
        return [_value(each.strip(), text) for each in _split(value[1:-1])]
    try:
        return yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise InputError(f"--policies: {value!r} in {text!r} is not a value") from error
