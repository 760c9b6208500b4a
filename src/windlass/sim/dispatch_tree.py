"""Which worker ends its task next: a winner tree with one leaf a worker.

Each worker has at most one pending completion, so a tree of fixed shape does what a heap would, in one pass from
leaf to root without a branch to mispredict. Ties go to the lower worker number.

Times are compared as the integers that share their bits: for times of 0 or more the order is the same, and
integers can be selected without a branch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from windlass.compiled import inlined


@intrinsic
def _bits(typing_context: Any, value: Any) -> Any:
    """The bits of a float64 as an int64."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), emit


@intrinsic
def _time(typing_context: Any, value: Any) -> Any:
    """The float64 with these bits."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), emit


class Tree(NamedTuple):
    """Bits of each worker's time, padded to a power of two, and the winner at each node; node 1 is the root."""

    time: NDArray[np.int64]
    winner: NDArray[np.int32]


TREE = types.NamedTuple((types.int64[::1], types.int32[::1]), Tree)


def make_tree(workers: int) -> Tree:
    """A tree in which nobody works.

    >>> len(make_tree(5).time)
    8
    """
    leaves = 1 << max(1, (workers - 1).bit_length())
    winner = np.zeros(2 * leaves, np.int32)
    winner[leaves:] = np.arange(leaves)
    for node in range(leaves - 1, 0, -1):
        winner[node] = winner[2 * node]
    return Tree(np.full(leaves, np.inf).view(np.int64), winner)


@inlined
def schedule(tree, worker, time):  # type: ignore[no-untyped-def]
    """Set when a worker ends its task, s of 0 or more; infinity where it has none."""
    node = len(tree.time) + worker
    key = _bits(time)
    tree.time[worker] = key
    best = worker
    while node > 1:
        other = np.int64(tree.winner[node ^ 1])
        other_key = tree.time[other]
        # A left child has the lower worker number and wins ties, so a right child subtracts one. Masks, because
        # the compiler turns a selection into a branch, which is mispredicted half the time.
        mask = -np.int64(other_key - (node & 1) < key)
        key ^= (key ^ other_key) & mask
        best ^= (best ^ other) & mask
        node >>= 1
        tree.winner[node] = best


@inlined
def next_completion(tree):  # type: ignore[no-untyped-def]
    """When the next task ends, s; infinity where nobody works."""
    return _time(tree.time[tree.winner[1]])


@inlined
def next_worker(tree):  # type: ignore[no-untyped-def]
    """Whose task ends next."""
    return np.int64(tree.winner[1])
