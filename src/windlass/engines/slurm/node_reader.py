"""Reading of Slurm's nodes from JSON, in the shapes of Slurm 21.08 to 26.05."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from windlass.engines.slurm.misfits import release_in
from windlass.engines.slurm.models import NodeRow
from windlass.engines.slurm.output import check_errors, decode_output, raise_errors, shape_error
from windlass.engines.slurm.shapes import ClusterShape, NodeGroupShape, NodeShape, amount

_CLUSTER = msgspec.json.Decoder(ClusterShape)
_GROUPS = re.compile(r'"sinfo"\s*:\s*\[')
_USABLE = frozenset(["IDLE", "ALLOCATED", "MIXED"])
#: Flags of a node on which Slurm starts no jobs. A node that is powered down is not among them: Slurm powers it up.
_BLOCKED = frozenset(
    [
        "BLOCKED",
        "DOWN",
        "DRAIN",
        "FAIL",
        "INVALID_REG",
        "MAINTENANCE",
        "NOT_RESPONDING",
        "POWERING_DOWN",
        "POWER_DOWN",
        "POWER_DOWN_ASAP",
        "POWER_DOWN_FORCE",
        "POWER_DRAIN",
        "REBOOT_ISSUED",
    ]
)


def read_nodes(text: str | bytes, command: str = "sinfo --json") -> list[NodeRow]:
    """Parse the nodes of ``scontrol show nodes --json``, slurmrestd or ``sinfo --json``.

    Since Slurm 23.02 ``sinfo`` lists groups of nodes of a partition, without their hosts.

    Raises
    ------
    BatchError
        Slurm reports an error and no nodes, or the output cannot be read; the message names the release, the node, the
        field and its value.
    """
    data = text.encode(errors="replace") if isinstance(text, str) else text
    tree = decode_output(_CLUSTER, data, command)
    if tree.nodes is not None:
        check_errors(tree.errors, bool(tree.nodes), command)
        return [_node(node) for node in tree.nodes]
    if tree.sinfo is not None:
        check_errors(tree.errors, bool(tree.sinfo), command)
        return _grouped(tree.sinfo, command, release_in(tree.meta))
    raise_errors(tree.errors, command)
    raise shape_error(command, release_in(tree.meta), "there is no field nodes or sinfo")


def lists_groups(text: str) -> bool:
    """Return whether ``sinfo --json`` lists groups of nodes, as it does since Slurm 23.02.

    >>> lists_groups('{"sinfo": [], "errors": []}'), lists_groups('{"nodes": []}')
    (True, False)
    """
    return _GROUPS.search(text) is not None


def _node(row: NodeShape) -> NodeRow:
    # Processors that are reserved for the system are not effective.
    procs = amount(row.effective_cpus) or row.cpus
    up = _is_up(row.state, row.state_flags)
    # If a node is configured with as many processors as cores, Slurm gives a job one processor of a core.
    one_each = row.cpus <= row.sockets * row.cores
    return NodeRow(
        row.name,
        procs,
        up,
        tuple(row.partitions),
        amount(row.real_memory) << 20,
        row.hostname or "",
        "up" if up else _condition(row.state, row.state_flags),
        1 if one_each else max(1, row.threads),
    )


def _grouped(rows: Iterable[NodeGroupShape], command: str, release: str) -> list[NodeRow]:
    found: dict[str, NodeRow] = {}
    for row in rows:
        if row.cpus.minimum != row.cpus.maximum and row.nodes.nodes:
            named = ", ".join(row.nodes.nodes[:3])
            raise shape_error(
                command,
                release,
                f"nodes {named}: cpus are {row.cpus.minimum} to {row.cpus.maximum}, expected one number;"
                " scontrol show nodes --json lists each node",
            )
        up = _is_up(row.node.state, ())
        partition = (row.partition.name or "") if row.partition is not None else ""
        for name in row.nodes.nodes:
            known = found.get(name)
            before = () if known is None else known.partitions
            partitions = before if partition in (*before, "") else (*before, partition)
            condition = "up" if up else _condition(row.node.state, ())
            found[name] = NodeRow(
                name, row.cpus.minimum, up, partitions, row.memory.minimum << 20, condition=condition
            )
    return list(found.values())


def _is_up(state: str | list[str], flags: Iterable[str]) -> bool:
    words = _words(state)
    return bool(words & _USABLE) and not (words | {flag.upper() for flag in flags}) & _BLOCKED


def _condition(state: str | list[str], flags: Iterable[str]) -> str:
    """Return why no job may start on a node.

    >>> _condition("idle", ["DRAIN"]), _condition(["DOWN", "DRAIN"], []), _condition("unknown", [])
    ('drained', 'down', 'unknown')
    """
    words = _words(state) | {flag.upper() for flag in flags}
    for word, condition in (("DOWN", "down"), ("DRAIN", "drained")):
        if word in words:
            return condition
    return next(iter(sorted(words & _BLOCKED) or sorted(words)), "down").lower().replace("_", " ")


def _words(state: str | list[str]) -> set[str]:
    return {word.upper() for word in ([state] if isinstance(state, str) else state)}
