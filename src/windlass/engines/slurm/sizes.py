"""Sizes of partitions, and jobs that request more than theirs has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windlass.engines.slurm.models import JobRow, NodeRow


@dataclass(frozen=True, slots=True)
class PartitionSize:
    """Processors and memory (bytes) of all nodes of a partition, including those that are down or drained.

    ``memory`` is 0 if that of a node is unknown. ``nodes`` has the processors of each node: first those of nodes that
    are up, the largest first, and then those of the others. ``threads`` is the most processors of a core, of the nodes
    that are up if there are any.
    """

    procs: int
    memory: int
    nodes: tuple[int, ...] = ()
    threads: int = 1


def partition_sizes(nodes: Sequence[NodeRow]) -> dict[str, PartitionSize]:
    """Return the size of each partition.

    >>> sizes = partition_sizes([NodeRow("n1", 4, True, ("a", "b"), 8), NodeRow("n2", 2, False, ("b",), 8)])
    >>> sizes["b"]
    PartitionSize(procs=6, memory=16, nodes=(4, 2), threads=1)
    """
    of: dict[str, list[NodeRow]] = {}
    for node in nodes:
        for name in node.partitions:
            of.setdefault(name, []).append(node)
    return {
        name: PartitionSize(
            sum(node.procs for node in here),
            sum(node.memory for node in here) if all(node.memory for node in here) else 0,
            tuple(node.procs for node in sorted(here, key=lambda node: (not node.up, -node.procs))),
            max(node.threads for node in [node for node in here if node.up] or here),
        )
        for name, here in of.items()
    }


def excess(row: JobRow, sizes: dict[str, PartitionSize]) -> str:
    """Return what a job requests in excess of its partition, as a clause; empty if it fits.

    A job that may run in several partitions fits if it fits one of them, and one in an unknown partition fits.

    Parameters
    ----------
    row
        The job.
    sizes
        The size of each partition.
    """
    found = ""
    for name in row.partition.split(","):
        size = sizes.get(name)
        if size is None:
            return ""
        if row.procs > size.procs:
            found = f"it requests {row.procs:,} processors, partition {name} has {size.procs:,}"
        elif 0 < size.memory < row.memory:
            found = (
                f"it requests {row.memory >> 20:,} MiB of memory, partition {name} has {size.memory >> 20:,}"
            )
        else:
            return ""
    return found


def processors_up(nodes: Sequence[NodeRow]) -> int:
    """Return the processors of the nodes that jobs may start on."""
    return sum(node.procs for node in nodes if node.up)


def capacity_change(before: Sequence[NodeRow], now: Sequence[NodeRow], most: int = 10) -> str:
    """Return a line about the nodes on which jobs may start since then, or no longer; empty without a change.

    Parameters
    ----------
    before, now
        All nodes, at the poll before and now.
    most
        The most nodes that the line names.

    Examples
    --------
    >>> up, down = NodeRow("n1", 4, True, ()), NodeRow("n1", 4, False, ())
    >>> capacity_change([up], [down]), capacity_change([up], [up])
    ('capacity fell from 4 to 0 processors: n1 not available', '')
    """
    one, other = ({node.name: node.procs for node in nodes if node.up} for nodes in (before, now))
    if one == other:
        return ""
    parts = [
        f"{', '.join(names[:most])}{f' and {len(names) - most:,} more' if len(names) > most else ''} {what}"
        for names, what in (
            ([name for name in one if name not in other], "not available"),
            ([name for name in other if name not in one], "available"),
            ([name for name in one if other.get(name, one[name]) != one[name]], "resized"),
        )
        if names
    ]
    total, new = sum(one.values()), sum(other.values())
    verb = "is still" if new == total else f"{'fell' if new < total else 'rose'} from {total:,} to"
    return f"capacity {verb} {new:,} processors: {'; '.join(parts)}"
