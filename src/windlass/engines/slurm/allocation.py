"""The processors that Slurm will give to a waiting job, which may be more than it requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windlass.engines.slurm.client import Client
from windlass.engines.slurm.models import JobRow, NodeRow
from windlass.engines.slurm.sizes import PartitionSize


def gives_whole_cores(client: Client, nodes: Sequence[NodeRow]) -> bool:
    """Return whether Slurm gives a job all threads of each core."""
    # Without threads there is no difference, and no reason to ask.
    has_threads = any(node.threads > 1 for node in nodes)
    return has_threads and "CR_CORE" in client.setting("SelectTypeParameters").upper()


def allocation(row: JobRow, sizes: Mapping[str, PartitionSize], whole_cores: bool) -> int:
    """Return the processors that a waiting job will hold: whole nodes with ``--exclusive``, and whole cores.

    In a partition of unlike nodes, these are the most that it may get.

    Parameters
    ----------
    row
        The job.
    sizes
        The size of each partition.
    whole_cores
        Whether Slurm gives a job all threads of each core.
    """
    here = [sizes[name] for name in row.partition.split(",") if name in sizes]
    if not here:
        return row.procs
    if row.whole_nodes:
        widest = max(size.widest for size in here)
        return max(row.whole_nodes, -(-row.procs // widest)) * widest
    threads = max(size.threads for size in here) if whole_cores else 1
    return -(-row.procs // threads) * threads
