"""The earliest of many pending completions: a winner tree with one leaf per worker.

Each worker has at most one pending completion. So a tree of fixed shape serves as a heap: one pass from leaf to root,
without branches to mispredict. Ties go to the lower worker number.

Times are compared as the integers that share their bits: for times of 0 or more the order is the same, and
integers can be selected without a branch.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from windlass.jit import index, inlined, pick
from windlass.jit.float_bits import ascending
from windlass.jit.schema import column, numba_type


@intrinsic
def _bits(typing_context: Any, value: Any) -> Any:
    """Return the bits of a float64 as an int64."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), emit


@intrinsic
def _time(typing_context: Any, value: Any) -> Any:
    """Return the float64 with these bits."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), emit


class EventTree(NamedTuple):
    """For each node, the bits of the earliest time below it and its worker; one leaf per worker; node 1 is the root."""

    key: Annotated[NDArray[np.int64], column("nodes")]
    winner: Annotated[NDArray[np.uint32], column("nodes")]


TREE = numba_type(EventTree)
_ONE = index(1)


def make_tree(workers: int) -> EventTree:
    """Return a tree without pending completions.

    >>> len(make_tree(5).key)
    16
    """
    leaves = 1 << max(1, (workers - 1).bit_length())
    winner = np.zeros(2 * leaves, np.uint32)
    winner[leaves:] = np.arange(leaves)
    # The first leaf below each node, level by level.
    while leaves > 1:
        leaves //= 2
        winner[leaves : 2 * leaves] = winner[2 * leaves : 4 * leaves : 2]
    return EventTree(np.full(len(winner), np.inf).view(np.int64), winner)


def next_time(tree: EventTree) -> float:
    """Return the next completion (s) for Python; infinity if none is pending.

    >>> next_time(make_tree(3))
    inf
    """
    return float(tree.key[1:2].view(np.float64)[0])


def with_leaves(tree: EventTree, workers: int) -> EventTree:
    """Return the same tree with leaves for more workers.

    >>> tree = make_tree(2)
    >>> tree.key[2:4] = [7, 5]
    >>> larger = with_leaves(tree, 7)
    >>> larger.key[1], larger.winner[1], len(larger.key)
    (np.int64(5), np.uint32(1), 16)
    """
    larger = make_tree(workers)
    first, before = len(larger.key) // 2, len(tree.key) // 2
    larger.key[first : first + before] = tree.key[before:]
    while first > 1:
        left, right = slice(first, 2 * first, 2), slice(first + 1, 2 * first, 2)
        ahead = larger.key[right] < larger.key[left]
        first //= 2
        larger.key[first : 2 * first] = np.where(ahead, larger.key[right], larger.key[left])
        larger.winner[first : 2 * first] = np.where(ahead, larger.winner[right], larger.winner[left])
    return larger


@inlined
def schedule_any(tree, worker, time):
    """Set the completion of a worker to a time that may be negative; read it with :func:`next_of_any`."""
    _schedule(tree, worker, ascending(_bits(time)))


@inlined
def next_of_any(tree):
    """Return the next completion (s) in a tree with negative times; infinity if none is pending."""
    return _time(ascending(tree.key[_ONE]))


@inlined
def schedule(tree, worker, time):
    """Set the completion of a worker, s of 0 or more; infinity for none."""
    _schedule(tree, worker, _bits(time))


@inlined
def _schedule(tree, worker, key):
    best = np.uint32(worker)
    node = index(len(tree.key) // 2 + worker)
    tree.key[node] = key
    while node > _ONE:
        sibling = node ^ _ONE
        other_key, other = tree.key[sibling], tree.winner[sibling]
        # A left child has the lower worker number and wins ties, so a right child subtracts one.
        ahead = other_key - np.int64(node & _ONE) < key
        key = pick(ahead, other_key, key)
        best = pick(ahead, other, best)
        node >>= _ONE
        tree.key[node] = key
        tree.winner[node] = best


@inlined
def next_completion(tree):
    """Return the next completion (s); infinity if none is pending."""
    return _time(tree.key[_ONE])


@inlined
def next_worker(tree):
    """Return the worker of the next completion."""
    return np.int64(tree.winner[_ONE])
