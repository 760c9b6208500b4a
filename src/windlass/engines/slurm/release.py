"""Differences between releases of Slurm that a client finds out, and what to install for JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

#: Plugins without which a command prints no JSON.
_PLUGINS = ("serializer/json", "data_parser")

#: Slurm's message on a configuration file that cannot be read.
_NO_CONF = re.compile(r"cannot stat file (\S+): ([^,\n]+)")


@dataclass(slots=True)
class ReleaseTraits:
    """What a client has learned about the release of Slurm that it talks to.

    Parameters
    ----------
    grouped
        True if ``sinfo --json`` lists groups of nodes.
    reported
        The errors that came with a list of jobs and were reported.
    """

    grouped: bool = False
    reported: set[str] = field(default_factory=set)


def installation_hint(command: Sequence[str], errors: str) -> str:
    """Return a line that says what to install, from the standard error of a command; empty if it names no such cause.

    >>> installation_hint(("sinfo", "--json"), "sinfo: unrecognized option '--json'")
    'sinfo --json: this option is missing, expected Slurm 21.08 or newer'
    """
    if "--json" not in command:
        return ""
    for line in errors.splitlines():
        if "unrecognized option '--json'" in line:
            return f"{command[0]} --json: this option is missing, expected Slurm 21.08 or newer"
        if "unable to find plugin" in line and any(plugin in line for plugin in _PLUGINS):
            plugin = line.rpartition(":")[2].split()[-1]
            return (
                f"{command[0]} --json: Slurm's plugin {plugin} is not installed; install Slurm's JSON plugins"
                " (Debian: slurm-wlm-basic-plugins; otherwise a Slurm that was built with json-c)"
            )
    return ""


def configuration_hint(command: Sequence[str], errors: str) -> str:
    """Return a line on a configuration that Slurm did not find; empty if its standard error names no such cause.

    >>> configuration_hint(("scontrol", "ping"), "scontrol: fatal: Could not establish a configuration source")
    'scontrol: Slurm finds no configuration here, expected a slurm.conf in its usual place or at $SLURM_CONF'
    >>> configuration_hint(("sinfo",), "error: cannot stat file /x: No such file or directory, retrying in 1sec")
    'sinfo: /x: No such file or directory, expected a slurm.conf'
    """
    if "Could not establish a configuration source" in errors:
        expected = "expected a slurm.conf in its usual place or at $SLURM_CONF"
        return f"{command[0]}: Slurm finds no configuration here, {expected}"
    found = _NO_CONF.search(errors)
    return "" if found is None else f"{command[0]}: {found[1]}: {found[2]}, expected a slurm.conf"
