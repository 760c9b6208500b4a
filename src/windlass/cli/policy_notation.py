"""The notation of policies on the command line: ``pairs``, ``./mine.py``, or ``pairs(budget=0.05)``."""

from __future__ import annotations

import re
from typing import Any

import yaml

from windlass.model import InputError

#: The name of a decision, before an equals sign.
_DECISION = re.compile(r"[a-z][a-z._-]*")
#: A value with parameters, such as multifactor(weight_age=500); YAML values start with other characters.
_CALL = re.compile(r"""[^\s\[\]{}'"(),=]+\s*\(.*""", re.DOTALL)
#: The most brackets in the option, since brackets are parsed recursively.
_BRACKETS = 100


def decision_and_policy(entry: str) -> tuple[str | None, str]:
    """Return the decision that an entry of the option names, or None, and its policy.

    >>> decision_and_policy("share=pairs(budget=0.05)"), decision_and_policy("queue(priority=sjf)")
    (('share', 'pairs(budget=0.05)'), (None, 'queue(priority=sjf)'))
    """
    head, equals, policy = entry.strip().partition("=")
    return (head, policy.strip()) if equals and _DECISION.fullmatch(head) else (None, entry.strip())


def split_policies(text: str) -> list[str]:
    """Split at commas outside of brackets.

    Raises
    ------
    InputError
        There are too many brackets, or one is unmatched.

    Examples
    --------
    >>> split_policies("easy,queue(priority=sjf,backfill=easy)")
    ['easy', 'queue(priority=sjf,backfill=easy)']
    """
    if text.count("(") > _BRACKETS:
        raise InputError(f"--policies: has {text.count('('):,} brackets, expected at most {_BRACKETS}")
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


def with_parameters(text: str) -> Any:
    """Return a policy as in a scenario: its name, or a mapping from its name to its parameters.

    Raises
    ------
    InputError
        The text is not a policy, or a parameter is not ``name=value``.

    Examples
    --------
    >>> with_parameters("easy"), with_parameters("mine.py:Mine(depth=3, of=[a, b])")
    ('easy', {'mine.py:Mine': {'depth': 3, 'of': ['a', 'b']}})
    >>> with_parameters("queue(priority=multifactor(weight_age=5, weight_qos=1), backfill=easy)")
    {'queue': {'priority': {'multifactor': {'weight_age': 5, 'weight_qos': 1}}, 'backfill': 'easy'}}
    """
    name, opened, rest = text.partition("(")
    if not opened:
        return text
    if not name.strip() or not rest.endswith(")"):
        raise InputError(f"--policies: {text!r} is not a policy, expected one such as queue(priority=sjf)")
    parameters: dict[str, Any] = {}
    for each in split_policies(rest[:-1]):
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
        return with_parameters(value)
    if value.startswith("[") and value.endswith("]") and "(" in value:
        return [_value(each.strip(), text) for each in split_policies(value[1:-1])]
    try:
        return yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise InputError(f"--policies: {value!r} in {text!r} is not a value") from error
