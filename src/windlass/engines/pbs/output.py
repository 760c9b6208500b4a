"""Decoding of the JSON of ``qstat`` and ``pbsnodes``, with repairs of what some releases print wrongly."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.model import BatchError

#: The variables of a job, which users choose and Windlass does not need: the object up to its own indentation.
_VARIABLES = re.compile(r'^([ \t]*)"Variable_List":\s*\{\n.*?^\1\},?\n', re.MULTILINE | re.DOTALL)
#: A backslash that begins no escape of JSON.
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|(?P<bad>))')
#: A number with leading zeros, as a value.
_ZEROS = re.compile(r"(:\s*)(-?0\d[\d.]*)(?=\s*[,}\n])")
#: A comma before the end of an object.
_COMMA = re.compile(r",(\s*\})")
#: The identifier of a job or the name of a vnode, as a key of an object.
_KEY = re.compile(r'^\s*"([^"\n]+)":\s*\{\s*$', re.MULTILINE)

#: Objects within a job or a vnode.
_PARTS = ("Resource_List", "Variable_List", "resources_used", "resources_available", "resources_assigned")


@dataclass(frozen=True, slots=True)
class PbsOutput:
    """What ``qstat`` or ``pbsnodes`` printed.

    Parameters
    ----------
    time
        Unix time at which it was printed, s.
    version, server
        PBS's release, and the name of its server.
    rows
        Attributes by job or by vnode.
    """

    time: float
    version: str
    server: str
    rows: Mapping[str, Mapping[str, Any]]


def decode_output(text: str, key: str, command: str) -> PbsOutput:
    """Decode the output of a command.

    Without jobs, ``qstat`` prints no ``Jobs``. A value that is valid JSON is printed as such, so that a job named
    ``12`` may have a number as its name. Before OpenPBS 22, values of a job's variables can break the JSON; these are
    dropped, as Windlass does not need them, and a few other faults are repaired.

    Parameters
    ----------
    text
        The output.
    key
        The key of the rows, ``Jobs`` or ``nodes``.
    command
        The command, for messages.

    Raises
    ------
    BatchError
        The output is empty, no JSON, or lacks a field; the message names it.

    Examples
    --------
    >>> decode_output('{"timestamp": 5, "pbs_version": "23.06", "pbs_server": "s"}', "Jobs", "qstat")
    PbsOutput(time=5.0, version='23.06', server='s', rows={})
    >>> decode_output('{"timestamp": 5, "pbs_version"', "Jobs", "qstat")
    Traceback (most recent call last):
    windlass.model.errors.BatchError: qstat: the output is not valid JSON: line 1, column 31: Expecting ':' delimiter
    """
    if not text.strip():
        raise BatchError(f"{command}: it printed nothing, expected JSON")
    tree = _parsed(text, command)
    if not isinstance(tree, dict):
        raise BatchError(f"{command}: the output is {_short(tree)}, expected a JSON object")
    time, rows = tree.get("timestamp"), tree.get(key, {})
    if isinstance(time, bool) or not isinstance(time, int | float) or not abs(time) < 1 << 63:
        raise BatchError(f"{command}: timestamp is {_short(time)}, expected a number of seconds")
    if not isinstance(rows, dict):
        raise BatchError(f"{command}: {key} is {_short(rows)}, expected an object")
    for name, row in rows.items():
        if not isinstance(row, dict):
            raise BatchError(f"{command}: {name} is {_short(row)}, expected an object")
    return PbsOutput(float(time), str(tree.get("pbs_version", "")), str(tree.get("pbs_server", "")), rows)


def _parsed(text: str, command: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        repaired = _repaired(text)
    try:
        return json.loads(repaired, strict=False)
    except json.JSONDecodeError as error:
        keys = [key for key in _KEY.findall(repaired, 0, error.pos) if key not in _PARTS]
        where = f"{keys[-1]}: " if keys else ""
        raise BatchError(
            f"{command}: the output is not valid JSON: {where}line {error.lineno}, column {error.colno}: {error.msg}"
        ) from error
    except RecursionError as error:
        raise BatchError(f"{command}: the output is not valid JSON: it is nested too deeply") from error
    except ValueError:
        # A number of thousands of digits, which Python reads as a float alone.
        return json.loads(repaired, strict=False, parse_int=float)


def _repaired(text: str) -> str:
    text = _VARIABLES.sub("", text)
    text = _ESCAPE.sub(lambda found: found[0] if found["bad"] is None else "\\\\", text)
    return _COMMA.sub(r"\1", _ZEROS.sub(r'\1"\2"', text))


def _short(value: object) -> str:
    printed = json.dumps(value, default=str)
    return printed if len(printed) <= 60 else f"{printed[:60]}…"
