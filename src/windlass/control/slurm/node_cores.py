"""The cores of each node that jobs hold, from the jobs' lists of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from windlass.engines.slurm.models import JobRow, NodeRow, Phase

#: A name with at most one list of numbers, such as ``n[1-4,07]-gpu``.
_LIST = re.compile(r"([^,\[\]]+)(?:\[([0-9,\-]+)\])?([^,\[\]]*)(?:,|$)")
#: The most nodes of one list.
_MOST = 100_000


def expand_nodes(text: str) -> list[str]:
    """Return the names in a list of nodes in Slurm's notation; empty if it has another form.

    Examples
    --------
    >>> expand_nodes("n[1-3,07],gpu1"), expand_nodes(""), expand_nodes("a[1-2]b[3-4]")
    (['n1', 'n2', 'n3', 'n07', 'gpu1'], [], [])
    """
    found: list[str] = []
    place = 0
    while place < len(text):
        match = _LIST.match(text, place)
        if match is None:
            return []
        before, numbers, after = match.groups()
        found += [f"{before}{each}{after}" for each in _numbers(numbers)] if numbers else [f"{before}{after}"]
        if len(found) > _MOST:
            return []
        place = match.end()
    return found


def _numbers(text: str) -> Iterator[str]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            continue
        for number in range(int(first), min(int(last or first), int(first) + _MOST) + 1):
            yield f"{number:0{len(first)}}"


def cores_held(rows: Sequence[JobRow], nodes: Sequence[NodeRow]) -> dict[str, int]:
    """Return the cores of each node that running jobs hold; those of a job over several nodes count evenly.

    Parameters
    ----------
    rows
        The jobs.
    nodes
        The nodes; others are left out.

    Examples
    --------
    >>> cores_held([], [NodeRow("n1", 4, True, ())])
    {'n1': 0}
    """
    room = {node.name: node.procs for node in nodes}
    held = dict.fromkeys(room, 0)
    for row in rows:
        if row.phase is not Phase.RUNS:
            continue
        names = [name for name in expand_nodes(row.nodes) if name in held]
        left = row.procs
        for place, name in enumerate(names):
            share = -(-left // (len(names) - place))
            held[name] = min(held[name] + share, room[name])
            left -= share
    return held
