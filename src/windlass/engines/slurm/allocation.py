"""The processors that Slurm will give to a waiting job, which may be more than it requests."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate

from windlass.engines.slurm.client import Client
from windlass.engines.slurm.models import JobRow, NodeRow
from windlass.engines.slurm.sizes import PartitionSize


def gives_whole_cores(client: Client, nodes: Sequence[NodeRow]) -> bool:
    """Return whether Slurm gives a job all threads of each core."""
    # Without threads there is no difference, and no reason to ask.
    has_threads = any(node.threads > 1 for node in nodes)
    if not has_threads:
        return False
    # CR_CORE_DEFAULT_DIST_BLOCK does not select cores.
    selected = client.setting("SelectTypeParameters").upper().split(",")
    return not {"CR_CORE", "CR_CORE_MEMORY"}.isdisjoint(selected)


def allocation(row: JobRow, sizes: Mapping[str, PartitionSize], whole_cores: bool) -> int:
    """Return the processors that a waiting job will hold: whole nodes with ``--exclusive``, and whole cores.

    In a partition of unlike nodes, the largest nodes that are up count. A job that its partition has room for is never
    counted as larger than the partition.

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
    return max([row.procs, *(_allocation_in(row, size, whole_cores) for size in here)])


def _allocation_in(row: JobRow, size: PartitionSize, whole_cores: bool) -> int:
    if row.whole_nodes:
        held = list(accumulate(size.nodes))
        enough = bisect_left(held, row.procs) + 1
        return held[min(max(row.whole_nodes, enough), len(held)) - 1]
    threads = size.threads if whole_cores else 1
    return min(-(-row.procs // threads) * threads, size.procs)
